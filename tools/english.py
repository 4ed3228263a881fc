"""English words and names: unknown answers, quotation, and the likelihood that a name is a person's."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import as_file, files

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.embeddings.pretrained import MINILM
from ramify.tools.released_weights import intact

WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """Return a text in lower case without accents and punctuation, for comparison."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return " ".join(WORD.findall(bare.casefold().replace("’s", "").replace("'s", "").replace(".", " ")))


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


STOP = word_set(
    "a an the of in on at to for from by with and or but as is was are were be been being am do does did has have had having it its he "
    "she his her him they them their this that these those there which who whom whose what when where why how than then so such not no "
    "nor if into about also both each other one some any all more most very can could will would shall should may might must s name "
    "called known i you we me my your out up off over under again once first second"
)
_ENDS = re.compile(r"(?<=[.!?])([\"'”’)\]]*)\s+(?=[\"'“‘(\[]?[A-ZÀ-Þ0-9])|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Z]|\b(?:Dr|Mr|Mrs|Ms|St|Sr|Jr|No|vs|Prof|Gen|Col|Lt|Capt|Rev|Hon|Inc|Ltd|Co|Bros|c|ca|b|d|e\.g|i\.e|approx))\.$"
)
_SUFFIX = re.compile(r"(?:ational|ations|ation|ional|ings|ing|edly|ed|ors|or|ers|er|ions|ion|ies|es|s|ly|e|y)$")
UPPER = "[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪİĶĻŁŃŇŌŐŘŚŞŠŤŪŮŰŹŻŽ]"
"""A capital letter, as a regular expression."""
_CAPITAL = rf"{UPPER}[\w’'&./-]*"
_NAME = re.compile(rf"[\"“]([^\"”]{{2,60}})[\"”]|({_CAPITAL}(?:(?: (?:of|the|de|la|von|van))* (?:{_CAPITAL}|\d+\b))*)")


def abbreviates(word: str) -> bool:
    """Return whether a word is abbreviated with a full stop: Dr, Inc, a single capital."""
    return bool(_ABBREVIATION.fullmatch(f"{word.rstrip('.')}."))


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences."""
    parts: list[str] = []
    pieces = _ENDS.split(text)
    for piece, closing in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        part = piece + (closing or "")
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] += " " + part
        elif part.strip():
            parts.append(part.strip())
    return tuple(parts)


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Cut the ending off a word, so that `directed` and `director` meet."""
    word = fold(word)
    cut = _SUFFIX.sub("", word)
    return cut if len(cut) >= 3 else word


@lru_cache(maxsize=16384)
def content(text: str) -> frozenset[str]:
    """Return the stems of a text's content words."""
    return frozenset(stem(word) for word in fold(text).split() if word not in STOP)


def same_question(one: str, other: str) -> bool:
    """Return whether two questions are equal apart from case and punctuation."""
    return fold(one) == fold(other)


def bare_title(title: str) -> str:
    """Drop what tells two articles of one name apart: `Solaris (1972 film)` is Solaris."""
    return re.sub(r"\s*\([^)]*\)\s*$", "", title).strip()


def holds(text: str, name: str) -> bool:
    """Return whether a text contains a name, as whole words."""
    return bool(fold(name)) and f" {fold(name)} " in f" {fold(text)} "


def names_in(question: str) -> list[str]:
    """Return the names in a question: what is quoted, and capitalised words, without its first word if that is a stop word."""
    first, _, rest = question.partition(" ")
    text = rest if fold(first) in STOP else question
    found = [(quoted or name).strip(" ,.;:?'’\"") for quoted, name in _NAME.findall(text)]
    bare = [re.sub(r"['’]s$", "", name) for name in found]
    return [name for name in dict.fromkeys(bare) if content(name)]


