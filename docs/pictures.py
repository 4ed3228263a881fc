"""Make the pictures of the documents: the page of an answer, and of the same one after a fork, with remarks beside its tree; a graph.

`make pictures`; the pages are those of `ramify ask --html` and of `ramify serve`, looked at with Debian's Chromium. `python
docs/pictures.py RUN/report.html` makes that of docs/hierarchy.md, of a run with `--degrade`; `python docs/pictures.py serve` those of
`ramify serve` alone.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from drawings import EDIT, names, way
from langgraph.checkpoint.memory import InMemorySaver
from playwright.sync_api import Page, sync_playwright

import ramify.graphs as graphs
from ramify.nodes.tree import Tree
from ramify.studio.drawing.page import result_page

HERE = Path(__file__).parent
CHROMIUM = "/usr/bin/chromium"
QUESTION = "In which year was the director of Solaris born?"
EDITED, BETTER = "0.0", "Who directed the film Solaris of 1972?"
SETTINGS = {"model": "extractive", "max_depth": 1, "k": 1, "mmr": 0.75}

BESIDE = f"""
main.ramify {{ margin: 0; max-width: none; padding: 20px 270px 24px 24px; }}
main.ramify :is(.tools, footer, section:has(> .citations)) {{ display: none; }}
.passage p {{ display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }}
.marked {{ position: relative; outline: 2px solid {EDIT}; }}
.marked::after {{ position: absolute; left: calc(100% + 18px); top: 6px; width: 225px; color: {EDIT}; font-weight: 600; }}
"""
"""How the page makes room for remarks; what the pictures are not about is left out."""


async def answers() -> tuple[graphs.Result, graphs.Result]:
    """Ask; then change one sub-question at the checkpoint where it is to be searched, and run on."""
    graph = graphs.build("tor").compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke({"question": QUESTION}, thread, context=SETTINGS)
    history = [state async for state in graph.aget_state_history(thread)]
    moment = next(state for state in history if state.next == ("retrieve",) and _open(state.values["tree"]))
    branch = moment.values["tree"][EDITED]
    fork = await graph.aupdate_state(moment.config, {"tree": {EDITED: branch.with_status("open", question=BETTER)}})
    await graph.ainvoke(None, fork, context=SETTINGS)
    before, after = history[0], await graph.aget_state(thread)
    return graphs.Result.from_state(before.values, "tor", 0.0), graphs.Result.from_state(after.values, "tor", 0.0)


def _open(tree: Tree) -> bool:
    return EDITED in tree and tree[EDITED].status == "open"


@contextmanager
def browser_page(width: int, height: int) -> Iterator[Page]:
    """Open a page in Debian's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=1.5)


def photograph(pictures: dict[str, tuple[graphs.Result, dict[str, str]]]) -> None:
    """Look at each answer's page, with the evidence of the edited branch unfolded."""
    with browser_page(960, 600) as sheet:
        for name, (result, marks) in pictures.items():
            sheet.set_content(result_page(result))
            sheet.add_style_tag(content=BESIDE)
            for path, said in marks.items():
                sheet.locator(f'[id="branch-{path}"]').evaluate("card => card.classList.add('marked')")
                sheet.add_style_tag(content=f'[id="branch-{path}"]::after {{ content: {json.dumps(said)}; }}')
            sheet.locator(f'[id="branch-{EDITED}"] details').evaluate("evidence => evidence.open = true")
            sheet.locator("main").screenshot(path=HERE / name)


OVERALL = "What do these articles say about the Nobel Prize?"
OVERALL_SETTINGS = {"model": "extractive", "batch_tokens": 3000}
NARROW = """
main.ramify { margin: 0; max-width: none; padding: 20px 24px 24px; }
main.ramify :is(.tools, footer, .below, .citations li:nth-child(n + 4)) { display: none; }
"""
"""What is left of the page of a global answer: the answer, its first sources, the map of its batches."""


def overall() -> None:
    """Look at the page of an answer from everything, with its batches and their scores."""
    result = graphs.ask(OVERALL, "global", **OVERALL_SETTINGS)
    with browser_page(960, 600) as sheet:
        sheet.set_content(result_page(result))
        sheet.add_style_tag(content=NARROW)
        sheet.locator("main").screenshot(path=HERE / "global.png")


def curves(report: Path) -> None:
    """Look at a report's curves of hits@1 where metadata are missing or wrong."""
    with browser_page(1000, 700) as sheet:
        sheet.goto(report.resolve().as_uri())
        sheet.locator("figure.plot", has=sheet.locator("[aria-label*='hits@1 where metadata']")).first.screenshot(
            path=HERE / "hierarchy.png"
        )


ASKED = "In which city was the inventor of the ballpoint pen born?"
COMMAND = "from ramify.studio.entry import main; main()"


@contextmanager
def server() -> Iterator[str]:
    """Run `ramify serve` on the demo, with conversations of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-c", COMMAND, "serve", "--model", "extractive", "--port", str(port)]
    with TemporaryDirectory() as home:
        environment = {**os.environ, "RAMIFY_CACHE": home}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            process.stderr.readline()  # it says so when it serves
            yield f"http://127.0.0.1:{port}/"
            process.terminate()


def served() -> None:
    """Look at the page of `ramify serve`: a question with its answer and tree, and a source beside it."""
    with server() as address, browser_page(1280, 1000) as sheet:
        sheet.set_default_timeout(120_000)
        sheet.goto(address)
        sheet.locator("html[data-ready]").wait_for()
        sheet.locator("#question").fill(ASKED)
        sheet.keyboard.press("Enter")
        sheet.locator(".final").wait_for()
        sheet.locator("#threads [aria-current]").wait_for()
        sheet.locator("#question").blur()
        sheet.screenshot(path=HERE / "serve.png")
        sheet.set_viewport_size({"width": 1280, "height": 720})
        sheet.locator(".text button.number").last.click()
        sheet.locator("#source mark").wait_for()
        sheet.screenshot(path=HERE / "serve_source.png")


def main() -> None:
    """Make the pictures."""
    if sys.argv[1:] == ["serve"]:
        served()
        return
    if sys.argv[1:]:
        curves(Path(sys.argv[1]))
        return
    before, after = asyncio.run(answers())
    wrong = {
        EDITED: "Here it goes wrong: two films are called Solaris, and its evidence is the one of 2002.",
        "0.1": "Filled with that film's director, and right about him.",
    }
    right = {EDITED: "Edited at the checkpoint at which it was open.", "0.1": "Filled anew, with the director who was meant."}
    photograph({"studio_wrong.png": (before, wrong), "studio_right.png": (after, right)})
    way()
    names()
    overall()
    served()


if __name__ == "__main__":
    main()
