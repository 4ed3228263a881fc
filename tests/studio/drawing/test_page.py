"""The page and the terminal: what must be in them, and what must never be."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ramify.nodes.tree.notes import shorten_note
from ramify.studio.drawing.page import result_page, tree_html, write_page
from ramify.tools.errors import InputError
from ramify.tools.pages import style_sheet
from tests.faults import fault
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
    return result_page(result(tree=tree, passages=passages, citations=[citation], **changes))


@fault("interfaces", "markup and scripts in untrusted text, on a page", sees="text", kept="all", code=0)
def test_nothing_from_documents_or_models_is_markup() -> None:
    told = read(evil())
    assert told.tags.count("script") == 1
    assert "img" not in told.tags
    assert not [name for name, _ in told.attributes if name.startswith("on")]
    assert "\x00" not in evil()
    assert "\x1b" not in evil()
    assert EVIL.split(" \x1b")[0] in "".join(told.words)


@fault("interfaces", "addresses in documents, on a page", sees="nothing is loaded from anywhere", kept="all", code=0)
def test_the_page_loads_nothing() -> None:
    told = read(result_page(result()))
    policy = next(value for name, value in told.attributes if name == "content" and value and "default-src" in value)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert not {"link", "img", "iframe", "object", "base", "form"} & set(told.tags)
    assert not [value for name, value in told.attributes if name in {"src", "action"}]
    assert all(value and value.startswith(("#branch-", "#source-")) for name, value in told.attributes if name in LINKS)
    assert "url(" not in result_page(result())
    assert "@import" not in result_page(result())


def test_the_page_shows_all_branches() -> None:
    words = " ".join("".join(read(result_page(result())).words).split())
    for branch_ in TREE.values():
        assert branch_.question in words
        assert shorten_note(branch_.note).rest in words
        assert branch_.status in words
    assert all(" ".join(passage.text.split()) in words for passage in PASSAGES.values())
    assert "13 model calls (9 sequential)" in words
    assert "settled by majority" in words


def test_every_line_of_the_map_has_a_style() -> None:
    classes = set(re.findall(r'<text [^>]*class="(\w+)"', result_page(result())))
    assert classes
    assert {name for name in classes if f".{name}" not in style_sheet()} == set()


def test_links_lead_to_cards() -> None:
    told = read(result_page(result()))
    anchors = {value for name, value in told.attributes if name == "id"}
    assert {f"branch-{path}" for path in TREE} <= anchors
    assert {value[1:] for name, value in told.attributes if name in LINKS and value} <= anchors


def test_a_number_behind_a_line_of_an_answer_leads_to_its_source() -> None:
    told = read(result_page(result(answer="Bridges were built.[1]\nThe [1] in it, and [9]\nShips [9][1]")))
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
    drawn = result_page(result(answer="Vistula"))
    assert "<mark>the Vistula</mark>" in drawn, "a branch's answer, which has that of the question in it"
    assert "<mark>art</mark>" not in result_page(result(answer="art"))


def test_the_fragment_brings_its_style() -> None:
    fragment = tree_html(TREE, PASSAGES)
    read(fragment)
    assert fragment.startswith('<div class="ramify"><style>')
    assert "<script" not in fragment


def test_a_page_is_written_whole(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("old", encoding="utf-8")
    write_page(result(), target)
    assert target.read_text(encoding="utf-8") == result_page(result())
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(InputError, match="cannot write"):
        write_page(result(), tmp_path / "missing" / "page.html")
