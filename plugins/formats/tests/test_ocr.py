"""OCR: text in pictures is read by Tesseract where it is installed, and marked; what Tesseract does wrong costs its page alone."""

import json
import shutil
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from plugins.formats.tests.pdf_pages import page_of, picture_stream, written_pdf
from ramify.formats.pdf.ocr import OcrError, recognize
from ramify.nodes.tree.citation import cite
from ramify.tools.checkup import check_ocr
from ramify.tools.documents.files import DEFAULT_OCR, File, ReadReport
from ramify.tools.documents.load import load_files
from ramify.tools.documents.readers import parse_file
from ramify.tools.errors import IndexingError, InputError, UsageError
from ramify.tools.index import Index
from tests.faults import fault

real_engine = pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
SAID = ("The harbour of Lillesand was dredged in 1911, and its old crane lifts", "twelve tonnes of goods in one hour, as the plate says.")


def table(lines: Sequence[str], confidence: float = 95, page: int = 1) -> str:
    """Return lines as Tesseract's table of words."""
    rows = [f"1\t{page}\t0\t0\t0\t0\t0\t0\t2550\t3300\t-1\t"]
    for number, line in enumerate(lines, start=1):
        left = 300
        for place, word in enumerate(line.split(), start=1):
            rows.append(f"5\t{page}\t1\t1\t{number}\t{place}\t{left}\t{300 + 60 * number}\t{20 * len(word)}\t40\t{confidence}\t{word}")
            left += 20 * len(word) + 20
    return "\n".join(rows) + "\n"


def blank_png() -> bytes:
    """Return a small white picture."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = zlib.compress(b"\0\xff\xff\xff\xff" * 4)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "FakeEngine":
    return FakeEngine(tmp_path / "programs", monkeypatch)


class FakeEngine:
    """A program of the name `tesseract` that writes what it is told to."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder.mkdir()
        self.folder = folder
        self.environment = monkeypatch
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def runs(self, script: str) -> None:
        program = self.folder / "tesseract"
        program.write_text(
            f'#!/bin/sh\n[ "$1" = --list-langs ] && printf "List:\\neng\\nnor\\nosd\\n" && exit 0\n{script}\n', encoding="utf-8"
        )
        program.chmod(0o755)

    def reads(self, *lines: str, confidence: float = 95) -> None:
        (self.folder / "table").write_text(f"{HEAD}\n{table(lines, confidence)}", encoding="utf-8")
        self.runs(f"cat > '{self.folder}/picture'; echo \"$@\" > '{self.folder}/arguments'; cat '{self.folder}/table'")

    def is_absent(self) -> None:
        (self.folder / "tesseract").unlink(missing_ok=True)
        self.environment.setenv("PATH", str(self.folder))


def scan(path: Path, text: Sequence[str] = (), pages: int = 1) -> Path:
    """Write a PDF with a page of text, if there is one, and pages that are pictures."""
    lines = [page_of(*text)] * bool(text) + [page_of()] * pages
    picture = picture_stream(4, 4, bytes(range(16)))
    path.write_bytes(written_pdf(lines, streams=[picture], pictures=range(len(lines) - pages, len(lines))))
    return path


def test_a_scanned_page_is_read_marked_and_remarked(tmp_path: Path, engine: FakeEngine) -> None:
    engine.reads(*SAID)
    documents = load_files(scan(tmp_path / "scan.pdf", ["A page of the usual kind, which is not a picture at all and has its text."]))
    printed, scanned = documents
    assert "read_by" not in printed.metadata
    assert scanned.page_content == " ".join(SAID)
    assert (scanned.metadata["read_by"], scanned.metadata["pages"]) == ("ocr", [[0, 2]])
    ((where, remark),) = documents.remarks
    assert where == "scan.pdf, page 2"
    assert all(part in remark for part in ("OCR", "95 %", f"{len(' '.join(SAID).split())} words"))
    assert (engine.folder / "picture").read_bytes().startswith(b"P5 2550 330")


def test_doubtful_words_are_counted_and_lines_of_noise_left_out(tmp_path: Path, engine: FakeEngine) -> None:
    engine.reads(*SAID, confidence=40)
    documents = load_files(scan(tmp_path / "scan.pdf"))
    assert [document.page_content for document in documents] == [" ".join(SAID)]
    assert "100 %" in documents.remarks[0][1]
    engine.reads("|;: ~", confidence=9)
    with pytest.raises(InputError, match="scanned"):
        list(load_files(scan(tmp_path / "scan.pdf")))


