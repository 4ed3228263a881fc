"""Fuzz targets for files, replies and command lines: each function of bytes returns a value or raises a RamifyError.

Such a function returns where the property holds, and raises whatever breaks it. `parts` are pieces that inputs are made of.
"""

import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage
from pydantic import ValidationError

from plugins.formats.tests.made import docx
from ramify.graphs.tool import FilterArguments
from ramify.prompts import ANSWER, DECIDE, FILTER, JUDGE
from ramify.studio.console.options import read_filter
from ramify.tools.documents.files import File, ReadReport
from ramify.tools.documents.readers import parse_file
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.index import Index
from ramify.tools.index.manifest import read_index_manifest
from ramify.tools.index.passage_store import PassageStore
from ramify.tools.models.reply_parsing import field_span, find_objects, read_reply, span_confidence, split_thought, text_so_far
from ramify.tools.new_files import make_folder, write_atomically
from ramify.tools.user_input import expand_path, is_unicode
from tests.tools.fakes import WordEncoder

REPLIES = [prompt.with_options(thought=True, shots=0).reply for prompt in (ANSWER, DECIDE, FILTER, JUDGE)]
CUTS = 24
"""Places at which a stream of a reply is looked at."""


class Target(NamedTuple):
    """A function of bytes, and the pieces that its inputs are made of."""

    run: Callable[[bytes], None]
    parts: Sequence[bytes]
    cost: int = 1
    """Of one input, roughly, in that of parsing a reply."""


def words(*parts: str) -> list[bytes]:
    return [part.encode("utf-8", "surrogatepass") for part in parts]


