"""Find a quote in a text, whatever became of spaces, hyphens, quotation marks, ligatures and tables on the way."""

import math
import unicodedata
from functools import cache
from pathlib import Path

MIN_SHARE = 0.8
"""A quote that a passage's border cuts counts where so much of its words stand in the passage in a row."""
_HYPHENS = "\ufffe\u00ad"
"""What pdfium and html leave where a word is divided."""


@cache
def normalize_text(text: str) -> str:
    """Return a text's letters and digits alone, in lower case: what every way of extracting it agrees on."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def contains_quote(text: str, quote: str) -> bool:
    """Return whether a passage holds a quote, or enough consecutive words of it."""
    inside, words = normalize_text(text), [word for word in map(normalize_text, quote.split()) if word]
    least = math.ceil(MIN_SHARE * len(words))
    return any("".join(words[start : start + least]) in inside for start in range(len(words) - least + 1))


def is_in_manual(text: str, quote: str) -> bool:
    """Return whether a quote is in a manual word for word; only spaces and divided words may differ."""
    return _solid(quote) in _solid(text)


@cache
def plain_text(path: Path) -> str:
    """Return a manual's text, read without Ramify's readers."""
    if path.suffix == ".pdf":
        import pypdfium2  # type: ignore[import-untyped]

        document = pypdfium2.PdfDocument(str(path))
        return "\n".join(page.get_textpage().get_text_range() for page in document)
    if path.suffix == ".html":
        from lxml import html

        return str(html.fromstring(path.read_bytes(), parser=html.HTMLParser(encoding="utf-8")).text_content())
    return path.read_text(encoding="utf-8")


@cache
def _solid(text: str) -> str:
    return "".join(character for character in text if not character.isspace() and character not in _HYPHENS)
