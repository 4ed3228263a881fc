"""A record (a JSON object, a row of a table) as a `Document`."""

import json
from typing import Any

from langchain_core.documents import Document

_OURS = frozenset({"source", "path", "fragment", "fragments", "headings_within", "role", "also", "pages", "sheet"})
"""Metadata that the index says of every passage; a record has no say in it."""
_TEXT_FIELDS = ("text", "page_content", "content", "body")


def record_document(record: dict[str, Any], source: str, number: int, within: str = "") -> Document:
    """Turn a record into a document, keeping what it carries as metadata.

    The text is its `text` (or `page_content`, `content`, `body`), otherwise its fields, one `name: value` a line. Its `metadata` object and
    its other fields are kept; those that would say where the record lies are kept as `record_source`, `record_path` …, since `source` says
    that: `file#id`. Records `within` a part of a file (a sheet) are called by their place alone.
    """
    fields = {str(name): value for name, value in record.items()}
    identity = _clean(str(fields.pop("id", None) or fields.pop("_id", None) or ""))
    text_field = next((name for name in _TEXT_FIELDS if isinstance(fields.get(name), str)), None)
    text = fields.pop(text_field) if text_field else _as_lines(fields)
    nested = fields.pop("metadata", None)
    carried = {**(nested if isinstance(nested, dict) else {}), **(fields if text_field else {})}
    carried = {f"record_{name}" if name in _OURS else name: value for name, value in carried.items()}
    place = f"{source}#{within}{identity or number}"
    title = _clean(str(fields.get("title") or carried.get("title") or ""))
    return Document(_clean(text).strip(), id=place if within else identity or place, metadata={**carried, "source": place, "title": title})


def _as_lines(fields: dict[str, Any]) -> str:
    written = {name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for name, value in fields.items()}
    return "\n".join(f"{name}: {value}" for name, value in written.items() if value and value != "null")


def _clean(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON can write but UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()
