"""Read mails."""

import io
from collections.abc import Iterator
from email import policy
from email.headerregistry import HeaderRegistry
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from ramify.tools.documents._text import decode_text, detect_encoding, file_stem, read_unpacked
from ramify.tools.documents.files import ReadReport

_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MAX_MAIL_DEPTH = 10
_MAX_HEADER_CHARS = 10_000
_REGISTRY = HeaderRegistry()


def read_eml(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a mail as one document: its headers, its text and the names of its attachments."""
    message = BytesParser(EmailMessage, policy=policy.default.clone(header_factory=_parse_header)).parse(io.BytesIO(read_unpacked(path)))
    report.state(source, _mail_properties(message))
    attached: list[str] = []
    parts = [_header_lines(message), *_mail_texts(message, attached, source, report)]
    for name in attached:
        report.remark(source, f"attachment {name!r} not read")
    if attached:
        parts.append(f"Attachments: {', '.join(attached)}")
    title = _header_line(message, "Subject") or file_stem(path)
    yield Document("\n\n".join(part for part in parts if part), id=source, metadata={"source": source, "title": title})


def _parse_header(name: str, value: str) -> Any:
    """Parse a header with Python's parser, truncated since parsing may be quadratic; empty if the parser fails."""
    try:
        return _REGISTRY(name, value[:_MAX_HEADER_CHARS])
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return _REGISTRY(name, "")


def _mail_properties(message: MIMEPart) -> dict[str, Any]:
    """Return a mail's author, addresses, date and subject."""
    people = {name: getattr(message[name], "addresses", ()) for name in ("From", "To", "Cc")}
    sent = getattr(message["Date"], "datetime", None)
    return {
        "author": [one.display_name or one.addr_spec for one in people["From"]],
        **{name.lower(): [one.addr_spec for one in listed] for name, listed in people.items()},
        "date": sent.date() if sent else "",
        "subject": _header_line(message, "Subject"),
    }


def _header_lines(message: MIMEPart) -> str:
    """Return the main headers, one per line."""
    return "\n".join(f"{name}: {line}" for name in _SHOWN_HEADERS if (line := _header_line(message, name)))


def _header_line(message: MIMEPart, name: str) -> str:
    return " ".join(str(message[name] or "").split())


def _mail_texts(part: MIMEPart, attached: list[str], source: str, report: ReadReport, depth: int = 0) -> Iterator[str]:
    """Yield the texts of a mail and of mails within it; append the names of attached files to `attached`."""
    if part.get_content_type() == "message/rfc822" and isinstance(forwarded := part.get_content(), MIMEPart):
        yield _header_lines(forwarded)
        yield from _mail_texts(forwarded, attached, source, report, depth)
        return
    body = part.get_body(("plain", "html"))
    if body is not None:
        yield _body_text(body, source, report).strip()
    for inner in part.iter_attachments() if part.is_multipart() else ():
        kind = inner.get_content_type()
        if inner.is_multipart() and depth < _MAX_MAIL_DEPTH:
            yield from _mail_texts(inner, attached, source, report, depth + 1)
        elif kind == "text/plain" and not inner.get_filename():
            yield _body_text(inner, source, report).strip()
        else:
            attached.append(inner.get_filename() or kind)


def _body_text(body: MIMEPart, source: str, report: ReadReport) -> str:
    from ramify.tools.documents._html import html_outline

    try:
        text = str(body.get_content())
    except (LookupError, ValueError):  # an unknown or wrong encoding
        content = body.get_payload(decode=True)
        content = content if isinstance(content, bytes) else b""
        text = decode_text(content, detect_encoding(content, source, report))
    if body.get_content_subtype() != "html":
        return text.replace("\r\n", "\n")
    return "\n\n".join("\n".join((*section.headings[-1:], section.text)) for section in html_outline(text).sections)
