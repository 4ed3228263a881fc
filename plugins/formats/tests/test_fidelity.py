"""A reading that loses, changes or joins words without a remark is noticed; what is remarked is not."""

import gzip
from collections.abc import Callable, Iterator
from decimal import Decimal
from email.message import EmailMessage
from pathlib import Path

import pytest
from langchain_core.documents import Document

from plugins.formats.tests.made import cells, docx, excel, opendocument, page, row, sheet, workbook, zipped
from ramify.formats.fidelity._numbers import show_number
from ramify.formats.fidelity._text import JOINT, RawText
from ramify.formats.fidelity.comparing import ReadingCheck, check_reading, compare, split_words
from ramify.tools.documents import readers
from ramify.tools.documents.files import ReadReport

TEXT = "The pier was dredged in 1911. It cost 1,249.50 euros, and 42 men worked for 42 days.\n"


@pytest.fixture
def read_as(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ReadingCheck]:
    """Return the check of a text that a reader returns as something else."""

    def check(shown: str, left_out: str = "", added: str = "", remark: str = "") -> ReadingCheck:
        def read(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
            report.leave_out(source, "struck passage", [left_out] if left_out else [])
            report.add(added)
            if remark:
                report.remark(source, remark)
            yield Document(shown, id=source, metadata={"source": source, "title": "pier"})

        monkeypatch.setitem(readers.FORMAT_READERS, ".txt", readers.FormatReader(read, plain=True))
        (tmp_path / "pier.txt").write_text(TEXT)
        return check_reading(tmp_path / "pier.txt")

    return check


def words(check: ReadingCheck) -> tuple[set[str], set[str], set[str]]:
    return tuple({difference.word for difference in kind} for kind in (check.missing, check.new, check.glued))  # type: ignore[return-value]


def test_the_same_words_in_other_lines_are_faithful(read_as: Callable[..., ReadingCheck]) -> None:
    assert read_as(TEXT.replace(". ", ".\n\n")).is_faithful


def test_a_lost_value_is_missing_with_its_context(read_as: Callable[..., ReadingCheck]) -> None:
    check = read_as(TEXT.replace("1,249.50 ", ""))
    assert words(check) == ({"1,249.50"}, set(), set())
    assert check.missing[0].is_number
    assert "It cost 1,249.50 euros" in check.missing[0].context


def test_a_value_that_is_read_once_less_is_missing(read_as: Callable[..., ReadingCheck]) -> None:
    (missing,) = read_as(TEXT.replace("for 42 days", "for days")).missing
    assert (missing.word, missing.times) == ("42", 1)
    assert "for 42 days" in missing.context


def test_a_value_that_is_read_more_often_is_no_fault(read_as: Callable[..., ReadingCheck]) -> None:
    assert read_as(f"{TEXT}42 men").is_faithful


def test_a_changed_number_is_missing_and_new(read_as: Callable[..., ReadingCheck]) -> None:
    assert words(read_as(TEXT.replace("1,249.50", "1,249.05"))) == ({"1,249.50"}, {"1,249.05"}, set())


def test_a_lost_sign_changes_a_number(tmp_path: Path) -> None:
    missing, new, _ = compare([RawText("a change of -5 degrees")], [Document("a change of 5 degrees")], ReadReport())
    assert ([difference.word for difference in missing], [difference.word for difference in new]) == (["-5"], ["5"])


@pytest.mark.parametrize(("shown", "glued"), [("42 men", "42men"), ("men worked", "menworked")])
def test_joined_words_are_noticed(shown: str, glued: str) -> None:
    _, _, joined = compare([RawText(TEXT)], [Document(TEXT.replace(shown, glued))], ReadReport())
    assert [difference.word for difference in joined] == [glued]


def test_a_raised_digit_that_extends_a_number_is_noticed() -> None:
    raw = [RawText(f"dredged in 1911{JOINT}1{JOINT}, and 10{JOINT}5{JOINT} tons of H{JOINT}2{JOINT}O")]
    _, _, glued = compare(raw, [Document("dredged in 19111, and 105 tons of H2O")], ReadReport())
    assert {(difference.word, difference.instead) for difference in glued} == {("19111", "1911 1"), ("105", "10 5")}
    assert compare(raw, [Document("dredged in 1911[1], and 10^5 tons of H2O")], ReadReport()) == ([], [], [])


def test_a_split_word_is_noticed(read_as: Callable[..., ReadingCheck]) -> None:
    (glued,) = read_as(TEXT.replace("dredged", "dred ged")).glued
    assert (glued.word, glued.instead) == ("dredged", "dred ged")


def test_text_that_is_left_out_with_a_remark_is_explained(read_as: Callable[..., ReadingCheck]) -> None:
    check = read_as(TEXT.replace("for 42 days", ""), left_out="for 42 days")
    assert check.is_faithful
    assert ("pier.txt", "left out: 1 struck passage") in check.remarks


def test_only_the_text_that_is_left_out_is_explained(read_as: Callable[..., ReadingCheck]) -> None:
    assert words(read_as("The pier was dredged.", left_out="It cost 1,249.50 euros"))[0] == {
        "in",
        "1911",
        "and",
        "42",
        "men",
        "worked",
        "for",
        "days",
    }


def test_a_guessed_encoding_explains_nothing(read_as: Callable[..., ReadingCheck]) -> None:
    assert not read_as("The pier.", remark="read as cp1252").is_faithful


def test_text_of_the_reader_itself_is_new_unless_it_is_added(read_as: Callable[..., ReadingCheck]) -> None:
    assert words(read_as(f"7. {TEXT}")) == (set(), {"7"}, set())
    assert read_as(f"7. {TEXT}", added="7.").is_faithful


def test_hyphens_at_line_ends_may_be_removed_or_kept(tmp_path: Path) -> None:
    raw = [RawText("an inter-\nnational pier of well-\nknown men")]
    assert compare(raw, [Document("an international pier of well-known men")], ReadReport()) == ([], [], [])
    pages = [RawText("an inter-", "page 1"), RawText("national pier", "page 2")]
    assert compare(pages, [Document("an international pier")], ReadReport()) == ([], [], [])


def test_of_several_forms_of_a_value_one_is_enough() -> None:
    raw = [RawText("12.5%", "A1", ("0.125",)), RawText("0.125", "A2", ("12.5%",))]
    assert compare(raw, [Document("12.5%\n0.125")], ReadReport()) == ([], [], [])
    missing, _, _ = compare(raw, [Document("0.125")], ReadReport())
    assert [difference.times for difference in missing] == [1]


def test_headings_count_as_read_and_each_only_once() -> None:
    raw = [RawText("Costs"), RawText("Wages 100"), RawText("Costs of the pier")]
    documents = [Document("Wages 100", metadata={"heading": "Costs"}), Document("of the pier", metadata={"heading": "Costs > Pier"})]
    assert [difference.word for difference in compare(raw, documents, ReadReport())[0]] == ["Costs"]


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        ("0.5", "# ?/?", "1/2"),
        ("2.75", "# ??/??", "2 3/4"),
        ("1.5", "?/?", "3/2"),
        ("-1249.5", "#,##0.00", "-1,249.50"),
        ("1.5", "[h]:mm", "36:00"),
    ],
)
def test_numbers_are_shown_as_spreadsheet_programs_do(value: str, code: str, shown: str) -> None:
    assert show_number(Decimal(value), code) == shown


