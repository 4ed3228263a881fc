"""Mails (eml), by Python's own library: plain text before HTML, attachments named."""

import io
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from pathlib import Path

from langchain_core.documents import Document

from ramify.tools.documents.encoding import decoded, encoding_of
from ramify.tools.documents.html import html_outline
from ramify.tools.documents.reader import Told
from ramify.tools.documents.text import content_of, stem

_SHOWN = ("From", "To", "Cc", "Date", "Subject")


def read_eml(path: Path, source: str, told: Told) -> Iterator[Document]:
    """Read a mail as one document: who wrote it to whom and when, what it says, and the names of what is attached."""
    message = BytesParser(EmailMessage, policy=policy.default).parse(io.BytesIO(content_of(path)))
    head = [f"{name}: {' '.join(str(message[name]).split())}" for name in _SHOWN if message[name]]
    body = message.get_body(("plain", "html"))
    said = _said(body, source, told).strip() if body is not None else ""
    attached = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()] if message.is_multipart() else []
    for name in attached:
        told.remark(source, f"attachment {name!r} not read")
    parts = ["\n".join(head), said, f"Attachments: {', '.join(attached)}" if attached else ""]
    title = " ".join(str(message["Subject"] or "").split()) or stem(path)
    yield Document("\n\n".join(part for part in parts if part), id=source, metadata={"source": source, "title": title})


def _said(body: MIMEPart, source: str, told: Told) -> str:
    try:
        text = str(body.get_content())
    except LookupError:  # an encoding that does not exist
        content = body.get_payload(decode=True)
        content = content if isinstance(content, bytes) else b""
        text = decoded(content, encoding_of(content, source, told))
    if body.get_content_subtype() != "html":
        return text.replace("\r\n", "\n")
    return "\n\n".join("\n".join((*section.headings[-1:], section.text)) for section in html_outline(text).sections)
