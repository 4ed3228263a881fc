"""Whether a question is in English, the one language that the embedded model reads."""

import re

from ramify.tools.extractive.text import word_set

_LATIN_END = 0x250
_LATIN_MORE = range(0x1E00, 0x1F00)
_QUOTED = 60
_WORD = re.compile(r"\b[^\W\d_]+\b")
_ENGLISH = word_set(
    "the of and is there what which who whom whose where when how why are were does did have had that this with from its it his her their "
    "between both than by be been can could would should will for to at not or"
)
_OTHERS = word_set(
    "wo wer wie wann warum welche welcher welches welchen wurde wird ist sind hat haben und oder nicht eine einer eines einem dem des das "
    "mit für auf aus über nach "  # German
    "où qui quand comment pourquoi quel quelle quels quelles est était fut née une dans avec sur pour qu ce cette ont "  # French
    "dónde donde quién quien cuándo cuando cómo cuál cual cuáles qué que es fue nació está una por "  # Spanish
    "dove chi quando perché perche quale quali è di della dello degli delle il nel nella sono stato nata "  # Italian
    "onde quem como qual quais é foi são uma dos não nasceu "  # Portuguese
    "waar wie wanneer hoe waarom welke het een zijn werd voor "  # Dutch
    "var vem när hur varför vilken vilket är och som föddes hvor hvem hvad hvornår hvorfor "  # Swedish, Danish, Norwegian
    "gdzie kto kiedy jak dlaczego który która jest się kde kdo kdy proč který "  # Polish, Czech
    "nerede kim nasıl neden hangi"  # Turkish
)
"""The small words that questions of other languages are made of; none of them is one of the English ones."""


def objection(question: str) -> str | None:
    """Say that a question cannot be read, and what to do; nothing where it can."""
    if reads(question):
        return None
    start = f"{question[:_QUOTED].rstrip()}…" if len(question) > _QUOTED else question
    what = f"{start!r} does not look like English, and the extractive model reads English only"
    return f"{what} — name a language model, such as ollama:llama3.1:8b"


def reads(question: str) -> bool:
    """Tell whether a question is in letters and small words that are English; names and key words alone may be of any language."""
    letters = [sign for sign in question if sign.isalpha()]
    latin = sum(ord(sign) < _LATIN_END or ord(sign) in _LATIN_MORE for sign in letters)
    words = _small_words(question)
    return 2 * latin >= len(letters) and len(words & _OTHERS) <= len(words & _ENGLISH)


def _small_words(question: str) -> frozenset[str]:
    """List the words that are not capitalised as names are, and the first, which always is."""
    words = _WORD.findall(question)
    return frozenset(word for word in [*(word.casefold() for word in words[:1]), *words] if word.islower())
