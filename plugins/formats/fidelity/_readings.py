"""Read the words of a file without the readers' code, to compare them with what the readers return."""

import gzip
import html
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Set
from csv import Error as CsvError
from csv import reader as csv_reader
from datetime import datetime
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import Message
from email.utils import format_datetime, parsedate_to_datetime
from io import BytesIO
from typing import Any

from ramify.formats.fidelity._office import raw_epub, raw_odf, raw_ooxml
from ramify.formats.fidelity._pdf import raw_pdf
from ramify.formats.fidelity._sheets import raw_ods, raw_xlsx
from ramify.formats.fidelity._text import RawText, decodings, optional, visible_texts

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[^<>\n]*>|\\(?=[^\w\s])")
_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\r?\n(.*?\n)?\1[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MIN_ALTERNATIVE_SHARE = 0.8
"""Least share of the richest part's words in an alternative of a mail that may be read instead."""


def raw_texts(name: str, content: bytes, unread: Set[str] = frozenset(), place: str = "") -> Iterator[RawText]:
    """Yield the texts of a file that a person sees; nothing for unknown formats.

    place: that of a file within another ("/folder/notes.txt"). unread: places of such files that are not read, such as damaged ones.
    """
    if name.lower().endswith(".gz"):
        content = gzip.decompress(content)
    kind = _kind(name)
    if kind == "zip":
        yield from _raw_archive(content, unread, place)
    elif kind == "eml":
        yield from _message_texts(message_from_bytes(content, policy=policy.compat32), unread, place)
    elif kind in _READINGS:
        yield from (text._replace(place=place or text.place) for text in _READINGS[kind](content))


def has_raw_reading(name: str) -> bool:
    """Return whether a file of this name can be read without the readers' code."""
    return _kind(name) in (*_CONTAINERS, *_READINGS)


def _kind(name: str) -> str:
    return name.lower().removesuffix(".gz").rpartition(".")[2]


def _raw_lines(content: bytes) -> Iterator[RawText]:
    """Yield a plain text."""
    first, *others = decodings(content)
    yield RawText(first, "", tuple(others))


def _raw_markdown(content: bytes) -> Iterator[RawText]:
    """Yield Markdown paragraph by paragraph, with or without HTML tags and escapes; the front matter need not be read."""
    text = decodings(content)[0]
    if front := _FRONT_MATTER.match(text):
        yield optional(front[0])
        text = text[front.end() :]
    for part in re.split(r"\n[ \t]*\n", text):
        yield RawText(part, "", tuple(html.unescape(form) for form in (part, _TAG.sub(" ", part), _TAG.sub("", part))))


def _raw_table(content: bytes) -> Iterator[RawText]:
    """Yield a table's fields, separated by each of the usual separators."""
    forms = []
    for text in decodings(content):
        lines = re.sub(r"\A\W*sep=.[ \t]*\r?\n", "", text).replace("\0", "").splitlines(keepends=True)
        for separator in [separator for separator in ",;\t|" if separator in text] or ",":
            try:
                forms.append("\n".join(" ".join(row) for row in csv_reader(lines, delimiter=separator)))
            except CsvError:
                continue
    first, *others = forms or [""]
    yield RawText(first, "", tuple(others))


def _raw_json(content: bytes) -> Iterator[RawText]:
    value = json.loads(decodings(content)[0], parse_float=str)
    for number, record in enumerate(value if isinstance(value, list) else [value], start=1):
        yield from _record_texts(record, number)


def _raw_json_lines(content: bytes) -> Iterator[RawText]:
    for number, line in enumerate(decodings(content)[0].splitlines(), start=1):
        if line.strip():
            try:
                yield from _record_texts(json.loads(line, parse_float=str), number)
            except ValueError:
                yield RawText(line, f"#{number}")


def _record_texts(record: Any, number: int) -> Iterator[RawText]:
    """Yield the values of a record; the names of its fields need not be read."""
    names: list[str] = []
    yield RawText("\n".join(_leaves(record, names)), f"#{number}")
    yield optional(" ".join(["null", *names]), f"#{number}")


def _leaves(value: Any, names: list[str]) -> Iterator[str]:
    if isinstance(value, dict):
        names += map(str, value)
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, names)
    elif value is not None:
        yield str(value).lower() if isinstance(value, bool) else str(value)


