"""Read mails: their headers, the richest form of their text, and their attachments as files within the mail."""

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from email import policy
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.headerregistry import HeaderRegistry
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from langchain_core.documents import Document

from ramify.formats.mail._text import is_calendar, part_payload, part_text
from ramify.formats.members import MemberPath, distinct_name
from ramify.tools.documents.files import ReadReport
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.text import file_stem, read_unpacked
from ramify.tools.quoting import pluralize

_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MAX_MAIL_DEPTH = 10
_MAX_HEADER_CHARS = 10_000
_REGISTRY = HeaderRegistry()
_NAME_IN_COMMENT = re.compile(r"(?<![^\s,;])([^\s<>,;:()\"@]++@[^\s<>,;:()\"@]++)\s++\(([^()\"\\]++)\)")
"""An address and the name behind it, as in RFC 822."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_eml(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a mail: its headers, its text and the names of its attachments as one document, then its attachments."""
    message = _parse(read_unpacked(path).removeprefix(_BYTE_ORDER_MARK).lstrip(b"\r\n"))
    report.state(source, _mail_properties(message))
    content = _MailContent(source, report)
    content.read(message)
    content.close()
    names = list(content.attachments)
    report.add("Attachments:", *names)
    parts = [_header_lines(message), *content.texts, f"Attachments: {', '.join(names)}" if names else ""]
    title = _header_line(message, "Subject") or file_stem(path)
    yield Document("\n\n".join(part for part in parts if part), id=source, metadata={"source": source, "title": title})
    for name, part in content.attachments.items():
        yield from report.read_member(MemberPath.make(name, partial(part_payload, part, source, report)))


def _parse(content: bytes) -> EmailMessage:
    return BytesParser(EmailMessage, policy=policy.default.clone(header_factory=_parse_header)).parse(io.BytesIO(content))


def _parse_header(name: str, value: str) -> Any:
    """Parse a header with Python's parser, truncated since parsing may be quadratic; empty if the parser fails."""
    value = value[:_MAX_HEADER_CHARS].replace("\0", "")
    if not value.isascii():  # not encoded as it should be
        written = value.encode("utf-8", "surrogateescape")
        try:
            value = written.decode("utf-8")
        except UnicodeDecodeError:
            value = written.decode("cp1252", "replace")
    if "(" in value and name.capitalize() in ("From", "To", "Cc"):
        value = _NAME_IN_COMMENT.sub(lambda match: f"{match[2]} <{match[1]}>" if "=?" in match[2] else f'"{match[2]}" <{match[1]}>', value)
    try:
        return _REGISTRY(name, value)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return _REGISTRY(name, "")


def _mail_properties(message: MIMEPart) -> dict[str, Any]:
    """Return a mail's author, addresses, date and subject."""
    people = {name: getattr(message[name], "addresses", ()) for name in ("From", "To", "Cc")}
    sent = getattr(message["Date"], "datetime", None)
    return {
        "author": [address.display_name or address.addr_spec for address in people["From"]],
        **{name.lower(): [address.addr_spec for address in listed] for name, listed in people.items()},
        "date": sent.date() if sent else "",
        "subject": _header_line(message, "Subject"),
    }


def _header_lines(message: MIMEPart) -> str:
    """Return the main headers, one per line."""
    return "\n".join(f"{name}: {line}" for name in _SHOWN_HEADERS if (line := _header_line(message, name)))


def _header_line(message: MIMEPart, name: str) -> str:
    """Return a header on one line; of several with this name, all that differ."""
    return "; ".join(dict.fromkeys(line for value in message.get_all(name, ()) if (line := " ".join(str(value).split()))))


