"""A tree in the report's page is the tree of `ask --html`: the same cards in the same style."""

import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

from plugins.lab.tests.few_lines import make_line, write_run
from plugins.lab.tests.report.test_page import browse, in_a_browser
from ramify.lab.report import write_report
from ramify.nodes.tree import Branch, Passage, Tree, merge_branches, to_row
from ramify.nodes.tree.notes import SIMPLE, WEAKER, filled_note, unsure_note
from ramify.studio.drawing.page import tree_html
from ramify.tools.pages import style_sheet
from tests.studio.samples import TREE

LONG = "What is told of 𝔗 at such length? " * 20
LEFT_OUT = {"overview", "style"}
"""The map in its frame, and the style, which the report has in its head."""
HOSTILE = '<b>; it\'s a "name"'
OF_A_PASSAGE = {"title", "source"}
"""A line of a run keeps the ids of passages, not their texts."""


class Cards(HTMLParser):
    """Return the elements, attributes and words of the first tree of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[object] = []
        self.open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs if name != "id"}
        if self.open or (attributes.get("class") == "ramify" and not self.parts):
            self.open.append((tag, attributes.get("class", "")))
            self._note((tag, attributes))

    def handle_endtag(self, tag: str) -> None:
        if self.open:
            assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if self.open and data.strip():
            self._note(data.strip())

    def _note(self, part: object) -> None:
        if not any(LEFT_OUT & set(names) for names in self.open):
            self.parts.append(part)


def cards(page: str) -> list[object]:
    reader = Cards()
    reader.feed(page)
    reader.close()
    return reader.parts


def report_tree(tree: Tree, folder: Path) -> str:
    rows = [{**to_row(branch), "evidence": [], "cited": []} for branch in tree.values()]
    write_report(write_run(folder, make_line(1, "tor", tree=rows)))
    return browse(folder)


def answer_page(tree: Tree) -> Tree:
    return {path: branch.model_copy(update={"evidence": (), "cited": ()}) for path, branch in tree.items()}


@in_a_browser
def test_a_tree_is_drawn_as_on_the_page_of_one_answer(tmp_path: Path) -> None:
    assert {"leaf", "inner", "pruned", "failed"} <= {branch.status for branch in TREE.values()}
    assert cards(report_tree(TREE, tmp_path / "run")) == cards(tree_html(answer_page(TREE), {}))


@in_a_browser
def test_rare_cases_are_drawn_in_the_same_style(tmp_path: Path) -> None:
    tree = merge_branches(
        {},
        {
            "0": Branch(path="0", question=LONG, status="split", note=LONG, score=0.947),
            "0.10": Branch(path="0.10", question="Ada", kind="entity", status="open"),
            "0.9": Branch(path="0.9", question="<b>bold</b> & more", status="leaf", answer="", confidence=0.999),
            "0.9.0": Branch(path="0.9.0", question="one", status="answered", answer="<i>1</i>", confidence=0.0),
            "0.9.1": Branch(path="0.9.1", question="two", note=f"{SIMPLE}; odd,\nand <i>odd</i>; {filled_note(HOSTILE, '0.9.0')}"),
            "0.9.2": Branch(path="0.9.2", question="three", note=f"{WEAKER}; {unsure_note(0.31, 0.9)}"),
        },
    )
    assert cards(report_tree(tree, tmp_path / "run")) == cards(tree_html(tree, {}))


@in_a_browser
def test_evidence_is_listed_in_the_same_style(tmp_path: Path) -> None:
    branch = Branch(path="0", question="one", status="leaf", evidence=("a", "b"), cited=("a",))
    write_report(write_run(tmp_path / "run", make_line(1, "tor", tree=[to_row(branch)])))
    passages = {name: Passage(id=name, text="", source=name, score=0.5) for name in "ab"}
    assert evidence(browse(tmp_path / "run")) == evidence(tree_html({"0": branch}, passages))


def evidence(page: str) -> list[object]:
    """Return the elements of the evidence, without those of a passage's text."""
    tags = [part for part in cards(page) if isinstance(part, tuple)]
    first = tags.index(("details", {"class": "evidence"}))
    return [tag for tag in tags[first:] if tag[0] != "p" and tag[1].get("class") not in OF_A_PASSAGE]


@in_a_browser
def test_a_tree_of_another_version_is_drawn_if_possible_or_reported(tmp_path: Path) -> None:
    known = {"path": "0", "question": "Who?", "status": "leaf", "answer": "Ada"}
    write_report(write_run(tmp_path / "more", make_line(1, "tor", tree=[{**known, "mood": "<b>glad</b>", "note": None}])))
    write_report(write_run(tmp_path / "other", make_line(1, "tor", tree=[{**known, "status": "<i>settled</i>"}, "odd"])))
    drawn, reported = browse(tmp_path / "more"), browse(tmp_path / "other")
    assert '<p class="answer" dir="auto"><b>Ada</b>' in drawn
    assert "glad" not in drawn
    assert "not one that this version of ramify draws" in reported
    assert "settled" not in reported.partition('class="detail"')[2]


def test_each_name_that_the_report_gives_has_a_style(tmp_path: Path) -> None:
    write_report(write_run(tmp_path / "run", make_line(1)))
    assert style_sheet() in (tmp_path / "run" / "report.html").read_text()
    template = files("ramify.tools.pages").joinpath("templates", "line.html").read_text()
    given = {name for classes in re.findall(r'class="([^"]+)', template) for name in re.sub(r"{{.*?}}", "", classes).split()}
    assert {"final", "outcome", "citations"} <= given
    assert given <= set(re.findall(r"\.([a-z]+)", style_sheet()))
