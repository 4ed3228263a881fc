"""Invisible characters and markup in whatever a document or a model says: every interface escapes them or shows them as text."""

import json
import re
from base64 import b64decode
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from plugins.lab.tests.few_lines import make_line, write_run
from ramify.graphs.run import Result
from ramify.graphs.tool import format_answer, format_passages
from ramify.lab.report import write_report
from ramify.nodes.tree import Branch
from ramify.nodes.tree.citation import Sentence, cite
from ramify.studio.drawing.mermaid import tree_mermaid
from ramify.studio.drawing.page import result_page
from ramify.studio.drawing.terminal import print_answer
from ramify.studio.notebook._chat import TurnWidget, export_links
from ramify.tools.quoting import INVISIBLE, find_invisible
from tests.faults import fault
from tests.studio.conftest import Ramify
from tests.studio.notebook.test_chat import html
from tests.studio.samples import passage, result
from tests.tools.test_quoting import PERSIAN

ATTACKS = {"bidi": "a\u202eb\u2066c", "zero-width": "a\u200bb\ufeffc", "C1": "a\x9b31mb\x84c", "markup": "a<script>x</script>b"}


def attack_result(attack: str) -> Result:
    """A result in which everything that comes from outside holds the attack, and a Persian word."""
    text = f"{PERSIAN} {attack}"
    cited = passage("p", text, f"{text}. The answer is {text}.", 0.5, heading=text).model_copy(update={"source": f"{attack}.txt"})
    told = {"question": text, "answer": text, "note": text, "evidence": ("p",), "cited": ("p",)}
    return result(
        **{"question": text, "answer": text, "explanation": text, "notices": [text], "model": f"ollama:{attack}", "index": text},
        citations=cite([cited], [text], cited=True),
        text=text,
        sentences=[Sentence(text=text, citations=(1,), supported=False)],
        tree={path: Branch(path=path, **told, status="leaf") for path in ("0", "0.0")},
        passages={"p": cited},
    )


def terminal(result: Result) -> str:
    console = Console(file=(out := StringIO()), width=400, color_system=None)
    print_answer(result, console, tree=True)
    return out.getvalue()


def turn(result: Result) -> str:
    shown = TurnWidget(result.question, "tor", "t-")
    shown.show(result)
    return html(shown)


def searched(result: Result) -> str:
    return format_passages([result.passages["p"].model_dump(mode="json", exclude={"value"})], {})


INTERFACES: dict[str, Callable[[Result], str]] = {
    "terminal": terminal,
    "page": result_page,
    "notebook": turn,
    "Mermaid": lambda result: re.sub(r"#(\d+);", lambda code: chr(int(code[1])), tree_mermaid(result.tree)),
    "tool": format_answer,
    "search tool": searched,
}


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("attack", ATTACKS)
@fault(
    "interfaces",
    "control, bidirectional, zero-width characters and markup in documents and replies",
    sees="shown as codes such as ⟨U+202E⟩, markup as text",
    kept="the value itself",
    code=0,
)
def test_invisible_characters_are_escaped_at_every_interface(interface: str, attack: str) -> None:
    given = attack_result(ATTACKS[attack])
    kept = given.model_dump_json()
    told = INTERFACES[interface](given)
    assert [hex(ord(told[place])) for place in find_invisible(told)] == []
    assert PERSIAN in told
    if attack == "markup":
        assert interface not in ("page", "notebook") or "<script>x" not in told
    else:
        assert re.search(r"⟨U\+[0-9A-F]{4}⟩", told)
    assert given.model_dump_json() == kept


def test_an_answer_is_marked_in_a_text_with_invisible_characters() -> None:
    cited = passage("p", "Title", "The river \u202eis the Vistula\u202c.", 0.5)
    drawn = result_page(result(citations=cite([cited], [cited.text], cited=True)))
    assert "The river ⟨U+202E⟩is <mark>the Vistula</mark>⟨U+202C⟩." in drawn


@pytest.mark.parametrize("attack", ATTACKS)
@fault("interfaces", "the same in JSON", sees="exact, escaped", kept="the value itself", code=0)
def test_the_json_of_a_turn_is_exact(attack: str) -> None:
    given = attack_result(ATTACKS[attack])
    [written] = [data for label, data, _ in export_links(given, "x") if label == "JSON"]
    assert json.loads(b64decode(written.partition("base64,")[2]))["citations"][0]["text"] == given.passages["p"].text


@fault(
    "interfaces",
    "invisible characters in a document's text and name, at the command line",
    sees="shown as their codes",
    kept="the document as it is",
    code=0,
)
def test_a_document_is_shown_by_the_command_line_with_nothing_invisible(ramify: Ramify, tmp_path: Path) -> None:
    text = f"The boat of {PERSIAN} is called \u202eRosinante\u202c and has a length of 12\u200b metres."
    (documents := tmp_path / "documents").mkdir()
    (documents / "boat\u202etxt.md").write_text(f"# The \u2066boat\n\n{text}\n", encoding="utf-8")
    assert ramify("index", documents, "--out", tmp_path / "i").code == 0
    question = ("What is the boat called?", "--index", tmp_path / "i")
    told = [ramify("search", *question), ramify("inspect", tmp_path / "i"), ramify("search", *question, "--json")]
    told.append(ramify("ask", *question, "--model", "extractive", "--tree", "--html", tmp_path / "a.html"))
    shown = [one.out + one.err for one in told] + [(tmp_path / "a.html").read_text(encoding="utf-8")]
    assert [find_invisible(one) for one in shown] == [[], [], [], [], []]
    assert "⟨U+202E⟩Rosinante" in shown[0]
    assert "boat⟨U+202E⟩txt.md" in shown[0]
    assert text in json.loads(told[2].out)[0]["text"]


@fault(
    "interfaces",
    "invisible characters and markup in an evaluation",
    sees="shown as codes in the report",
    kept="the rows as they are",
    code=0,
)
def test_a_report_shows_nothing_invisible(tmp_path: Path) -> None:
    attack = " ".join(ATTACKS.values()) + PERSIAN
    words = dict.fromkeys(("id", "question", "type", "gold", "answer"), attack)
    rows = [make_line(1, "naive", variant, **words, aliases=[attack], notices=[attack], tree=[], error=None) for variant in ("", attack)]
    write_report(folder := write_run(tmp_path / "run", *rows, model=attack, command=attack))
    drawn, index = (folder / "report.html").read_text(encoding="utf-8"), {}
    index = json.loads(re.search(r'id="index"[^>]*>(.*?)</script>', drawn, re.DOTALL)[1])  # type: ignore[index]
    for told in (drawn, (folder / "report.md").read_text(encoding="utf-8"), json.dumps(index, ensure_ascii=False)):
        assert [hex(ord(told[place])) for place in find_invisible(told)] == []
        assert "⟨U+202E⟩" in told
    assert INVISIBLE.search(json.dumps(rows, ensure_ascii=False))
