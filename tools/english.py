"""English words and names: stems, sentences, and the probability that a phrase names a person."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import as_file, files

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.embeddings.pretrained import MINILM
from ramify.tools.released_weights import verify_weights

WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")

_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670]")
"""Accents, and the points of Hebrew and Arabic vowels; the marks of other scripts tell letters apart."""


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """Return a text in lower case without accents and punctuation, for comparison."""
    bare = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))  # ガ is not カ
    return " ".join(WORD.findall(bare.casefold().replace("’s", "").replace("'s", "").replace(".", " ")))


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


ENGLISH_STOP_WORDS = word_set(
    "a an the of in on at to for from by with and or but as is was are were be been being am do does did has have had having it its he "
    "she his her him they them their this that these those there which who whom whose what when where why how than then so such not no "
    "nor if into about also both each other one some any all more most very can could will would shall should may might must s name "
    "called known i you we me my your out up off over under again once first second"
)
_MONTH_NAMES = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
MONTHS = {form: number for number, name in enumerate(_MONTH_NAMES, 1) for form in (name, name[:3])} | {"sept": 9}
"""The number of each month by its name and its abbreviations."""
_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS = {word: value for value, word in enumerate(_TO_NINETEEN.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), 2)
}
"""The value of each word for a number up to nineteen, and for the tens."""
_SENTENCE_END = re.compile(r"(?<=[.!?])([\"'”’)\]]*)\s+(?=[\"'“‘(\[]?[A-ZÀ-Þ0-9])|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Z]|\b(?:Dr|Mr|Mrs|Ms|St|Sr|Jr|No|vs|Prof|Gen|Col|Lt|Capt|Rev|Hon|Inc|Ltd|Co|Bros|c|ca|b|d|e\.g|i\.e|approx))\.$"
)
_SUFFIX = re.compile(r"(?:ational|ations|ation|ional|ings|ing|edly|ed|ors|or|ers|er|ions|ion|ies|es|s|ly|e|y)$")
UPPERCASE_LETTER = "[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪİĶĻŁŃŇŌŐŘŚŞŠŤŪŮŰŹŻŽ]"
"""A capital letter, as a regular expression."""
_CAPITALIZED = rf"\b[a-z\d]*{UPPERCASE_LETTER}[\w’'&./-]*"
_NAME = re.compile(rf"[\"“]([^\"”]{{2,60}})[\"”]|({_CAPITALIZED}(?:(?: (?:of|the|de|la|von|van))* (?:{_CAPITALIZED}|\d+\b))*)")


def spell_months(text: str) -> str:
    """Return a text with the abbreviations of months as names."""
    return re.sub(r"\b[A-Za-z]{3,4}\b", lambda word: _MONTH_NAMES[month - 1] if (month := MONTHS.get(word[0].lower())) else word[0], text)


def is_abbreviation(word: str) -> bool:
    """Return whether a word is an abbreviation with a full stop: Dr, Inc, a single capital letter."""
    return bool(_ABBREVIATION.fullmatch(f"{word.rstrip('.')}."))


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences."""
    parts: list[str] = []
    pieces = _SENTENCE_END.split(text)
    for piece, closing in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        part = piece + (closing or "")
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] += " " + part
        elif part.strip():
            parts.append(part.strip())
    return tuple(parts)


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return the stem of a word: the same for `directed` and `director`."""
    word = fold(word)
    cut = _SUFFIX.sub("", word)
    return cut if len(cut) >= 3 else word


@lru_cache(maxsize=16384)
def content_stems(text: str) -> frozenset[str]:
    """Return the stems of a text's content words."""
    return frozenset(count_stems(text))


def count_stems(text: str) -> Counter[str]:
    """Count the stems of a text's content words."""
    return Counter(stem(word) for word in fold(text).split() if word not in ENGLISH_STOP_WORDS)


def same_question(one: str, other: str) -> bool:
    """Return whether two questions are equal apart from case and punctuation."""
    return fold(one) == fold(other)


