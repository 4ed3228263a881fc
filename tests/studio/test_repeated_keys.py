"""A server that answers well and repeats the key that it was sent: the key is in nothing that comes of the answer, nor in a log."""

import json
import logging
import traceback
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI

from ramify.graphs.conversation import Conversation
from ramify.graphs.run import Result
from ramify.graphs.tool import research_tool
from ramify.studio.drawing.mermaid import tree_mermaid
from ramify.studio.drawing.page import result_page
from ramify.studio.notebook._chat import export_links
from ramify.tools import scrub as scrubbing
from ramify.tools.errors import RamifyError
from tests.faults import fault
from tests.river import QUESTION, river
from tests.studio.conftest import Ramify
from tests.studio.test_invisible import terminal, turn
from tests.studio.test_secrets import FORBIDDEN, SECRET, cache, data
from tests.tools.echo_server import echoing
from tests.tools.questions import fresh

__all__ = ["cache", "data", "fresh"]

Given = dict[str, Any]
PLACES: dict[str, Callable[[str], Given]] = {
    "environment": lambda at: {"model": "openai:m", "base_url": f"http://{at}/v1"},
    "query": lambda at: {"model": "openai:m", "base_url": f"http://{at}/v1?key={SECRET}"},
    "path": lambda at: {"model": "openai:m", "base_url": f"http://{at}/{SECRET}/v1"},
    "password": lambda at: {"model": "openai:m", "base_url": f"http://me:{SECRET}@{at}/v1"},
    "Ollama's environment": lambda at: {"model": "ollama:m", "base_url": f"http://{at}"},
    "Ollama's path": lambda at: {"model": "ollama:m", "base_url": f"http://{at}/{SECRET}"},
    "Ollama's password": lambda at: {"model": "ollama:m", "base_url": f"http://me:{SECRET}@{at}"},
    "an object's key": lambda at: {"model": ChatOpenAI(model="m", base_url=f"http://{at}/v1", api_key=SECRET)},  # type: ignore[arg-type]
    "an object's header": lambda at: {
        "model": ChatOpenAI(model="m", base_url=f"http://{at}/v1", api_key="none", default_headers={"X-Api-Key": SECRET})  # type: ignore[arg-type]
    },
    "an object's client": lambda at: {
        "model": ChatOllama(model="m", base_url=f"http://{at}", client_kwargs={"headers": {"Authorization": f"Bearer {SECRET}"}})
    },
}


@pytest.fixture(autouse=True)
def only_what_is_named(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    monkeypatch.setattr(scrubbing, "_registered", set())


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Given]:
    if "environment" in request.param:
        for name in ("OPENAI_API_KEY", "OLLAMA_API_KEY"):
            monkeypatch.setenv(name, SECRET)
    return PLACES[request.param]


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """All that is logged, as a handler of a program's own would write it."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(handler.format(record))  # type: ignore[method-assign]
    root, before = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield lines
    root.removeHandler(handler)
    root.setLevel(before)


def reply(sent: str) -> str:
    """Answer each prompt of the strategies used here, and repeat the key in each text."""
    told = f"I was sent {sent}"
    texts = dict.fromkeys(("thought", "answer", "explanation", "text"), told)
    return json.dumps({**texts, "confidence": 0.97, "citations": [1], "simple": True, "action": "answer"})


def leaked(texts: dict[str, str]) -> dict[str, str]:
    return {name: piece for name, text in texts.items() for piece in FORBIDDEN if piece in text}


def exits(result: Result) -> dict[str, str]:
    """Everything that a result is shown or written as."""
    exported = {label: b64decode(link.partition("base64,")[2]).decode() for label, link, _ in export_links(result, "turn")}
    values = {name: str(value) for name, value in result}
    shown = {"page": result_page(result), "terminal": terminal(result), "notebook": turn(result), "Mermaid": tree_mermaid(result.tree)}
    return {"repr": repr(result), "JSON": json.dumps(result.to_json()), **exported, **values, **shown}


@fault(
    "secrets",
    "server that repeats the key in its reply",
    sees="the answer with the key masked",
    kept="the key is in no result, page, file or log",
    code=0,
)
def test_a_repeated_key_is_in_no_exit_of_an_answer(place: Callable[[str], Given], tmp_path: Path, logged: list[str]) -> None:
    with echoing(200, reply) as (at, heard):
        given = {**place(at), "index": river(), "max_seconds": 60}
        result = Conversation(f"sqlite:{tmp_path / 'kept'}", "one").ask(QUESTION, "naive", **given)
        asked = {"type": "tool_call", "id": "1", "name": "research_documents", "args": {"question": QUESTION}}
        tool = research_tool("naive", **given).invoke(asked)
    assert leaked({"sent": heard[0]}), "the server had something to repeat"
    assert "***" in result.answer
    kept = {path.name: path.read_bytes().decode("latin-1") for path in tmp_path.iterdir()}
    assert kept
    told = {**exits(result), **kept, "tool": str(tool.content), "artifact": json.dumps(tool.artifact), "log": "\n".join(logged)}
    assert leaked(told) == {}
    assert any("HTTP Request: POST http://127.0.0.1" in line for line in logged)


@fault(
    "secrets",
    "server that repeats the key in its error",
    sees="the error with the key masked",
    kept="the key is in no traceback and no log",
    code=1,
)
def test_a_repeated_key_is_in_no_error_and_no_traceback(place: Callable[[str], Given], logged: list[str]) -> None:
    with echoing(500) as (at, heard):
        try:
            told = exits(Conversation().ask(QUESTION, "naive", index=river(), **place(at)))
        except RamifyError as error:
            told = {"traceback": "".join(traceback.format_exception(error)), "repr": repr(error)}
    assert heard
    assert leaked({**told, "log": "\n".join(logged)}) == {}


@fault(
    "secrets",
    "server that repeats the key during an evaluation",
    sees="the run with the key masked",
    kept="the key is in no file of the run",
    code=0,
)
def test_a_repeated_key_is_in_no_file_of_an_evaluation(ramify: Ramify, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with echoing(200, reply) as (at, _):
        reached = ["--model", "openai:m", "--base-url", f"http://{at}/{SECRET}/v1?key={SECRET}", "--index", "demo"]
        asked = ramify("ask", "Who?", "--strategy", "naive", "--tree", "--html", tmp_path / "page.html", *reached)
        ran = ramify("eval", data, "--strategy", "closed-book", "--limit", 1, "--out", tmp_path / "run", *reached[:4])
    assert (asked.code, ran.code) == (0, 0)
    paths = [path for path in tmp_path.rglob("*") if path.suffix in (".html", ".json", ".jsonl", ".md")]
    written = {path.name: path.read_text(encoding="utf-8") for path in paths}
    assert {"page.html", "results.jsonl", "manifest.json", "report.md", "report.html"} <= written.keys()
    assert leaked({**written, "terminal": asked.out + asked.err + ran.out + ran.err}) == {}


def test_other_lines_of_a_log_stay(logged: list[str]) -> None:
    from ramify.tools.scrub import mask_logs

    mask_logs()
    logging.getLogger("httpx").info("HTTP Request: %s %s", "GET", "https://example.org/page")
    logging.getLogger("mine").info("https://example.org/?key=%s", SECRET)
    assert logged == ["HTTP Request: GET https://example.org/page", f"https://example.org/?key={SECRET}"]