def text_of(data: bytes) -> str:
    """Read bytes as text, in which halves of characters are possible."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def reply(data: bytes) -> None:
    """Parse a reply as each type of answer, and while it is still being written."""
    text = text_of(data)
    for schema in REPLIES:
        found = read_reply(AIMessage(text), None, schema)
        assert isinstance(found.parsed, schema) if found.parsed is not None else found.error
        assert is_unicode(found.raw.text)
        if found.parsed is not None:
            assert schema.model_validate(found.parsed.model_dump()) == found.parsed
            json.dumps(found.parsed.model_dump(), ensure_ascii=False).encode()
    for cut in range(0, len(text) + 1, len(text) // CUTS + 1):
        assert isinstance(text_so_far(text[:cut], "text"), str)
    assert "".join(split_thought(text)) == text or "<" in text or not text
    for start, value in find_objects(text):
        assert text[start] == "{"
        assert isinstance(value, dict)
    for name in ("answer", "text", ""):
        if (span := field_span(text, name)) is not None:
            assert 0 <= span[0] <= span[1] <= len(text)


def logprobs(data: bytes) -> None:
    """Measure a reply by tokens, one a line: a text, a tab, and its log probability as JSON, or anything else."""
    head, *rows = data.split(b"\n")
    tokens = []
    for row in rows:
        token, _, told = row.partition(b"\t")
        tokens.append({"token": text_of(token), "logprob": _json(told), "bytes": list(token) if head[:1] == b"b" else None})
    text = text_of(head[1:]) if head[:1] == b"x" else "".join(one["token"] for one in tokens)
    for form in (tokens, {"content": tokens}):
        raw = AIMessage(text, response_metadata={"logprobs": form}, usage_metadata=None)
        found = read_reply(raw, None, REPLIES[0]).raw
        sure = span_confidence(found, "answer")
        assert sure is None or 0.0 <= sure <= 1.0


def _json(told: bytes) -> Any:
    try:
        return json.loads(told)
    except (ValueError, RecursionError):
        return text_of(told)


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


@cache
def store() -> PassageStore:
    """Return the passages of a small index."""
    made = Path(tempfile.mkdtemp())
    records = [{"text": f"Text {n}.", "page": n, "tags": ["a", n], "none": None, "share": n / 3, "yes": n > 1} for n in range(4)]
    (made / "a.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    Index.build([made / "a.jsonl"], made / "index", WordEncoder())
    return PassageStore(made / "index" / "passages.sqlite")


def filters(data: bytes) -> None:
    """Filter by an object, as an agent writes it, or by lines of KEY=VALUE, as `--filter` has them."""
    text = text_of(data)
    with suppress(UsageError, ValidationError):
        wanted = FilterArguments.model_validate({"filter": text}).filter if text.startswith("{") else read_filter(text.split("\n"))
        rows = store().rows_matching(wanted or {})
        assert set(rows) <= set(store().rows())


def manifest(data: bytes) -> None:
    """Read a manifest; what is read is the same after it was written again."""
    with folder() as made:
        (made / "manifest.json").write_bytes(data)
        try:
            found = read_index_manifest(made / "manifest.json")
        except RamifyError:
            return
        assert found is not None
        (made / "again").mkdir()
        found.write(made / "again")
        assert read_index_manifest(made / "again" / "manifest.json") == found


def documents(name: str) -> Callable[[bytes], None]:
    """Return what reads a file of this name: its documents, or why there are none."""

    def run(data: bytes) -> None:
        with folder() as made:
            (made / name).write_bytes(data)
            report = ReadReport()
            found = list(parse_file(File(made / name, name, made), report, clean=False))
            assert found or report.skipped
            for document in found:
                json.dumps([document.page_content, document.metadata], default=str).encode()
                assert is_unicode(document.page_content)
                assert str(document.metadata["source"]).partition("#")[0] == name

    return run


def archive(data: bytes) -> None:
    """Read an e-book and a document of Word whose parts have these names, one a line, and refer to each other by them."""
    names = [text_of(line) for line in data.split(b"\n")][:12]
    book = {"META-INF/container.xml": f"<container><rootfiles><rootfile full-path={_quoted(names[0])}/></rootfiles></container>"}
    items = "".join(f'<item id="i{n}" href={_quoted(name)} media-type="application/xhtml+xml"/>' for n, name in enumerate(names))
    order = "".join(f'<itemref idref="i{n}"/>' for n in range(len(names)))
    parts = dict.fromkeys(names[1:], "<html><body><p>What it says.</p></body></html>") | book
    parts[names[0]] = f"<package><manifest>{items}</manifest><spine>{order}</spine></package>"
    documents("a.epub")(_zipped(parts))
    drawn = "".join(f"<w:p><w:hyperlink w:anchor={_quoted(name)}><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>" for name in names)
    documents("a.docx")(docx(drawn) if is_unicode(drawn) else b"")


def _quoted(name: str) -> str:
    from xml.sax.saxutils import quoteattr

    return quoteattr(name)


def _zipped(parts: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, content in parts.items():
            with suppress(UnicodeEncodeError):  # no archive can have such a name
                made.writestr(zipfile.ZipInfo(name), content.encode(errors="replace"))
    return file.getvalue()


def paths(data: bytes) -> None:
    """Look at a path as it was typed, and write to one below a folder: nothing lies elsewhere then."""
    text = text_of(data)
    with suppress(RamifyError):
        assert isinstance(expand_path(text), Path)
    with folder() as made:
        below = made / "down" / re.sub(r"\.{2,}", ".", text).lstrip("/")
        with suppress(RamifyError):
            make_folder(expand_path(below).parent)
            write_atomically("content", below)
            assert below.read_text(encoding="utf-8") == "content"
        assert [path.name for path in made.iterdir()] in ([], ["down"])


NUMBERS = words("-0.1", "-1e308", "-1e400", "1e-6", "NaN", "Infinity", "-Infinity", "1" * 400, "null", '"-0.1"', "[]", "true", "0")
JSON = words(*'{}[]":,\\', "\\u", "\\ud83d", "\\ude00", "\\n", "\ud800", "😀", "\0", " ", "\n", "null", "true", "-1e999", "9" * 5000)
FIELDS = words('{"answer": "', '", "confidence": ', "0.9", ', "citations": [', "1]}", '{"action": "decompose", "questions": [', '"text":')
FRAME = words(
    "<think>", "</think>", "```json\n", "```", "[" * 9999, '{"a":' * 9999, "}" * 9999, '"a"', '"relevant": [1, 2]', '"sufficiency": 4'
)
RECORDS = words(
    '{"text": "', '"id": 1, ', '"metadata": {"a": ', "id,name\n", "1,a\n", '"', "'", "\r", "\t", ";", "|", ",", "\ufeff", "\x1f\x8b"
)
HTML = words(
    "<p>", "</p>", "<table><tr><td>", "<td colspan=99999999>", "<!--", "-->", "<script>", "&#x110000;", "&#0;", "<title>", "<a id='"
)
MARKS = words(
    "# ", "---\n", "title: ", "- a\n", "&a ", "*a", "!!python/object:os.system ", "```", "|a|b|\n|-|-|\n", "{a: ", "<div>", "2026-99-99"
)
MAIL = words(
    "Subject: ",
    "From: ",
    "\n\n",
    "Content-Type: text/html; charset=",
    "utf-99",
    "=?utf-8?b?",
    "?=",
    "Content-Type: multipart/mixed; boundary=a\n\n--a\n",
)
MAIL += words("Content-Transfer-Encoding: base64\n", "--a--", "Date: ", "99 Xxx 99999 99:99:99 +9999", "message/rfc822", "=\n", "=ZZ")
MANIFEST = words('{"embedding": "a", "dimension": 64, "chunk_tokens": 9, "overlap": 1, "documents": 1, "passages": 1, ')
MANIFEST += words(
    '"sha256": {"passages.sqlite": "", "vectors.faiss": "", "slots.npy": ""}', ', "kind": "graph"', ', "layout": ', ', "label": ["', "}"
)
NAMES = words(
    "../",
    "/",
    "\\",
    "C:",
    "~",
    "~root",
    "~nobody-here/",
    "%2e%2e/",
    "a" * 300,
    "\0",
    "\ud800",
    "\n",
    ".",
    "con",
    "#",
    "a/b",
    "/proc/self/fd/",
    "é",
)

TARGETS = {
    "reply": Target(reply, [*JSON, *FIELDS, *FRAME, *NUMBERS]),
    "logprobs": Target(logprobs, [*words("b\n", "x", "t\n", "\t", "\n", '{"answer": "\t', "Yes", '"}\t'), *NUMBERS, *JSON]),
    "filter": Target(
        filters,
        [*words("page=", "tags=", "none=", "a\n", "[" * 9999, "[", "]", "9223372036854775808", "1e999", '{"page": ', "="), *NUMBERS, *JSON],
    ),
    "manifest": Target(manifest, [*MANIFEST, *JSON, *NUMBERS]),
    "csv": Target(documents("a.csv"), [*RECORDS, *JSON]),
    "jsonl": Target(documents("a.jsonl"), [*RECORDS, *JSON]),
    "json": Target(documents("a.json"), [*RECORDS, *JSON]),
    "html": Target(documents("a.html"), [*HTML, *MARKS]),
    "markdown": Target(documents("a.md"), [*MARKS, *HTML]),
    "mail": Target(documents("a.eml"), [*MAIL, *HTML, *words("\ud800", "\0", "\xff")]),
    "archive": Target(archive, [*NAMES, *words("OPS/a.xhtml", "a.opf", "META-INF/container.xml", "\n", "&", "<")]),
    "path": Target(paths, NAMES),
}
