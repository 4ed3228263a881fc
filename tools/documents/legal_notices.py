"""Legal boilerplate: the notice that a document carries, not a document about a licence."""

import re

from ramify.tools.documents.sections import word_count

_OWNER = re.compile(r"copyright|©|\(c\) ?\d{4}", re.IGNORECASE)
_TERMS = re.compile(
    r"permission (?:is|to|notice)|all rights reserved|warrant(?:y|ies)|licen[sc]ed? (?:under|to)|redistribut|without modification|"
    r"terms of the|trademarks? of",
    re.IGNORECASE,
)
_LEAST, _MOST = 40, 600
"""Words of a notice: fewer just name the licence, which a person may ask for; more are the licence."""
_BEGINNING = 0.25
"""A notice begins with whose it is; a title page has that at its foot."""
_DENSITY = 25
"""A notice has a legal phrase in so many words."""


def is_notice(text: str) -> bool:
    """Tell whether a text is a legal notice."""
    words = word_count(text)
    if not _LEAST <= words <= _MOST:
        return False
    owner = _OWNER.search(text)
    owners, terms = len(_OWNER.findall(text)), len(_TERMS.findall(text))
    return owner is not None and owner.start() <= _BEGINNING * len(text) and terms >= 2 and (owners + terms) * _DENSITY >= words
