"""Legal boilerplate: the notice that a document carries, not a document about a licence."""

import re

from ramify.tools.documents.words import word_count

_OWNER = re.compile(r"copyright|©|\(c\) ?\d{4}", re.IGNORECASE)
_TERMS = re.compile(
    r"permission (?:is|to|notice)|all rights reserved|warrant(?:y|ies)|licen[sc]ed? (?:under|to)|redistribut|without modification|"
    r"terms of the|trademarks? of",
    re.IGNORECASE,
)
_LEAST, _MOST = 40, 600
"""Words of a notice: fewer just name the licence, which a person may ask for; more are the licence."""
_DENSITY = 25
"""A notice has a legal phrase in so many words."""
_SHARE = 0.1
"""A notice is at most this part of its file."""


def is_notice(text: str, file_words: int) -> bool:
    """Tell whether a text is the legal notice of a file with so many words."""
    words = word_count(text)
    if not _LEAST <= words <= min(_MOST, _SHARE * file_words):
        return False
    owners, terms = len(_OWNER.findall(text)), len(_TERMS.findall(text))
    return owners >= 1 and terms >= 2 and (owners + terms) * _DENSITY >= words
