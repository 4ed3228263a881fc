"""The page and the terminal: what must be in them, and what must never be."""

import json
import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from ramify.nodes.tree import Branch
from ramify.nodes.tree.notes import folded
from ramify.studio.drawing.page import page, tree_html, write_page
from ramify.studio.drawing.phrases import STOPPED, figure, snippet, understood
from ramify.studio.drawing.terminal import show
from ramify.tools.errors import InputError
from tests.studio.samples import PASSAGES, TREE, branch, result

EVIL = "<script>alert(1)</script> <img src=x onerror=alert(2)> \"quoted\" 'single' & \x1b[31m \x00 {{x}}"
LINKS = {"href", "xlink:href"}
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Reader(HTMLParser):
    """Collect tags and attributes, and check that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def evil() -> str:
    passages = {"p": PASSAGES["curie"].model_copy(update={"text": EVIL, "source": EVIL, "metadata": {"title": EVIL}, "id": "p"})}
    tree = {"0": branch("0", EVIL, status="leaf", answer=EVIL, note=EVIL, evidence=("p",), cited=("p",))}
    citation = result().citations[0].model_copy(update={"id": "p", "source": EVIL, "text": EVIL})
    changes = {"question": EVIL, "answer": EVIL, "explanation": EVIL, "model": EVIL, "index": EVIL, "notices": [EVIL]}
    return page(result(tree=tree, passages=passages, citations=[citation], **changes))


def test_nothing_from_documents_or_models_is_markup() -> None:
    told = read(evil())
    assert told.tags.count("script") == 1
    assert "img" not in told.tags
    assert not [name for name, _ in told.attributes if name.startswith("on")]
    assert "\x00" not in evil()
    assert "\x1b" not in evil()
    assert EVIL.split(" \x1b")[0] in "".join(told.words)


def test_the_page_loads_nothing() -> None:
    told = read(page(result()))
    policy = next(value for name, value in told.attributes if name == "content" and value and "default-src" in value)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert not {"link", "img", "iframe", "object", "base", "form"} & set(told.tags)
    assert not [value for name, value in told.attributes if name in {"src", "action"}]
    assert all(value and value.startswith(("#branch-", "#source-")) for name, value in told.attributes if name in LINKS)
    assert "url(" not in page(result())
    assert "@import" not in page(result())


def test_the_page_tells_everything() -> None:
    words = " ".join("".join(read(page(result())).words).split())
    for branch_ in TREE.values():
        assert branch_.question in words
        assert folded(branch_.note).rest in words
        assert branch_.status in words
    assert all(" ".join(passage.text.split()) in words for passage in PASSAGES.values())
    assert "13 model calls (9 one after another)" in words
    assert "settled by majority" in words


def test_links_lead_to_cards() -> None:
    told = read(page(result()))
    anchors = {value for name, value in told.attributes if name == "id"}
    assert {f"branch-{path}" for path in TREE} <= anchors
    assert {value[1:] for name, value in told.attributes if name in LINKS and value} <= anchors


def test_a_number_behind_a_line_of_an_answer_leads_to_its_source() -> None:
    told = read(page(result(answer="Bridges were built.[1]\nThe [1] in it, and [9]\nShips [9][1]")))
    assert [value for name, value in told.attributes if name == "href" and value == "#source-1"] == ["#source-1"] * 2
    assert "The [1] in it, and [9]" in "".join(told.words)
    assert "#source-9" not in {value for _, value in told.attributes}


def test_two_trees_on_one_page_share_no_name() -> None:
    first, second = (read(tree_html(TREE, PASSAGES, prefix)) for prefix in ("a-", "b-"))
    named = [{value for name, value in told.attributes if name == "id"} for told in (first, second)]
    linked = [{value[1:] for name, value in told.attributes if name in LINKS and value} for told in (first, second)]
    assert named[0].isdisjoint(named[1])
    assert [found <= there for found, there in zip(linked, named, strict=True)] == [True, True]
    assert len(linked[0]) == len(TREE)


def test_answers_are_marked_in_their_passages_whole() -> None:
    drawn = page(result(answer="Vistula"))
    assert "<mark>Vistula</mark>" in drawn
    assert "<mark>art</mark>" not in page(result(answer="art"))


def test_the_fragment_brings_its_style() -> None:
    fragment = tree_html(TREE, PASSAGES)
    read(fragment)
    assert fragment.startswith('<div class="ramify"><style>')
    assert "<script" not in fragment


def test_a_page_is_written_whole(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("old", encoding="utf-8")
    write_page(result(), target)
    assert target.read_text(encoding="utf-8") == page(result())
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(InputError, match="cannot write"):
        write_page(result(), tmp_path / "missing" / "page.html")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_terminal_tells_everything_without_colour(width: int) -> None:
    drawn = terminal(width)
    assert "\x1b" not in drawn
    assert all(len(line) <= width for line in drawn.splitlines())
    words = " ".join(re.sub("[│├└─]", " ", drawn).split())
    for branch_ in TREE.values():
        assert f"{branch_.path} {branch_.status} " in words
        assert branch_.question in words
        assert folded(branch_.note).rest in words
    assert "[1] Warsaw · Geography" in words
    assert "0.3 leaf · filled Which river" in words
    assert "judged 0.85" in words
    assert "9,210 + 431 tokens" in words


def test_the_terminal_obeys_no_document() -> None:
    tree = {"0": Branch(path="0", question=EVIL, status="leaf", answer="[bold]x[/bold]\n" + EVIL, note=EVIL)}
    drawn = terminal(200, tree=tree, answer=EVIL, explanation=EVIL)
    assert "\x1b" not in drawn
    assert "[bold]x[/bold]" in drawn


@pytest.mark.parametrize("reason", STOPPED)
def test_both_say_why_it_stopped(reason: str) -> None:
    assert STOPPED[reason] in " ".join(terminal(400, stopped_by=reason).split())
    assert STOPPED[reason].capitalize() in page(result(stopped_by=reason))


def test_both_say_that_a_passage_was_shown_and_not_cited() -> None:
    shown = [citation.model_copy(update={"cited": False}) for citation in result().citations]
    assert "shown, not cited" in terminal(120, citations=shown)
    assert "shown, not cited" not in terminal(120)
    words = "".join(read(page(result(citations=shown))).words)
    assert words.count("shown, not cited") == len(shown)
    assert "Vistula[1]" in "".join(read(page(result())).words)
    assert "Vistula[1]" not in words, "a number behind an answer is a claim"


def terminal(width: int, **changes: object) -> str:
    file = StringIO()
    show(result(**changes), Console(file=file, width=width, highlight=False), tree=True)
    return file.getvalue()


@pytest.mark.parametrize(("model", "words"), [("extractive", "a language model"), ("ollama:llama3.1:8b", "a larger model")])
def test_after_unknown_both_say_what_to_try(model: str, words: str) -> None:
    changes = {"answer": "Unknown", "settled_by": "unsettled", "model": model}
    for told in (" ".join(terminal(400, **changes).split()), page(result(**changes))):
        assert "one of the findings is sure enough" in told
        assert "ry: a narrower question, another strategy, or " + words in told
    assert "a narrower question" not in terminal(400) + page(result())
    assert "a narrower question" not in terminal(400, answer="Unknown", stopped_by="calls"), "the note says what to raise"


def test_a_very_long_question_does_not_fill_the_screen() -> None:
    question = "x" * 10_000
    tree = {"0": Branch(path="0", question=question, status="leaf", note=question)}
    long = result(question=question, tree=tree)
    assert "x" * 299 + "…" in page(long)
    assert "x" * 300 not in page(long) + terminal(400, question=question, tree=tree)
    assert json.loads(json.dumps(long.to_json()))["tree"][0]["question"] == question


@pytest.mark.parametrize(("asked", "told"), [("who was  marie curie", ""), ("Who was she?", "understood as: Who was Marie Curie?")])
def test_only_a_changed_wording_is_told(asked: str, told: str) -> None:
    assert understood(asked, "Who was Marie Curie?") == told


def test_a_snippet_holds_the_answer() -> None:
    text = "First things. " * 30 + "The river is the Vistula, they say. " + "Last things. " * 30
    assert "the Vistula" in snippet(text, "the Vistula")
    assert snippet(text, "the Vistula").startswith("… The river")
    assert snippet("Short.", "absent") == "Short."
    assert len(snippet("x" * 900, "absent")) < 250


def test_a_figure_is_never_more_sure_than_it_is() -> None:
    assert [figure(value) for value in (0.0, 0.5, 0.999, 1.0)] == ["0.00", "0.50", "0.99", "1.00"]
