"""The texts of a raw reading, and decoding them, without the readers' code."""

import re
from collections.abc import Iterator
from typing import NamedTuple

JOINT = "\u2060"
"""Between characters that may be read as one word or as two: a lowered digit, the parts of an equation, an uncertain gap."""
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16",
}  # fmt: skip


class RawText(NamedTuple):
    """A text in a file as its reader sees it, where it stands, and other forms in which it may be read (as "", if it need not be)."""

    text: str
    place: str = ""
    others: tuple[str, ...] = ()


def optional(text: str, place: str = "") -> RawText:
    """Return a text that may be read but need not be, such as the description of a picture."""
    return RawText("", place, (text,))


def decodings(content: bytes) -> list[str]:
    """Return the text of a file; in several encodings if it is neither UTF-8 nor marked nor declared."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            return [content.decode(encoding, "replace")]
    try:
        return [content.decode("utf-8")]
    except UnicodeDecodeError:
        return list(_guesses(content))


def _guesses(content: bytes) -> Iterator[str]:
    from charset_normalizer import from_bytes

    declared = _DECLARED.search(content[:2048])
    best = from_bytes(content).best()
    for encoding in (declared[1].decode("ascii") if declared else None, best.encoding if best else None, "cp1252"):
        try:
            if encoding:
                yield content.decode(encoding, "replace")
        except LookupError:
            continue