def test_a_citation_says_that_its_text_was_read_with_ocr(tmp_path: Path, engine: FakeEngine) -> None:
    engine.reads(*SAID)
    Index.build([scan(tmp_path / "scan.pdf")], tmp_path / "index")
    (hits,) = Index.open(tmp_path / "index").search(["When was the harbour dredged?"], 1)
    (citation,) = cite(hits, [SAID[0]], cited=True)
    assert citation.where.endswith("scan.pdf (page 1, OCR)")


def test_a_picture_file_is_a_document(tmp_path: Path, engine: FakeEngine) -> None:
    engine.reads(*SAID)
    (tmp_path / "plate.png").write_bytes(blank_png())
    (document,) = load_files(tmp_path / "plate.png")
    assert (document.page_content, document.metadata["read_by"]) == (" ".join(SAID), "ocr")


@fault("documents", "list of files with the name of a picture", sees="named as skipped", kept="no file of the list is opened")
@pytest.mark.parametrize("name", ["list.png", "list.jpg", "list.jpeg", "list.tif", "list.tiff", "list.bmp", "list.webp"])
def test_a_list_of_files_is_no_picture(tmp_path: Path, engine: FakeEngine, name: str) -> None:
    engine.reads(*SAID)
    (tmp_path / name).write_text("/etc/secret.png\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"not a \w+ picture"):
        list(load_files(tmp_path / name))
    assert not (engine.folder / "picture").exists()


def test_languages(tmp_path: Path, engine: FakeEngine) -> None:
    engine.reads(*SAID)
    path = scan(tmp_path / "scan.pdf")
    for given, used in (("", "eng"), ("nor", "nor"), ("nor+eng", "nor+eng")):
        list(load_files(path, ocr_languages=given))
        assert f"-l {used} " in (engine.folder / "arguments").read_text(encoding="utf-8")
    for unknown in ("deu", "eng+deu", "../eng", "-c x"):
        with pytest.raises(UsageError):
            load_files(path, ocr_languages=unknown)
    with pytest.raises(UsageError, match="sometimes"):
        load_files(path, ocr="sometimes")  # type: ignore[arg-type]


@fault(
    "documents",
    "scanned page or picture without Tesseract",
    sees="a remark with the pages, the picture named as skipped, and how to install it",
    kept="the pages with text",
)
def test_without_the_program_or_with_ocr_off_the_file_has_one_remark(tmp_path: Path, engine: FakeEngine) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    scan(folder / "scan.pdf", ["A page of the usual kind, which is not a picture."], pages=2)
    (folder / "plate.png").write_bytes(blank_png())
    engine.reads(*SAID)
    never = load_files(folder, ocr="never")
    assert len(list(never)) == 1
    engine.is_absent()
    absent = load_files(folder)
    assert len(list(absent)) == 1
    for documents, reason in ((never, "OCR is off"), (absent, "tesseract-ocr")):
        assert [where for where, _ in documents.remarks] == ["scan.pdf, page 2-3"]
        assert reason in documents.remarks[0][1]
        assert [name for name, _ in documents.skipped] == ["plate.png"]
        assert reason in documents.skipped[0][1]


FAULTS = {
    "fails": ("cat > /dev/null; echo 'cannot open data' >&2; exit 3", "cannot open data"),
    "writes nothing": ("cat > /dev/null", "no table"),
    "writes garbage": ("cat > /dev/null; head -c 3000 /dev/urandom", "no table"),
    "writes a damaged table": (f"cat > /dev/null; printf '{HEAD}\\n5\\t1\\tx\\n'", "damaged"),
    "writes without end": ("cat > /dev/null; yes 'a line of text'", "more than"),
}


@fault("documents", "Tesseract that fails, hangs or writes nonsense", sees="a remark with the pages and the reason", kept="the other pages")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_page_that_cannot_be_read_costs_itself_alone(tmp_path: Path, engine: FakeEngine, fault: str) -> None:
    script, reason = FAULTS[fault]
    engine.runs(script)
    documents = load_files(scan(tmp_path / "scan.pdf", ["A page of the usual kind, which is not a picture."]))
    assert len(list(documents)) == 1
    assert [where for where, _ in documents.remarks] == ["scan.pdf, page 2"] * 2
    assert any(reason in remark for _, remark in documents.remarks)


@fault("documents", "Tesseract that fails, hangs or writes nonsense", sees="a remark with the pages and the reason", kept="the other pages")
def test_a_program_that_hangs_is_killed(engine: FakeEngine) -> None:
    engine.runs("sleep 600")
    with pytest.raises(OcrError, match="longer than"):
        recognize(blank_png(), DEFAULT_OCR, seconds=0.5)


def test_each_page_begins_the_time_limit_anew(tmp_path: Path, engine: FakeEngine) -> None:
    engine.reads(*SAID)
    report, steps = ReadReport(), list[int]()
    report.keep_alive = lambda: steps.append(1)
    path = scan(tmp_path / "scan.pdf", pages=3)
    assert list(parse_file(File(path, path.name, tmp_path), report, clean=True))
    assert len(steps) == 3


def test_large_pictures_beside_text_are_read_if_wanted_without_doubles(tmp_path: Path, engine: FakeEngine) -> None:
    picture, printed = picture_stream(4, 4, bytes(range(16))), "The weir was mended in 1934, by the miller of Voss."
    path = tmp_path / "mixed.pdf"
    path.write_bytes(written_pdf([page_of(printed, top=400)], streams=[picture], pictures=[0]))
    engine.reads(printed, "Plate 4: the sluice of Orsa")
    assert [document.page_content for document in load_files(path)] == [printed]
    first, second = load_files(path, ocr="always", clean=False)
    assert first.page_content == printed
    assert (second.page_content, second.metadata["read_by"], second.metadata["page"]) == ("Plate 4: the sluice of Orsa", "ocr", 1)


def test_an_index_keeps_its_choice_and_reads_a_pdf_again_when_the_program_is_there(tmp_path: Path, engine: FakeEngine) -> None:
    scan(tmp_path / "scan.pdf", ["A page of the usual kind, which is not a picture."])
    engine.is_absent()
    assert Index.build([tmp_path / "scan.pdf"], tmp_path / "index").documents == 1
    engine.environment.setenv("PATH", f"{engine.folder}:/usr/bin:/bin")
    engine.reads(*SAID)
    assert Index.build([tmp_path / "scan.pdf"], tmp_path / "index").documents == 2
    assert Index.build([tmp_path / "scan.pdf"], tmp_path / "index").unchanged == 2
    with pytest.raises(IndexingError, match="ocr 'auto', not 'never'"):
        Index.build([tmp_path / "scan.pdf"], tmp_path / "index", ocr="never")
    Index.build([tmp_path / "scan.pdf"], tmp_path / "off", ocr="never")
    assert Index.build([tmp_path / "scan.pdf"], tmp_path / "off").documents == 1


def test_doctor_says_whether_the_program_is_there(engine: FakeEngine) -> None:
    engine.reads(*SAID)
    assert (check_ocr().state, "eng, nor" in check_ocr().found) == ("ok", True)
    engine.is_absent()
    assert (check_ocr().state, "tesseract-ocr" in check_ocr().remedy) == ("note", True)


@real_engine
@pytest.mark.parametrize("kind", ["PDF", "PNG", "TIFF", "JPEG", "BMP", "WEBP"])
def test_the_engine_reads_a_picture_the_same_each_time(tmp_path: Path, kind: str) -> None:
    drawing = pytest.importorskip("PIL.ImageDraw")
    image, font = pytest.importorskip("PIL.Image"), pytest.importorskip("PIL.ImageFont")
    picture = image.new("L", (1700, 600), 255)
    for number, line in enumerate(SAID):
        drawing.Draw(picture).text((100, 150 + 70 * number), line, fill=0, font=font.load_default(44))
    path = tmp_path / f"plate.{kind.lower()}"
    picture.save(path, kind, **({"resolution": 200.0} if kind == "PDF" else {}))
    texts = [json.dumps([document.page_content for document in load_files(path)]) for _ in range(2)]
    assert texts[0] == texts[1]
    assert all(word in texts[0] for word in ("harbour", "Lillesand", "dredged in 1911", "twelve tonnes"))