def strip_disambiguation(title: str) -> str:
    """Return a title without its disambiguation in parentheses: `Solaris (1972 film)` gives `Solaris`."""
    return re.sub(r"(?<!\s)\s*+\([^()]*+\)\s*+$", "", title).strip()


def find_names(question: str) -> list[str]:
    """Return the names in a question: quoted phrases and capitalised words; a stop word at the beginning is ignored."""
    first, _, rest = question.partition(" ")
    text = rest if fold(first) in ENGLISH_STOP_WORDS else question
    names = [(quoted or name).strip(" ,.;:?'’\"") for quoted, name in _NAME.findall(text)]
    bare = [re.sub(r"['’]s$", "", name) for name in names]
    return [name for name in dict.fromkeys(bare) if content_stems(name)]


PERSON_WEIGHTS_FILE = "persons.safetensors"
PERSON_WEIGHTS_SHA256 = "0b3aedb58060efcf57e9cd17898845bce02a5fd2d2181ffd4e0e0846b457779b"
_MAX_NAME_WORDS = 4
"""Longer answers are sentences, not names."""
MIN_PERSON_PROBABILITY = 0.5
"""Phrases with at least this probability are treated as persons."""
_SENTENCE_WORDS = ENGLISH_STOP_WORDS - word_set("the of a an for in at and or no s")
_PRONOUN = re.compile(r"\b(?:he|him|himself|his|she|her|herself|hers)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?:his|hers)\b|her(?= \w)(?! (?:and|at|be|by|do|for|from|in|of|on|or|than|to|when|with)\b)", re.IGNORECASE)
_WHO = re.compile(
    r"(?:(?:and|but|so) )?(?:who|whom)\b *(?:(?:is|was|are|were|'s)\b *(?P<described>(?:the|an?|our|my|your|their|its|this)\b.+))?",
    re.IGNORECASE,
)
_MIN_NAME_PROBABILITY = 0.35
_ARTICLES = ("the ", "a ", "an ", "our ", "my ", "your ")
_HEAD_END = re.compile(r" (?:of|at|for|in|from|with|on) ")
_DESCRIPTION = re.compile(
    r"(?P<before>\b(?:is|are|was|were|do|does|did|has|have|had|can|will|would) )?"
    rf"\b(?P<phrase>(?:the|an?|our|my|your) (?:(?:of|at) (?:the |an? )?)?(?!(?:{'|'.join(sorted(ENGLISH_STOP_WORDS))})\b)[\w’'&.-]+"
    rf"(?: (?:(?:of|at) (?:the |an? )?)?(?!(?:{'|'.join(sorted(ENGLISH_STOP_WORDS))})\b)[\w’'&-]+)*)",
    re.IGNORECASE,
)
_REMEDY = "reinstall ramify"


def person_probabilities(phrases: Sequence[str]) -> list[float]:
    """Return for each phrase the probability, in [0, 1], that it names a person. Blocking; ModelError if the weights were changed."""
    import numpy as np

    if not phrases:
        return []
    weights, bias = _weights()
    scores = load_encoder(MINILM).encode_documents(list(phrases)) @ weights + bias
    return [float(score) for score in 1 / (1 + np.exp(-scores))]


@lru_cache(maxsize=1)
def _weights() -> tuple[Matrix, float]:
    from safetensors.numpy import load_file

    with as_file(files(__package__) / PERSON_WEIGHTS_FILE) as path:
        packed = load_file(verify_weights(path, PERSON_WEIGHTS_SHA256, "the classifier of persons", _REMEDY))
    return packed["weight"], float(packed["bias"][0])


def likeliest_person(phrases: Sequence[str]) -> str | None:
    """Return the phrase that most likely names a person; None if no probability reaches MIN_PERSON_PROBABILITY. Blocking."""
    ranked = sorted(zip(person_probabilities(phrases), phrases, strict=True), key=lambda item: -item[0])
    return ranked[0][1] if ranked and ranked[0][0] >= MIN_PERSON_PROBABILITY else None