def _message_texts(message: Message, unread: Set[str], place: str) -> Iterator[RawText]:
    for name in _SHOWN_HEADERS:
        values = list(map(str, message.get_all(name, [])))
        yield RawText(name if any(map(str.strip, values)) else "", "headers")
        for value in values:
            moment = _moment(value) if name == "Date" else None
            forms = [*([format_datetime(moment)] if moment else []), _header_text(value), value]
            yield RawText(forms[0], "headers", tuple(forms[1:]))
    yield from _part_texts(message, unread, place)


def _moment(value: str) -> datetime | None:
    try:
        return parsedate_to_datetime(value)
    except ValueError:
        return None


def _header_text(value: str) -> str:
    try:
        return str(make_header(decode_header(value)))
    except (LookupError, ValueError):
        return value


def _part_texts(part: Message, unread: Set[str], place: str) -> Iterator[RawText]:
    """Yield the texts of a part of a mail, with those of attachments of known formats."""
    kind, name, payload = part.get_content_type(), part.get_filename(), part.get_payload()
    parts = [inner for inner in payload if isinstance(inner, Message)] if isinstance(payload, list) else []
    if kind == "message/rfc822":
        for inner in parts:
            yield from _message_texts(inner, unread, place)
    elif kind == "multipart/alternative" and parts:
        texts = [list(_part_texts(inner, unread, place)) for inner in parts]
        yield from _richest_part(["\n".join(text.text for text in part) for part in texts])
        yield from (optional(other) for part in texts for text in part for other in text.others)
    elif parts:
        is_report = kind.startswith("message/")  # such as a delivery status, whose fields mail programs hide
        for inner in parts:
            yield optional("\n".join(f"{name}: {value}" for name, value in inner.items()) if is_report else "")
            yield from (optional(text.text) if is_report else text for text in _part_texts(inner, unread, place))
    else:
        decoded = part.get_payload(decode=True)
        body = decoded if isinstance(decoded, bytes) else b""
        name = _header_text(name) if name else ""
        shown = "body" if kind in ("text/plain", "text/html") else f"attachment {kind!r}"
        shown = f"{place}/{name.replace(_BACKSLASH, '/').rpartition('/')[2]}" if name else shown
        yield optional(name)
        if shown in unread:
            return
        if _kind(name) in (*_CONTAINERS, *_READINGS):
            yield from raw_texts(name, body, unread, shown)
        elif kind == "text/calendar" or _kind(name) == "ics":
            yield optional(_charset_text(part, body))
        elif kind == "text/html":
            yield from (text._replace(place=shown) for text in visible_texts(_charset_text(part, body)))
        elif part.get_content_maintype() in ("text", "multipart"):  # a damaged multipart is shown as text
            yield RawText(_charset_text(part, body), shown, tuple(decodings(body)))
        elif kind.startswith("message/"):
            yield optional(str(payload))


def _richest_part(options: list[str]) -> Iterator[RawText]:
    """Yield the alternative with most words; others with almost as many may be read instead."""
    richest, *others = sorted(options, key=lambda text: -len(set(text.split())))
    least = _MIN_ALTERNATIVE_SHARE * len(set(richest.split()))
    yield RawText(richest, "body", tuple(text for text in others if len(set(text.split())) >= least))
    yield from map(optional, others)


def _charset_text(part: Message, body: bytes) -> str:
    try:
        return body.decode(part.get_content_charset() or "utf-8")
    except (LookupError, ValueError):
        return decodings(body)[0]


def _raw_archive(content: bytes, unread: Set[str], place: str) -> Iterator[RawText]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        for member in archive.infolist():
            if _kind(member.filename) in (*_CONTAINERS, *_READINGS) and (inner := f"{place}/{member.filename}") not in unread:
                yield from raw_texts(member.filename, archive.read(member), unread, inner)


_BACKSLASH = "\\"
_CONTAINERS = ("eml", "zip")
_READINGS: dict[str, Callable[[bytes], Iterator[RawText]]] = {
    **dict.fromkeys(("txt", "text", "log", "rst"), _raw_lines),
    **dict.fromkeys(("md", "markdown"), _raw_markdown),
    **dict.fromkeys(("html", "htm", "xhtml"), lambda content: visible_texts(decodings(content)[0])),
    **dict.fromkeys(("csv", "tsv"), _raw_table),
    **dict.fromkeys(("jsonl", "ndjson"), _raw_json_lines),
    **dict.fromkeys(("docx", "pptx"), raw_ooxml),
    **dict.fromkeys(("odt", "odp"), raw_odf),
    "json": _raw_json, "xlsx": raw_xlsx, "ods": raw_ods, "epub": raw_epub, "pdf": raw_pdf,
}  # fmt: skip
