"""What documents, passages and texts are known again by: ids, and digests of their content."""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document


def document_of(passage: str) -> str:
    """Return the id of the document that a passage's id belongs to: "guide~3" is a passage of "guide"."""
    return re.sub(r"~\d+$", "", passage)


def identified(document: Document) -> Document:
    """Return the document with an id: its own, else one that the same text from the same source always gets."""
    if document.id:
        return document
    content = f"{document.metadata.get('source', '')}\0{document.page_content}"
    return document.model_copy(update={"id": hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]})


def documents_of(texts: Sequence[str], metadatas: Sequence[dict[str, Any]] | None, ids: Sequence[str | None] | None) -> list[Document]:
    """Give texts as documents, each with an id."""
    parts = zip(texts, metadatas or [{} for _ in texts], ids or [None for _ in texts], strict=True)
    return [identified(Document(text, id=identity, metadata=metadata)) for text, metadata, identity in parts]


def text_digest(text: str) -> bytes:
    """Return the digest that a text's vector is kept under."""
    return hashlib.sha256(text.encode()).digest()


def document_digest(document: Document) -> bytes:
    """Return a digest that changes with a document's text or metadata."""
    content = [document.page_content, document.metadata]
    return text_digest(json.dumps(content, sort_keys=True, default=str))
