"""Mails (eml), by Python's own library: plain text before HTML, forwarded mails too, attachments named."""

import io
from collections.abc import Iterator
from email import policy
from email.headerregistry import HeaderRegistry
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from ramify.tools.documents._text import content_of, decoded, encoding_of, stem
from ramify.tools.documents.files import ReadReport

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_DEEPEST = 10
_LONGEST_HEADER = 10_000
_REGISTRY = HeaderRegistry()


def read_eml(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read a mail as one document: who wrote it to whom and when, what it says, and the names of what is attached."""
    message = BytesParser(EmailMessage, policy=policy.default.clone(header_factory=_header)).parse(io.BytesIO(content_of(path)))
    report.state(source, _properties(message))
    mail = _Mail(source, report)
    parts = [mail.head(message), *mail.texts(message)]
    for name in mail.attached:
        report.remark(source, f"attachment {name!r} not read")
    if mail.attached:
        parts.append(f"Attachments: {', '.join(mail.attached)}")
    title = _line(message, "Subject") or stem(path)
    yield Document("\n\n".join(part for part in parts if part), id=source, metadata={"source": source, "title": title})


def _header(name: str, value: str) -> Any:
    """Read a header as Python does, but for one made to harm: that takes the square of its length, or recurses."""
    try:
        return _REGISTRY(name, value[:_LONGEST_HEADER])
    except RecursionError:
        return _REGISTRY(name, "")


def _properties(message: MIMEPart) -> dict[str, Any]:
    """Return who wrote a mail, by name, and its addresses, day and subject."""
    people = {name: getattr(message[name], "addresses", ()) for name in ("From", "To", "Cc")}
    sent = getattr(message["Date"], "datetime", None)
    return {
        "author": [one.display_name or one.addr_spec for one in people["From"]],
        **{name.lower(): [one.addr_spec for one in listed] for name, listed in people.items()},
        "date": sent.date() if sent else "",
        "subject": _line(message, "Subject"),
    }


class _Mail:
    """Gather what a mail says, and the names of its attachments."""

    def __init__(self, source: str, report: ReadReport) -> None:
        self.attached: list[str] = []
        self._source = source
        self._told = report

    def head(self, message: MIMEPart) -> str:
        """Return who wrote to whom, when and about what."""
        return "\n".join(f"{name}: {line}" for name in _SHOWN if (line := _line(message, name)))

    def texts(self, part: MIMEPart, depth: int = 0) -> Iterator[str]:
        """Yield the text of a mail and of what is in it without being a file of its own."""
        if part.get_content_type() == "message/rfc822" and isinstance(forwarded := part.get_content(), MIMEPart):
            yield self.head(forwarded)
            yield from self.texts(forwarded, depth)
            return
        body = part.get_body(("plain", "html"))
        if body is not None:
            yield self._said(body).strip()
        for inner in part.iter_attachments() if part.is_multipart() else ():
            kind = inner.get_content_type()
            if inner.is_multipart() and depth < _DEEPEST:
                yield from self.texts(inner, depth + 1)
            elif kind == "text/plain" and not inner.get_filename():
                yield self._said(inner).strip()
            else:
                self.attached.append(inner.get_filename() or kind)

    def _said(self, body: MIMEPart) -> str:
        from ramify.tools.documents._html import html_outline

        try:
            text = str(body.get_content())
        except LookupError:  # an encoding that does not exist
            content = body.get_payload(decode=True)
            content = content if isinstance(content, bytes) else b""
            text = decoded(content, encoding_of(content, self._source, self._told))
        if body.get_content_subtype() != "html":
            return text.replace("\r\n", "\n")
        return "\n\n".join("\n".join((*section.headings[-1:], section.text)) for section in html_outline(text).sections)


def _line(message: MIMEPart, name: str) -> str:
    return " ".join(str(message[name] or "").split())
