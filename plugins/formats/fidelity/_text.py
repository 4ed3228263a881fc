"""Raw texts, their joints, and those of plain texts and web pages."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

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


_JOINED_ELEMENTS = frozenset(
    ["sub", "sup", "del", "ins", "s", "strike", "rb", "rt", "ruby", "mi", "mn", "mo", "mtext", "msup", "msub", "mfrac", "msqrt", "wbr"]
)
"""Elements whose text may be read joined to what is beside it, or apart."""
_INLINE_ELEMENTS = frozenset(
    ["a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "dfn", "em", "font", "i", "kbd", "label", "mark", "math",
     "mrow", "nobr", "q", "samp", "semantics", "small", "span", "strong", "time", "tt", "u", "var"]
)  # fmt: skip
_UNSEEN_ELEMENTS = frozenset(["head", "script", "style", "template", "annotation", "annotation-xml", "rp"])
_FALLBACK_ELEMENTS = frozenset(["title", "noscript", "iframe", "object", "canvas", "audio", "video", "datalist", "option"])
"""Elements whose text a browser shows only in some cases."""
_DESCRIPTIONS = ("alt", "title", "value", "placeholder", "aria-label", "summary", "label")
_UNSEEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)

_REPEATED_EQUATION = re.compile(r"\bkatex-html\b")
"""The class of an equation's characters in their places, beside the equation itself."""


class _VisibleText:
    """A parser target that collects the texts that a browser shows, and those that it may show."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.fallback: list[str] = []
        self._open: list[list[str] | None] = [self.shown]
        """Of each open element, the list to which its text belongs; None if it is not visible."""
        self._equations = 0
        """Open `math` elements, whose spaces are not shown."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._separate(tag)
        self._equations += tag == "math"
        target = self._open[-1]
        if tag in _FALLBACK_ELEMENTS or _REPEATED_EQUATION.search(attributes.get("class", "")):
            target = self.fallback
        elif tag in _UNSEEN_ELEMENTS or "hidden" in attributes or _UNSEEN_STYLE.search(attributes.get("style", "")):
            target = None
        self._open.append(target)
        self.fallback += [f"\n{attributes[name]}\n" for name in _DESCRIPTIONS if name in attributes]

    def end(self, tag: str) -> None:
        if len(self._open) > 1:
            self._open.pop()
        self._equations -= tag == "math"
        self._separate(tag)

    def data(self, text: str) -> None:
        if (target := self._open[-1]) is not None:
            target.append(text.strip() if self._equations else text)

    def close(self) -> None:
        """End the page."""

    def _separate(self, tag: str) -> None:
        joint = JOINT if tag in _JOINED_ELEMENTS else "" if tag in _INLINE_ELEMENTS else "\n\n"
        for texts in (self.shown, self.fallback) if joint else ():
            texts.append(joint)


def visible_texts(text: str) -> Iterator[RawText]:
    """Yield the blocks of text that a browser shows of a page; descriptions of pictures and the like need not be read."""
    target = _VisibleText()
    content = re.sub(r"^\s*<\?xml[^>]*\?>", "", text).encode("utf-8", "replace")
    if content.strip():
        etree.fromstring(content, etree.HTMLParser(encoding="utf-8", huge_tree=True, target=target))
    blocks = (re.sub(rf"\s*{JOINT}\s*(?=\s)|(?<=\s){JOINT}", " ", block) for block in re.split(r"\n\n", "".join(target.shown)))
    yield from (RawText(block) for block in blocks if block.strip())
    yield optional("".join(target.fallback))
