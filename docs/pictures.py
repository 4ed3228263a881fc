"""Make the pictures of the documents: the page of an answer, and of the same one after a fork, with remarks beside its tree; a graph.

`make pictures`; the pages are those of `ramify ask --html`, looked at with Debian's Chromium. `python docs/pictures.py RUN/report.html`
makes that of docs/hierarchy.md, of a run with `--degrade`.
"""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from langgraph.checkpoint.memory import InMemorySaver
from playwright.sync_api import Page, sync_playwright

import ramify.graphs as graphs
from ramify.nodes.tree import Tree
from ramify.studio.drawing.page import page
from ramify.studio.inspection.contents import inspection
from ramify.studio.inspection.graph_layout import HEIGHT, WIDTH
from ramify.studio.inspection.graph_layout import picture as laid_out
from ramify.tools.demo import demo_index
from ramify.tools.index.searcher import opened
from ramify.tools.pages import part
from ramify.tools.quoting import brief

HERE = Path(__file__).parent
CHROMIUM = "/usr/bin/chromium"
QUESTION = "In which year was the director of Solaris born?"
EDITED, BETTER = "0.0", "Who directed the film Solaris of 1972?"
SETTINGS = {"model": "extractive", "max_depth": 1, "k": 1, "mmr": 0.75}

EDIT = "#c2410c"
MARGIN = 24
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
    fork = await graph.aupdate_state(moment.config, {"tree": {EDITED: branch.to("open", question=BETTER)}})
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
            sheet.set_content(page(result))
            sheet.add_style_tag(content=BESIDE)
            for path, said in marks.items():
                sheet.locator(f'[id="branch-{path}"]').evaluate("card => card.classList.add('marked')")
                sheet.add_style_tag(content=f'[id="branch-{path}"]::after {{ content: {json.dumps(said)}; }}')
            sheet.locator(f'[id="branch-{EDITED}"] details').evaluate("evidence => evidence.open = true")
            sheet.locator("main").screenshot(path=HERE / name)


def text(x: float, y: float, content: str, size: int = 14, colour: str = "#1c2330", **more: str) -> str:
    """Write one line."""
    rest = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}"{rest}>{escape(content)}</text>'


def picture(name: str, title: str, width: float, height: float, content: str) -> None:
    """Write a picture."""
    style = 'font-family="system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif"'
    ground = f'<rect width="{width:g}" height="{height:g}" rx="12" fill="#f4f6f9"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" {style}>'
    (HERE / name).write_text(f"{head}<title>{escape(title)}</title>{ground}{content}</svg>\n", encoding="utf-8")


WAY = (
    ("1", "Tasks", "Open the thread's steps. Each", "branch's work is a task of its own:", "what it was given, what it replied."),
    ("2", "Tree", "In the state after the last step,", "find the first branch, from the top,", "whose answer is wrong."),
    ("3", "Note", "Read its note, its confidence and", "its evidence: was it split, searched", "or answered badly?"),
    ("4", "Fork", "Go back to the checkpoint at which", "that branch was about to be worked", "on, and edit the state there."),
    ("5", "Edit", "Change its question or its status.", "Only this branch has to be given;", "the others stay."),
    ("6", "Run on", "Branches that were settled are not", "asked again. The old run stays in", "the history beside the new one."),
)


def way() -> None:
    """Draw the way from a wrong answer to its cause and back."""
    width, height, step = 292.0, 132.0, 316.0
    parts = []
    for number, (mark, name, *lines) in enumerate(WAY):
        x, y = MARGIN + (number % 3) * step, MARGIN + (number // 3) * (height + 36)
        parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" fill="#ffffff" stroke="#cfd6e0"/>')
        parts.append(f'<circle cx="{x + 28:g}" cy="{y + 30:g}" r="14" fill="{EDIT if name == "Edit" else "#1d5fc4"}"/>')
        parts.append(text(x + 28, y + 35, mark, 15, "#ffffff", text_anchor="middle", font_weight="700"))
        parts.append(text(x + 52, y + 36, name, 18, font_weight="700"))
        parts += [text(x + 18, y + 68 + 20 * row, line, 14, "#3a4353") for row, line in enumerate(lines)]
    arrows = [(MARGIN + width + 3, MARGIN + height / 2), (MARGIN + step + width + 3, MARGIN + height / 2)]
    arrows += [(x, y + height + 36) for x, y in arrows]
    parts += [f'<path d="M{x:g} {y:g} h14 m-5 -5 l5 5 l-5 5" fill="none" stroke="#5a6475" stroke-width="2"/>' for x, y in arrows]
    picture(
        "studio_way.svg",
        "From a wrong answer to its cause, and on",
        2 * MARGIN + 2 * step + width,
        2 * MARGIN + 2 * height + 36,
        "".join(parts),
    )


GROUND = """<style>
.labels text { fill: #1c2330; stroke: #f4f6f9; stroke-width: 3.2px; stroke-linejoin: round; paint-order: stroke; }
.dots circle { stroke: #f4f6f9; }
</style>"""


def names() -> None:
    """Draw the graph of the demo corpus, with a legend of its largest communities."""
    inside = inspection(opened(demo_index("graph"))).inside
    assert inside is not None
    shown = laid_out(inside)
    parts = [GROUND, part("inspect_parts.html", "marks", shown, None)]
    column = (WIDTH - 2 * MARGIN) / 3
    for number, (id, colour) in enumerate(shown.colours.items()):
        x, y = MARGIN + (number % 3) * column, HEIGHT + 22 + (number // 3) * 24
        parts.append(f'<circle cx="{x + 7:g}" cy="{y - 5:g}" r="6" fill="{colour}"/>')
        parts.append(text(x + 20, y, brief(inside.reports[id].title, 38), 12, "#3a4353"))
    rows = -(-len(shown.colours) // 3)
    title = f"The {len(shown.dots)} most connected of the {len(inside.graph.names)} names in the demo corpus, coloured by community"
    picture("graph.svg", title, WIDTH, HEIGHT + 14 + rows * 24 + MARGIN / 2, "".join(parts))


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
        sheet.set_content(page(result))
        sheet.add_style_tag(content=NARROW)
        sheet.locator("main").screenshot(path=HERE / "global.png")


def curves(report: Path) -> None:
    """Look at a report's curves of hits@1 where metadata are missing or wrong."""
    with browser_page(1000, 700) as sheet:
        sheet.goto(report.resolve().as_uri())
        sheet.locator("figure.plot", has=sheet.locator("[aria-label*='hits@1 where metadata']")).first.screenshot(
            path=HERE / "hierarchy.png"
        )


def main() -> None:
    """Make the pictures."""
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


if __name__ == "__main__":
    main()
