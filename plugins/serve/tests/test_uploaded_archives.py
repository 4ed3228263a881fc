"""Archives that are uploaded to harm: each is listed as skipped, the good document is indexed, and nothing is written elsewhere."""

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

from plugins.serve.tests.conftest import Serve
from plugins.serve.tests.test_collections import KEEPER, index, send
from tests.faults import fault
from tests.tools.documents.shown import FILES

Change = Callable[[zipfile.ZipFile], object]


def with_parts(name: str, change: Change) -> bytes:
    """A real document with more parts."""
    made = io.BytesIO()
    with zipfile.ZipFile(FILES / name) as real, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as changed:
        for member in real.namelist():
            changed.writestr(member, real.read(member))
        change(changed)
    return made.getvalue()


def zipped(**parts: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def encrypted(content: bytes) -> bytes:
    """Set the flag of encryption of each part."""
    changed = bytearray(content)
    for sign, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = changed.find(sign)
        while place >= 0:
            changed[place + offset] |= 1
            place = changed.find(sign, place + 4)
    return bytes(changed)


def escaping(archive: zipfile.ZipFile) -> None:
    for name in ("../../escaped.txt", "/tmp/escaped.txt", "..\\..\\escaped.txt", "C:\\escaped.txt", "word/../../../escaped.txt"):
        archive.writestr(name, "escaped")


def many(archive: zipfile.ZipFile) -> None:
    for number in range(25_000):
        archive.writestr(f"{number}", b"")


CONTAINER = "urn:oasis:names:tc:opendocument:xmlns:container"
PACKAGE = f'<container xmlns="{CONTAINER}"><rootfiles><rootfile full-path="../../etc/passwd"/></rootfiles></container>'.encode()
SKIPPED = {
    "encrypted.docx": lambda: encrypted((FILES / "arda.docx").read_bytes()),
    "encrypted.xlsx": lambda: encrypted((FILES / "bridges.xlsx").read_bytes()),
    "parts.docx": lambda: with_parts("arda.docx", many),
    "parts.epub": lambda: with_parts("arda.epub", many),
    "large.docx": lambda: with_parts("arda.docx", lambda archive: archive.writestr("word/more.xml", bytes(300_000_000))),
    "large.ods": lambda: with_parts("bridges.ods", lambda archive: archive.writestr("more.xml", bytes(300_000_000))),
    "large.txt.gz": lambda: gzip.compress(bytes(range(97, 98)) * 1_000_000) * 600,
    "nested.zip": lambda: zipped(inner=zipped(innermost=bytes(10_000_000))),
    "macro.docm": lambda: with_parts("arda.docx", lambda archive: archive.writestr("word/vbaProject.bin", b"Shell")),
    "macro.xlsm": lambda: with_parts("bridges.xlsx", lambda archive: archive.writestr("xl/vbaProject.bin", b"Shell")),
    "passwd.epub": lambda: zipped(**{"mimetype": b"application/epub+zip", "META-INF/container.xml": PACKAGE}),
    "empty.docx": zipped,
    "cut.docx": lambda: (FILES / "arda.docx").read_bytes()[:3000],
    "text.docx": lambda: b"no archive",
    "old.docx": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(5000),
    "twice.txt.gz": lambda: gzip.compress(b"text")[:-6],
}
READ = {
    "escaping.docx": lambda: with_parts("arda.docx", escaping),
    "escaping.xlsx": lambda: with_parts("bridges.xlsx", escaping),
    "escaping.odt": lambda: with_parts("arda.odt", escaping),
    "escaping.epub": lambda: with_parts("arda.epub", escaping),
    "macro.docx": lambda: with_parts("arda.docx", lambda archive: archive.writestr("word/vbaProject.bin", b"Shell")),
}


@fault("documents", "archive that is uploaded to harm", sees="named as skipped, with the reason", kept="the other documents", code=0)
def test_archives_cost_themselves_alone(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    server.call("POST", "/collections", json={"name": "arda"})
    for name, made in {**SKIPPED, **READ, "keeper.txt": KEEPER.encode}.items():
        assert send(server, "arda", name, made()).status_code == 200, name
    kind, built = index(server, "arda")[-1]
    assert kind == "built"
    assert {entry["name"].partition("/")[0] for entry in built["skipped"]} | {"twice.txt.gz"} == {*SKIPPED}
    files = server.call("GET", "/collections/arda/documents").json()["files"]
    assert {"keeper.txt", *READ} <= {entry["name"] for entry in files}
    result = dict(server.ask("Who was the first keeper of the lighthouse of Arda?", collection="arda"))["result"]
    assert result["answer"] == "Jonas Vell"
    assert list(tmp_path.rglob("escaped*")) == []
    assert not Path("/tmp/escaped.txt").exists()