def test_words_and_numbers() -> None:
    assert split_words("1,249.50 € on 2024-03-01, −5 °C; “well-known” ﬁsh\xad, 漢字") == [
        "1,249.50", "on", "2024", "03", "01", "-5", "°C"[1:], "well", "known", "fish", "漢", "字",
    ]  # fmt: skip


FAITHFUL = {
    "page.html": page(
        "<h1>Pier</h1><p>It cost <b>1,249.50</b> euros in H<sub>2</sub>O.</p><p style='display:none'>old</p><script>x=7</script>"
    ),
    "text.docx": docx("<w:p><w:r><w:t>It cost 1,249.50 euros</w:t></w:r><w:r><w:tab/><w:t>in 1911.</w:t></w:r></w:p>"),
    "text.odt": opendocument("text", "<text:p>It cost<text:s/>1,249.50 euros <text:span>in</text:span> 1911.</text:p>"),
    "book.ods": sheet(row("pier", "cost") + row("north", "1,249.50") + row("south", "17")),
    "book.xlsx": workbook({"A1": "pier", "B1": "cost", "A2": "north", "B2": "1,249.50"}),
    "formulas.xlsx": excel({"Costs": cells(["pier", "cost"], ["north", "1,249.50"], ["all", '<c r="B3"><f>SUM(B2:B2)</f><v/></c>'])}),
    "rows.csv": b"pier;cost\nnorth;1.249,50\nsouth;17\n",
    "mail.eml": b"From: Ida <ida@example.org>\nSubject: Pier\nDate: Fri, 4 May 2001 14:05:44 -0400\n\nIt cost 1,249.50 euros.\n",
    "notes.md": b"---\nauthor: Ida\n---\n# Pier\n\nIt cost *1,249.50* euros, see [the plan](plan.html).\n",
    "book.epub": zipped(
        {
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="book/list.opf"/></rootfiles></container>',
            "book/list.opf": '<package><manifest><item id="one" href="text/one%20a.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/></manifest>'
            '<spine><itemref idref="nav"/><itemref idref="one"/></spine></package>',
            "book/nav.xhtml": page("<nav><ol><li>The pier of 1911</li></ol></nav>"),
            "book/text/one a.xhtml": page(
                "<h1>Pier</h1><p>It cost 1,249.50 euros, for <math><mn> 2 </mn> <mi>x</mi></math> days.</p>"
                "<table><tr><th>Year</th><td>1911</td></tr></table><ol start='7'><li>Dredge</li></ol>"
            ),
        }
    ),
    "record.json": b'[{"pier": "north", "cost": 1249.5, "open": true, "note": null}]',
}


