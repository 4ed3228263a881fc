"""Decide by rules whether a question asks for two things, and which."""

import re
from collections.abc import Sequence

from ramify.tools.extractive.bridges import bridge
from ramify.tools.extractive.claims import claim
from ramify.tools.extractive.ordering import ordering
from ramify.tools.extractive.pairs import pair
from ramify.tools.extractive.split import Split
from ramify.tools.extractive.text import same_question

_SOURCES = re.compile(
    r",?\s+(?:as (?:reported|covered|mentioned|discussed|noted|described) (?:by|in)|according to)(?: (?:articles?|"
    r"reports?) (?:from|by|in))?(?: both)? "
    r"(?P<one>[A-Z'\"][^,?]*?) and (?P<other>[A-Z'\"][^,?]*?)(?=[,?]|$)"
)
_CLAUSES = re.compile(
    r"^(?P<ask>(?:who|which [\w' -]+?|what [\w' -]+?)\s+(?=(?:is|was|has|had|have|runs?|provides?|owns?|won|"
    r"made|wrote|played|did|does|that|who|not only)\b))"
    r"(?:not only\s+)?(?P<one>.{12,}?),?\s+(?:and|but)\s+(?P<other>(?:is |was )?(?:also\s+)?(?:is|was|has|"
    r"had|have|runs?|provides?|owns?|won|made|wrote|played|whose)\b.{8,})$",
    re.I,
)


def decompose(question: str, dependent: bool = True, rejected: Sequence[str] = ()) -> Split | None:
    """Split a question in two; None where it is simple, or where its only pair was tried before."""
    split = ordering(question) or claim(question) or pair(question) or conjunction(question) or bridge(question)
    if split is None or (split.dependent and not dependent):
        return None
    if same_question(split.first, question) or same_question(split.second, question):
        return None
    return None if _tried(split, rejected) else split


def conjunction(question: str) -> Split | None:
    """Split `Who is A, and is also B, as reported by P and Q?` into one question a claim."""
    text = " ".join(question.split()).rstrip("? ")
    sources = _SOURCES.search(text)
    body = text[: sources.start()] + text[sources.end() :] if sources else text
    found = _CLAUSES.match(body)
    if found is None or not (sources or re.search(r"\balso\b|\bnot only\b", body, re.I)):
        return None
    ask = found["ask"].strip().rstrip(",")
    told = [f" according to {sources[name].strip()}" for name in ("one", "other")] if sources else ["", ""]
    other = re.sub(r"^(is |was )?also\s+", lambda match: match[1] or "", found["other"])
    return Split(f"{ask} {found['one']}{told[0]}?", f"{ask} {other}{told[1]}?", "agree")


def _tried(split: Split, rejected: Sequence[str]) -> bool:
    """Tell whether both questions stand in the same rejected pair, however that is written."""
    return any(split.first.rstrip("?") in text and split.second.rstrip("?") in text for text in map(str, rejected))
