"""Digests of texts and documents, and metadata as JSON."""

import hashlib
import json
from typing import Any

from langchain_core.documents import Document


def text_digest(text: str) -> bytes:
    """Return the digest that a text's vector is kept under."""
    return hashlib.sha256(text.encode()).digest()


def document_digest(document: Document) -> bytes:
    """Return a digest that changes with a document's text or metadata."""
    content = [document.page_content, document.metadata]
    return text_digest(json.dumps(content, sort_keys=True, default=str))


def metadata_json(metadata: dict[str, Any]) -> str:
    """Write metadata as JSON; what JSON has no form for becomes text, what is no number becomes null."""
    try:
        return json.dumps(metadata, default=str, allow_nan=False)
    except ValueError:
        finite = json.loads(json.dumps(metadata, default=str), parse_constant=lambda _: None)
        return json.dumps(finite)