_SUFFIXES = {
    "application/pdf": ".pdf", "application/msword": ".doc", "application/rtf": ".rtf", "text/rtf": ".rtf", "application/zip": ".zip",
    "application/x-zip-compressed": ".zip", "application/json": ".json", "application/epub+zip": ".epub", "application/xml": ".xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.oasis.opendocument.text": ".odt", "application/vnd.oasis.opendocument.spreadsheet": ".ods",
    "application/vnd.oasis.opendocument.presentation": ".odp", "application/vnd.ms-excel": ".xls", "application/mbox": ".mbox",
    "text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "text/tab-separated-values": ".tsv", "text/markdown": ".md",
    "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/tiff": ".tif", "image/webp": ".webp", "image/bmp": ".bmp",
}  # fmt: skip
_UNREAD_KINDS = frozenset(
    [
        "application/pgp-signature",
        "application/pkcs7-signature",
        "application/x-pkcs7-signature",
        "application/applefile",
        "text/x-amp-html",
    ]
)
"""Signatures, and parts that only repeat others."""
_ENCRYPTED = frozenset({"application/pgp-encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_FILE_KINDS = frozenset(["text/csv", "text/tab-separated-values", "text/rtf", "text/xml", "text/css", "text/vcard", "text/x-vcard"])
"""Kinds of text that are read as files, not as text of the mail."""
_OUTLOOK_ATTACHMENTS = ("winmail.dat", "application/ms-tnef")


class _MailContent:
    """Collects the texts of a mail and of mails within it, and its attachments by name."""

    def __init__(self, source: str, report: ReadReport) -> None:
        self.texts: list[str] = []
        self.attachments: dict[str, MIMEPart] = {}
        self._source = source
        self._report = report
        self._inline_images = 0
        self._names = Counter[str]()

    def close(self) -> None:
        """Report the images within the text."""
        if self._inline_images:
            self._report.remark(self._source, f"{pluralize(self._inline_images, 'image')} within its text not read")

    def read(self, part: MIMEPart, depth: int = 0, is_inline: bool = False) -> None:
        """Read a part with the parts in it; `is_inline`: it belongs to a page, which shows it."""
        kind = part.get_content_type()
        if depth > _MAX_MAIL_DEPTH:
            self._report.remark(self._source, f"parts within more than {_MAX_MAIL_DEPTH} others are not read")
        elif kind in ("message/rfc822", "message/global") and part.is_multipart():
            self._read_forwarded(part, depth)
        elif kind == "multipart/encrypted" or kind in _ENCRYPTED:
            self._report.remark(self._source, "encrypted, or signed as a whole (S/MIME): its text is not read")
        elif kind == "multipart/alternative" and part.is_multipart():
            self._read_alternatives(_parts(part), depth)
        elif part.is_multipart() and part.get_content_maintype() == "message":
            self._add_text("\n\n".join("\n".join(f"{name}: {value}" for name, value in block.items()) for block in _parts(part)))
        elif part.is_multipart():
            for inner in _parts(part):
                self.read(inner, depth + 1, kind == "multipart/related")
        elif kind not in _UNREAD_KINDS:
            self._read_leaf(part, kind, is_inline)

    def _read_forwarded(self, part: MIMEPart, depth: int) -> None:
        [mail, *_] = _parts(part)
        if "base64" in str(part.get("Content-Transfer-Encoding", "")).lower() and not mail.keys():
            mail.add_header("Content-Transfer-Encoding", "base64")
            mail = _parse(part_payload(mail, self._source, self._report))
        self._add_text(_header_lines(mail))
        self.read(mail, depth)

    def _read_leaf(self, part: MIMEPart, kind: str, is_inline: bool) -> None:
        name, is_attached = _file_name(part), part.get_content_disposition() == "attachment"
        is_text = kind.startswith(("text/", "multipart/")) and kind not in _FILE_KINDS
        if is_calendar(part) or (is_text and not is_attached and not name):
            self._add_text(part_text(part, self._source, self._report).strip())
        elif name.lower() == _OUTLOOK_ATTACHMENTS[0] or kind == _OUTLOOK_ATTACHMENTS[1]:
            self._report.skip(f"{self._source}/{name}", "attachments in Outlook's own format: ask for them as files")
        elif is_inline and kind.startswith("image/") and not is_attached:
            self._inline_images += 1
        else:
            self._attach(name, kind, part)

    def _attach(self, name: str, kind: str, part: MIMEPart) -> None:
        """Keep a part as an attachment under a name of its own, with the suffix of its kind if it has none."""
        suffix, number = _SUFFIXES.get(kind, ""), len(self.attachments) + 1
        name = name or (f"attachment {number}" if suffix else f"attachment {number} ({kind.replace('/', '-')})")
        path = PurePosixPath(name)
        if not path.suffix or not (kind.startswith("text/") or path.suffix.lower() in _SUFFIXES.values()):
            path = PurePosixPath(name + suffix)
        self.attachments[distinct_name(path.name, self._names)] = part

    def _add_text(self, text: str) -> None:
        if text:
            self.texts.append(text)

    def _read_alternatives(self, parts: Iterable[MIMEPart], depth: int) -> None:
        """Read forms of the same text, and keep the one that says most."""
        forms: list[str] = []
        events: list[str] = []
        for part in parts:
            form = _MailContent(self._source, self._report)
            form.read(part, depth + 1)
            self._inline_images += form._inline_images
            for name, attachment in form.attachments.items():
                self._attach(name, attachment.get_content_type(), attachment)
            (events if is_calendar(part) else forms).append("\n\n".join(form.texts))
        kept, left_out = _choose_forms([form for form in forms if form.strip()])
        for text in (*kept, *dict.fromkeys(events)):
            self._add_text(text)
        self._report.leave_out(self._source, "other form of the same text", left_out, "other forms of the same text")


def _parts(part: MIMEPart) -> list[MIMEPart]:
    payload = part.get_payload()
    return [inner for inner in payload if isinstance(inner, MIMEPart)] if isinstance(payload, list) else []


def _file_name(part: MIMEPart) -> str:
    """Return the name of an attachment without folders; "" if it has none."""
    name = str(part.get_filename("") or "")
    if "=?" in name:  # encoded as only headers may be
        with suppress(HeaderParseError, LookupError, UnicodeError, ValueError):
            name = str(make_header(decode_header(name)))
    return re.split(r"[/\\]", " ".join(name.split()))[-1].strip(". ") if name else ""


_ADDRESS = re.compile(r"<?\b(?:https?|mailto|cid):\S+|\[(?:image|cid|logo):?[^\]]{0,200}\]", re.IGNORECASE)
_WORD = re.compile(r"\w\w+")
_STUB = re.compile(r"\bhtml\b|\b(?:online|browser|web)\b.{0,40}$|^.{0,60}\b(?:view|read|open|ansehen|anzeigen|voir|ver)\b", re.IGNORECASE)
_MAX_STUB_WORDS = 40
_MIN_OWN_SHARE = 0.5
"""Least share of words of its own that make a form of a text another text."""
_MAX_LOST_SHARE = 0.1


def _choose_forms(forms: list[str]) -> tuple[list[str], list[str]]:
    """Return the forms of a text that are read, and those with further words that are not."""
    kept, left_out = forms[:1], list[str]()
    for form in forms[1:]:
        other = kept[-1]
        words, known = _words(form), _words(other)
        more, lost = words - known, known - words
        if _is_stub(form) or _is_stub(other):
            is_kept = not _is_stub(form) or (_is_stub(other) and len(words) > len(known))
        elif _have_numbers(more, lost) or (len(more) > _MIN_OWN_SHARE * len(words) and len(lost) > _MIN_OWN_SHARE * len(known)):
            kept.append(form)
            continue
        else:
            is_kept = _is_richer(form, more, lost, words, known)
        kept[-1] = form if is_kept else other
        if lost if is_kept else more:
            left_out.append(other if is_kept else form)
    return kept, left_out


def _have_numbers(*differences: set[str]) -> bool:
    """Return whether numbers differ, so that neither form says what the other does."""
    return all(any(sign.isdigit() for word in words for sign in word) for words in differences)


def _is_richer(form: str, more: set[str], lost: set[str], words: set[str], known: set[str]) -> bool:
    """Return whether a form has more words than the one before it, or tables and nearly all of its words."""
    has_table = " | " in form and len(lost) <= _MAX_LOST_SHARE * len(known)
    return has_table or (len(more) > _MAX_LOST_SHARE * len(words) and len(more) > len(lost))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(_ADDRESS.sub(" ", text))}


def _is_stub(text: str) -> bool:
    """Return whether a text only says that there is another form of it."""
    words = _ADDRESS.sub(" ", text).split()
    return not words or (len(words) <= _MAX_STUB_WORDS and bool(_STUB.search(" ".join(words))))


READER = FormatReader(read_eml, {"lxml.html": "lxml"}, in_parts=True, contains_files=True)