def are_persons(phrases: Sequence[str]) -> list[bool]:
    """Return for each phrase whether it names or describes a person; of "the head of sales", "the head" may tell. Blocking.

    A name of several words needs less probability, and what has a number is no person.
    """
    heads = [_HEAD_END.split(phrase, maxsplit=1)[0] if phrase.lower().startswith(_ARTICLES) else phrase for phrase in phrases]
    probabilities = map(max, person_probabilities(phrases), person_probabilities(heads))
    return [
        probability >= (_MIN_NAME_PROBABILITY if len(phrase.split()) > 1 and phrase.istitle() else MIN_PERSON_PROBABILITY)
        and not any(sign.isdigit() for sign in phrase)
        for probability, phrase in zip(probabilities, phrases, strict=True)
    ]


def descriptions(question: str) -> list[str]:
    """List what a question describes with an article: of "Where was the inventor of the saxophone born?" first without the verb."""
    phrases = []
    for match in _DESCRIPTION.finditer(question):
        words = match["phrase"].split()
        if not words[1].islower():  # a name
            continue
        if match["before"] and len(words) > 2 and words[-1].islower() and words[-2].lower() not in ENGLISH_STOP_WORDS:
            phrases.append(" ".join(words[:-1]))
        phrases.append(" ".join(words))
    return phrases


def person_asked_for(question: str) -> str | None:
    """Return how a who-question describes the person it asks for ("the head of sales"), "" if it does not; None for other questions."""
    match = _WHO.match(question.strip())
    return None if match is None else (match["described"] or "").rstrip(" ?.!")


def person_named_by(answer: str) -> str | None:
    """Return the person named by an answer to a who-question: a short answer whole, of a sentence its likeliest name. Blocking."""
    names, words = find_names(answer), fold(answer).split()
    if len(answer.split()) <= _MAX_NAME_WORDS and not (names and set(words) & _SENTENCE_WORDS):
        return answer.rstrip(" .")
    return likeliest_person(names) or (names[0] if len(names) == 1 else None)


def has_pronoun(question: str) -> bool:
    """Return whether a question contains a pronoun for a person."""
    return _PRONOUN.search(question) is not None


def unresolved_pronoun(question: str) -> str | None:
    """Return a pronoun whose person the question itself does not name, None if there is none. Blocking."""
    if (match := _PRONOUN.search(question)) is None:
        return None
    before = question[: match.start()]
    topic = _topic(before)
    of_itself = bool(topic) and _WHO.match(question) is not None  # "Who lost his hat?"
    is_described = any(are_persons([phrase for phrase in descriptions(before) if " of " in phrase]))
    return None if of_itself or is_described or likeliest_person([*find_names(question), *topic]) else match[0]


def _topic(question: str) -> list[str]:
    """Return the question from its first content word on, with the article before it, as a list of one; empty if it has no content word."""
    words = question.split()
    first = next((number for number, word in enumerate(words) if fold(word) not in ENGLISH_STOP_WORDS), len(words))
    while 0 < first < len(words) and words[first - 1].lower() in ("the", "a", "an", "which"):
        first -= 1
    topic = " ".join(words[first:]).rstrip(" ?.!")
    return [topic] if topic else []


def replace_pronouns(question: str, person: str) -> str:
    """Return the question with its pronouns for a person replaced by the person."""

    def put(match: re.Match[str]) -> str:
        return f"{person}'s" if _POSSESSIVE.match(question, match.start()) else person

    return _PRONOUN.sub(put, question)


def added_words(question: str, rewritten: str) -> str:
    """Return the content words that a rewritten question has in addition: the person that its pronoun was resolved to."""
    there = {fold(word) for word in question.split()}
    words = [re.sub(r"['’]s?$", "", word.strip(" ?.!,")) for word in rewritten.split()]
    return " ".join(word for word in words if fold(word) not in ENGLISH_STOP_WORDS | there)
