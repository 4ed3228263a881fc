"""Ids of documents and passages."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document


def stable_id(document: Document) -> str:
    """Return an id that the same text from the same source always gets."""
    content = f"{document.metadata.get('source', '')}\0{document.page_content}"
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]


def document_of(passage: str) -> str:
    """Return the id of the document that a passage's id belongs to: "guide~3" is a passage of "guide"."""
    return re.sub(r"~\d+$", "", passage)


def identified(document: Document) -> Document:
    """Return the document with an id: its own, else a stable one."""
    return document if document.id else document.model_copy(update={"id": stable_id(document)})


def documents_of(texts: Sequence[str], metadatas: Sequence[dict[str, Any]] | None, ids: Sequence[str | None] | None) -> list[Document]:
    """Give texts as documents, each with an id."""
    parts = zip(texts, metadatas or [{} for _ in texts], ids or [None for _ in texts], strict=True)
    return [identified(Document(text, id=identity, metadata=metadata)) for text, metadata, identity in parts]