def unnamed(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return the first two names that none of the texts contains."""
    return [name for name in names if not any(holds(text, name) for text in texts)][:2]


UNKNOWN = "Unknown"

_DOCUMENTS = r"(?:passages?|documents?|texts?|articles?|sources?|contexts?|excerpts?|evidence|findings|information|corpus|question)"
_THE = r"(?:(?:any|all|none|of|the|these|those|this|given|provided|available|retrieved|above|supplied|search) )*"
_THEY = rf"{_THE}{_DOCUMENTS}"
_WITHIN = rf"(?: (?:in|by|from|within|based on|according to) {_THEY}(?: (?:provided|given|above|alone))?)?"
_PLAINLY = r"(?:(?:explicitly|directly|clearly|specifically) )?"
_TOLD = (
    r"(?:mentioned|specified|stated|given|provided|found|known|available|indicated|disclosed|reported|listed|included|described|discussed|"
    r"addressed|answered|determined|present|contained|clear|said|revealed|named|identified|applicable)"
)
_SAY = r"(?:say|state|mention|specify|tell|indicate|answer|reveal|disclose|name|identify)s?"
_HOLD = r"(?:contain|provide|give|include|have|offer)s?"
_NONE = r"(?:insufficient|not enough|no|no relevant|no sufficient|no specific)"
_MATTER = r"(?:answers?|information|details?|evidence|data|facts?|context|mention)"
_TAIL = r"(?:(?: (?!but\b|however\b|though\b|although\b|yet\b))[^\s;]+)*"
"""What may follow, unless it takes back what was said."""
_ON = rf"(?: (?:to|about|on|regarding|for|as to|of){_TAIL})?"

_WAYS = (
    r"|(?:(?:it|this|that|the answer) is )?(?:unknown|unspecified|undetermined|unanswerable)|n/a",
    rf"(?:there (?:is|was) )?{_NONE} {_MATTER}(?: (?:is|was|are|were))?(?: {_TOLD})?(?:{_WITHIN}|{_ON}{_WITHIN})",
    rf"none (?:is )?{_TOLD}{_WITHIN}",
    rf"(?:(?:it|this|that|(?:the )?answer|{_THEY}) )?(?:is |was |are )?not {_PLAINLY}{_TOLD}{_WITHIN}",
    rf"{_THEY} (?:do|does|did)(?: not|n't) {_PLAINLY}{_SAY}{_TAIL}",
    rf"none of {_THEY} {_SAY}{_TAIL}",
    rf"{_THEY} (?:do|does|did)(?: not|n't) {_PLAINLY}{_HOLD} (?:(?:the|any|an|enough|sufficient|relevant|specific|such) )*{_MATTER}{_TAIL}",
    rf"(?:(?:it|this|that|(?:the |this )?(?:answer|question)) )?(?:can ?not|can't|could not|couldn't) be {_PLAINLY}{_TOLD}{_WITHIN}",
    rf"(?:i )?(?:do not|don't) know(?: {_MATTER}| the answer)?",
    r"(?:i )?(?:do not|don't) have (?:(?:any|enough|sufficient) )?" + _MATTER + _TAIL,
    rf"(?:(?:i am |i'm )?unable to|i (?:can ?not|can't|could not|couldn't)) (?:answer|determine|find|say|tell|identify)"
    rf"(?: (?:the|this|that|it|who|what|when|where|which|how|whether|from|based){_TAIL})?",
)
_SAYS_SO = re.compile("|".join(f"(?:{way})" for way in _WAYS))
_PARTS = re.compile(r"[.,;:()\[\]]+(?:\s|$)|\s[(\[]|\s[-–—]+\s")


def is_unknown(answer: str) -> bool:
    """Return whether an answer as a whole says that it is not known, unlike a name that contains such words."""
    text = " ".join(answer.casefold().replace("’", "'").split())
    parts = [part.strip(" .!") for part in _PARTS.split(text)]
    return bool(_SAYS_SO.fullmatch(text.strip(" .!"))) or all(map(_SAYS_SO.fullmatch, parts))


FILE = "persons.safetensors"
SHA256 = "0b3aedb58060efcf57e9cd17898845bce02a5fd2d2181ffd4e0e0846b457779b"
_SHORT = 4
"""Words of an answer that is a name and no sentence."""
LIKELY = 0.5
"""From this probability on, words are taken to name a person."""
_PRONOUN = re.compile(r"\b(?:he|him|himself|his|she|her|herself|hers)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?:his|hers)\b|her(?= \w)(?! (?:and|at|be|by|do|for|from|in|of|on|or|than|to|when|with)\b)", re.IGNORECASE)
_WHO = re.compile(
    r"(?:(?:and|but|so) )?(?:who|whom)\b *(?:(?:is|was|are|were|'s)\b *(?P<described>(?:the|an?|our|my|your|their|its|this)\b.+))?",
    re.IGNORECASE,
)
_REMEDY = "reinstall ramify"


def probabilities(phrases: Sequence[str]) -> list[float]:
    """Return how likely each phrase names a person. Blocking; ModelError where the weights are not those that were released."""
    import numpy as np

    if not phrases:
        return []
    weights, bias = _weights()
    scores = load_encoder(MINILM).encode_documents(list(phrases)) @ weights + bias
    return [float(score) for score in 1 / (1 + np.exp(-scores))]


@lru_cache(maxsize=1)
def _weights() -> tuple[Matrix, float]:
    from safetensors.numpy import load_file

    with as_file(files(__package__) / FILE) as path:
        packed = load_file(intact(path, SHA256, "the classifier of persons", _REMEDY))
    return packed["weight"], float(packed["bias"][0])


def likeliest(phrases: Sequence[str]) -> str | None:
    """Return the phrase that most likely names a person; None where none rather does than not. Blocking."""
    ranked = sorted(zip(probabilities(phrases), phrases, strict=True), key=lambda item: -item[0])
    return ranked[0][1] if ranked and ranked[0][0] >= LIKELY else None


def asked_for(question: str) -> str | None:
    """Return whom a who-question asks for, as it describes them: "the head of sales", "" where it does not; None for any other question."""
    found = _WHO.match(question.strip())
    return None if found is None else (found["described"] or "").rstrip(" ?.!")


def named_by(answer: str) -> str | None:
    """Return the person that an answer to a who-question names: all of a short one, else the likeliest of its names. Blocking."""
    return answer if len(answer.split()) <= _SHORT else likeliest(names_in(answer))


def has_pronoun(question: str) -> bool:
    """Return whether a question has a pronoun for a person, whomever it means."""
    return _PRONOUN.search(question) is not None


def about_a_person(question: str) -> bool:
    """Return whether a question names or describes a person: "Where was the inventor of the saxophone born?". Blocking."""
    return likeliest([*names_in(question), *_topic(question)]) is not None


def pronoun(question: str) -> str | None:
    """Return the pronoun for a person whom the question itself does not name; None where there is none. Blocking."""
    if (found := _PRONOUN.search(question)) is None:
        return None
    topic = _topic(question[: found.start()])
    of_itself = bool(topic) and _WHO.match(question) is not None  # "Who lost his hat?"
    return None if of_itself or likeliest([*names_in(question), *topic]) else found[0]


def _topic(question: str) -> list[str]:
    """Return a question from its first content word on, with the article before it; empty if it has none."""
    words = question.split()
    first = next((number for number, word in enumerate(words) if fold(word) not in STOP), len(words))
    while 0 < first < len(words) and words[first - 1].lower() in ("the", "a", "an", "which"):
        first -= 1
    topic = " ".join(words[first:]).rstrip(" ?.!")
    return [topic] if topic else []


def with_person(question: str, person: str) -> str:
    """Return the question with its pronouns for a person replaced by the person."""

    def put(found: re.Match[str]) -> str:
        return f"{person}'s" if _POSSESSIVE.match(question, found.start()) else person

    return _PRONOUN.sub(put, question)


def added(question: str, rewritten: str) -> str:
    """Return the words that carry meaning and stand in a rewritten question only: what its pronoun was taken to mean."""
    there = {fold(word) for word in question.split()}
    words = [re.sub(r"['’]s?$", "", word.strip(" ?.!,")) for word in rewritten.split()]
    return " ".join(word for word in words if fold(word) not in STOP | there)
