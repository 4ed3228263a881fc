"""Persons: whether words name one, and which pronoun of a question stands for one who was named before it.

A linear classifier over the packaged encoder's vectors, trained by `training/persons.py`; English.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import as_file, files

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.embeddings.sentence_encoder import MINILM
from ramify.tools.english import STOP, fold, names_in
from ramify.tools.released_weights import intact

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
