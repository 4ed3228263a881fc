"""Markdown: its HTML is read as on a page, comments and struck text are left out, code stays as it is."""

from pathlib import Path

import pytest

from plugins.formats.tests.made import read_back
from ramify.tools.documents.load import load_files


def read(tmp_path: Path, text: str) -> tuple[str, list[str]]:
    return read_back(tmp_path / "notes.md", text)


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("dredged in 1911<sup>1</sup>", "dredged in 1911[1]"),
        ("10^5^ and 10<sup>5</sup> m<sup>2</sup>", "10^5 and 10^5 m^2"),
        ("H~2~O and H<sub>2</sub>O", "H2O and H2O"),
        ("40 &euro; &amp; 5&nbsp;ct", "40 € & 5 ct"),
        ("about ~5 to ~6 bar", "about ~5 to ~6 bar"),
        ("press <kbd>Ctrl</kbd>+<kbd>C</kbd>", "press Ctrl+C"),
        ("`a<sup>2</sup> <!-- x --> ~~y~~ &lt;`", "`a<sup>2</sup> <!-- x --> ~~y~~ &lt;`"),
        ("one ` and <b>bold</b>", "one ` and bold"),
        ("if a<b and c>d, or <i>so</i>", "if a<b and c>d, or so"),
        ("| a | b \\| c |\n|---|---|\n| 1 |   |", "| a | b \\| c |\n|---|---|\n| 1 |   |"),
        ("text[^1]\n\n[^1]: A note.", "text[^1]\n\n[^1]: A note."),
        (
            "two lines  \nbroken on purpose, which is long enough to be wrapped",
            "two lines  \nbroken on purpose, which is long enough to be wrapped",
        ),
    ],
)
def test_markdown_reads_as_it_is_shown(tmp_path: Path, markdown: str, text: str) -> None:
    assert read(tmp_path, f"# Pumps\n\n{markdown}\n") == (text, [])


@pytest.mark.parametrize("fence", ["```", "~~~~", "    "])
def test_code_stays_as_it_is(tmp_path: Path, fence: str) -> None:
    code = (
        "<!-- kept --> ~~kept~~ &lt; 10<sup>5</sup> the lines of code are long enough\nto be wrapped, if they were the lines of a paragraph"
    )
    block = "\n".join(f"    {line}" for line in code.splitlines()) if fence.isspace() else f"{fence}\n{code}\n{fence}"
    text, remarks = read(tmp_path, f"# Pumps\n\nBefore.\n\n{block}\n\nAfter.\n")
    assert (text, remarks) == (f"Before.\n\n{block}\n\nAfter.", [])


def test_comments_struck_and_hidden_text_is_left_out_with_a_remark(tmp_path: Path) -> None:
    text, remarks = read(
        tmp_path,
        "# Lamp <!-- omit in toc -->\n\nThe price is ~~40~~ <del>45</del> 55 euros.\n\n<!-- password:\nhunter -->\n"
        "<p style='display: none'>secret</p>\nAn <!-- unclosed comment\n",
    )
    assert text.split() == ["The", "price", "is", "55", "euros.", "An", "<!--", "unclosed", "comment"]
    assert sorted(remarks) == ["left out: 2 struck passages", "left out: 3 hidden passages"]


def test_an_html_table_is_written_as_lines(tmp_path: Path) -> None:
    table = (
        "<table>\n<tr><th>Agent</th><th colspan=2>Dose</th></tr>\n"
        "<tr><td rowspan=2>Clarex</td><td>1</td><td>2</td></tr>\n<tr><td>3</td><td>4</td></tr>\n</table>"
    )
    text, _ = read(tmp_path, f"# Doses\n\nBefore.\n\n{table}\n\nAfter.\n")
    assert text.split("\n\n") == ["Before.", "Agent | Dose | Dose\nClarex | 1 | 2\nClarex | 3 | 4", "After."]


def test_lines_wrapped_by_hand_are_joined_and_headings_stay(tmp_path: Path) -> None:
    wrapped = "The harbour of Halden was dredged in 1911, and the crane\non the northern quay, which lifts 20 tons, was built by\nOlsen."
    (tmp_path / "notes.md").write_text(f"Halden\n------\n\n{wrapped}\n\n## Cranes\n{wrapped}\n")
    documents = list(load_files(tmp_path / "notes.md", clean=False))
    assert [document.page_content for document in documents] == [wrapped.replace("\n", " ")] * 2
    assert [document.metadata["heading"] for document in documents] == ["Halden", "Cranes"]


@pytest.mark.parametrize("comment", ["[//]: # (The password is hunter.)", '[comment]: # "The password is hunter."', "[x]: <> (hunter)"])
def test_a_reference_to_nothing_is_a_comment(tmp_path: Path, comment: str) -> None:
    text, remarks = read(tmp_path, f"# Pumps\n\n{comment}\n\nThey run at 40 bar, see [x].\n\n[y]: #top\n")
    assert "hunter" not in text
    assert text.endswith("[y]: #top")
    assert remarks == ["left out: 1 hidden passage"]


def test_what_is_left_out_leaves_no_gap(tmp_path: Path) -> None:
    assert read(tmp_path, "# Lamp\n\nIt costs ~~40~~ 55 euros <!-- since May --> today.\n")[0] == "It costs 55 euros today."
