"""PDF: sentences whole over lines, columns and pages; what is printed on every page is no text."""

from functools import cache
from itertools import pairwise
from pathlib import Path

from langchain_core.documents import Document

from plugins.formats.tests.made import pdf
from ramify.tools.embeddings import load_encoder
from ramify.tools.index.chunking import Chunking, split_documents
from tests.tools.documents.shown import FILES, Shown, shown


@cache
def survey() -> Shown:
    return shown(FILES / "survey.pdf", clean=True)


def test_a_paragraph_continues_over_a_page_break() -> None:
    locks = survey().under("Locks")
    sentence = "The keeper of lock {} notes the level of the water every morning before seven and sends it by telegraph to the office"
    assert all(locks.page_content.count(sentence.format(number)) == 3 for number in range(1, 22))
    text = "\n".join(document.page_content for document in survey().documents)
    assert "a survey" not in text
    assert not [line for line in text.splitlines() if line.strip().isdigit()]
    assert len(locks.metadata["pages"]) > 2


def test_a_passage_has_the_page_that_most_of_it_stands_on() -> None:
    locks = survey().under("Locks")
    (passages,) = split_documents([locks], load_encoder("minilm"), Chunking(120, 0))
    pages = [passage.metadata["page"] for passage in passages]
    assert pages == sorted(pages)
    assert (pages[0], pages[-1]) == (1, locks.metadata["pages"][-1][1])
    crossing = [passage for passage in passages if "pages" in passage.metadata]
    assert crossing
    for passage in crossing:
        begins = [*(begin for begin, _ in passage.metadata["pages"]), len(passage.page_content)]
        words = [len(passage.page_content[begin:end].split()) for begin, end in pairwise(begins)]
        assert passage.metadata["page"] == passage.metadata["pages"][words.index(max(words))][1]


def test_columns_are_read_one_after_the_other_under_headings_by_their_print() -> None:
    result = shown(FILES / "columns.pdf")
    part = result.under("The river Arda > Part 3")
    assert "The ferry at Lorn was replaced by a suspension bridge in 1958. Its two towers stand on foundations" in part.page_content
    assert all(line == "" or line[-1] in ".”" for line in part.page_content.splitlines())


def test_a_hyphen_at_a_lines_end_goes_unless_the_word_has_it() -> None:
    # in the manual that the file stands for, "tele-graph" would be as wrong as "wellknown"
    from ramify.formats.pdf._lines import HYPHEN, PagedLine, PrintedLine, join_lines, vocabulary

    lines = [PrintedLine(0, 100, 50, 50, 10, f"A well{HYPHEN}known tele{HYPHEN}graph at")]
    text, _ = join_lines([PagedLine(1, line) for line in lines], vocabulary([[*lines, PrintedLine(0, 9, 9, 9, 9, "so well-known")]]))
    assert text == "A well-known telegraph at"


def test_scanned_and_glued_pages_are_remarked_and_the_others_read(tmp_path: Path) -> None:
    result = shown(FILES / "scanned.pdf")
    assert [document.page_content for document in result.documents] == ["The plan of the weir follows."]
    ((place, remark),) = result.remarks
    assert place == "scanned.pdf, page 2"
    assert remark.startswith("scanned: an image without text")  # and how to read it, where Tesseract is not installed
    (tmp_path / "glued.pdf").write_bytes(pdf(["Thekeeperofthelocknotesthelevelofthewatereverymorning.", "Good words."]))
    assert shown(tmp_path / "glued.pdf").remarks == [("glued.pdf, page 1", "missing spaces between words")]


def test_the_same_text_each_time() -> None:
    def said(documents: list[Document]) -> list[tuple[str, str]]:
        return [(document.page_content, str(document.metadata)) for document in documents]

    assert said(survey().documents) == said(shown(FILES / "survey.pdf", clean=True).documents)


def test_a_last_line_that_recurs_where_the_text_ends_is_text() -> None:
    from ramify.formats.pdf._lines import PrintedLine
    from ramify.formats.pdf._margins import without_headers_and_footers

    def page(number: int) -> list[PrintedLine]:
        header = PrintedLine(0, 90, 700, 700, 10, f"{number} of arrays" if number % 2 else f"CHAPTER 2. ARRAYS {number}")
        body = [PrintedLine(0, 90, top, top, 10, f"line {number} at {top} goes on") for top in range(660, 120, -12)]
        return [header, *body, PrintedLine(0, 90, 100, 100, 10, "Brooks/Cole." if number % 7 == 0 else f"and so o{chr(96 + number) * 3}n")]

    left = without_headers_and_footers([page(number) for number in range(1, 40)])
    assert [lines[0].text for lines in left] == [f"line {number} at 660 goes on" for number in range(1, 40)]
    assert all(len(lines) == len(page(1)) - 1 for lines in left)