@pytest.mark.parametrize("name", [name for name in FAITHFUL if name != "page.html"])
def test_ordinary_files_are_faithful(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FAITHFUL[name])
    check = check_reading(tmp_path / name)
    assert (check.missing, check.new, check.glued) == ([], [], [])
    assert check.words


@pytest.mark.parametrize("name", FAITHFUL)
def test_a_lost_value_is_noticed_in_each_format(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = readers.find_reader(Path(name))
    assert reader

    def lossy(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
        for document in reader.read(path, source, report):
            shown = document.page_content
            for value in ("1,249.50", "1.249,50", "1249.5"):
                shown = shown.replace(value, "")
            yield document.model_copy(update={"page_content": shown})

    monkeypatch.setitem(readers.FORMAT_READERS, Path(name).suffix, reader._replace(read=lossy))
    (tmp_path / name).write_bytes(FAITHFUL[name])
    assert {difference.word for difference in check_reading(tmp_path / name).missing} & {"1,249.50", "1.249,50", "1249.5"}


def test_a_file_without_text_has_to_be_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(readers.FORMAT_READERS, ".txt", readers.FormatReader(lambda *_: iter(()), plain=True))
    (tmp_path / "pier.txt").write_text("It cost 1,249.50 euros.")
    assert [difference.word for difference in check_reading(tmp_path / "pier.txt").missing if difference.is_number] == ["1,249.50"]


def test_a_skipped_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / "pier.docx").write_bytes(b"no archive")
    check = check_reading(tmp_path / "pier.docx")
    assert check.is_faithful
    assert check.skipped


@pytest.mark.parametrize("outer", ["files.zip", "files.eml"])
def test_a_damaged_file_within_a_file_is_explained_and_the_others_are_compared(outer: str, tmp_path: Path) -> None:
    contents = {"pier.docx": b"no archive", "notes.txt.gz": gzip.compress(b"It cost 1,249.50 euros."), "card.vcf": b"FN:Olsen"}
    mail = EmailMessage()
    mail.set_content("See the files.")
    for name, content in contents.items():
        mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    (tmp_path / outer).write_bytes(mail.as_bytes() if outer.endswith(".eml") else zipped(contents))
    check = check_reading(tmp_path / outer)
    assert check.is_faithful
    assert {name for name, _ in check.skipped} >= {f"{outer}/pier.docx"}
