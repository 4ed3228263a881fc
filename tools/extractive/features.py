"""What speaks for a span as the answer of a question, as numbers from 0 to 1."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ramify.tools.extractive.countries import country_of
from ramify.tools.extractive.questions import Expected
from ramify.tools.extractive.spans import Candidate, candidates
from ramify.tools.extractive.text import Quote, bare_title, content, fold, sentences, stem
from ramify.tools.extractive.words import alike, covered

_ASKING = re.compile(
    r"^(?:(?:In|On|At|From|Into|To|By|For|Of|Through|With|Under) )?(?:Who|What|Which|When|Where|Why|How|Whose|"
    r"Whom|Is|Was|Are|Were|Did|Does|Do|Has|Have|Can)\b"
)
_PLACE_BEFORE = re.compile(
    r"\b(?:in|at|near|from|to|into|through|of|around|past|towards?)(?: the)?(?: (?:river|city|town|village|"
    r"state|county|port|island|region|[a-z]+))?(?: of)? $",
    re.I,
)
_PERSON_BEFORE = re.compile(
    r"\b(?:by|with|son|daughter|wife|husband|mother|father|brother|sister|director|composer|poet|actor|actress|"
    r"writer|physicist|chemist|king|queen|married|to|and|of)(?: the)?,? $",
    re.I,
)
_ORGANISATION = re.compile(
    r"\b(?:University|College|School|Institute|Company|Inc|Corporation|Prize|Award|Church|Museum|Orchestra|"
    r"Festival|Academy|League|Party|Foundation|War|Records|River|County|Palace)\b"
)


@dataclass(frozen=True)
class Asked:
    """A question taken apart: what it expects, the names in it, its other words."""

    text: str
    expected: Expected
    names: tuple[frozenset[str], ...]
    words: frozenset[str]

    @property
    def all_words(self) -> frozenset[str]:
        """Give the words of the names and the others."""
        return self.words.union(*self.names)


@dataclass(frozen=True)
class Where:
    """A sentence in its passage."""

    passage: Quote
    number: int
    sentence: str
    similarity: float
    position: int = 0


def ask(question: str, expected: Expected) -> Asked:
    """Take a question apart."""
    rest = _ASKING.sub(lambda match: match[0].casefold(), question)
    names = tuple(content(found.text) for found in candidates(rest.rstrip("? "), "name") if content(found.text))
    asking = (
        {stem(expected.noun)}
        if re.match(rf"(?:\w+ )?(?:which|what|whose) (?:[\w'-]+ )*?{re.escape(expected.noun)}\b", rest, re.I)
        else set()
    )
    return Asked(question, expected, names, content(question).difference(*names) - asking)


def subject(asked: Asked, passage: Quote) -> float:
    """Tell how far a passage is about what the question names."""
    title, extra = content(bare_title(passage["title"])), content(passage["title"])
    if not title or not asked.all_words:
        return 0.0
    share = len(title & asked.all_words) / len(title)
    if share < 1:
        return 0.5 * share if any(name <= title for name in asked.names) else 0.3 * share
    told_apart = extra - title
    return 1.0 if not told_apart or told_apart & content(asked.text) else 0.9


def named(asked: Asked, where: Where) -> float:
    """Tell which share of the question's names a sentence and its title hold."""
    return _share(asked.names, content(where.sentence) | content(where.passage["title"]))


def worded(asked: Asked, where: Where) -> float:
    """Tell which share of the question's other words a sentence holds, in these or like words."""
    if not asked.words:
        return 1.0
    return len(covered(asked.words, content(where.sentence))) / len(asked.words)


def rarities(asked: Asked, places: Sequence[Where]) -> dict[str, float]:
    """Give each word of the question a weight: the fewer sentences hold it, the more it tells."""
    texts = [content(place.sentence) for place in places]
    return {word: math.log(1 + len(texts) / (1 + sum(bool(alike(word) & text) for text in texts))) for word in asked.all_words}


def about(asked: Asked, where: Where, rarity: Mapping[str, float]) -> dict[str, float]:
    """Give what speaks for a sentence, whatever the span in it."""
    here = content(where.sentence) | content(where.passage["title"])
    there = content(where.passage["text"]) | content(where.passage["title"])
    total = sum(rarity.values())
    return {
        "subject": subject(asked, where.passage),
        "named": named(asked, where),
        "worded": worded(asked, where),
        "rare": sum(rarity[word] for word in covered(asked.all_words, here)) / total if total else 0.0,
        "similar": where.similarity,
        "named there": _share(asked.names, there),
        "rare there": sum(rarity[word] for word in covered(asked.all_words, there)) / total if total else 0.0,
        "first": float(where.position == 0),
    }


def with_distance(common: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """Add how far each sentence is behind the best in what only matters by comparison."""
    best = {name: max((features[name] for features in common), default=0.0) for name in ("subject", "rare", "similar")}
    return [features | {f"{name} behind": best[name] - features[name] for name in best} for features in common]


def _share(names: Sequence[frozenset[str]], words: frozenset[str]) -> float:
    return sum(len(name & words) / len(name) for name in names) / len(names) if names else 1.0


def near(asked: Asked, where: Where, candidate: Candidate) -> float:
    """Tell how near a span is to the question's words in its sentence."""
    distances = []
    for match in re.finditer(r"\w[\w'-]*", where.sentence):
        inside = candidate.start <= match.start() < candidate.start + len(candidate.text)
        if not inside and covered(asked.words, frozenset({stem(match[0])})):
            distances.append(min(abs(candidate.start - match.end()), abs(match.start() - candidate.start - len(candidate.text))))
    return 1 / (1 + min(distances) / 15) if distances else 0.0


def fits(expected: Expected, candidate: Candidate, where: Where, articles: dict[str, Quote]) -> float:
    """Tell how well a span has the kind that the question expects."""
    text, before = candidate.text, where.sentence[: candidate.start]
    article = articles.get(fold(text))
    opening = sentences(article["text"])[0] if article and article["text"].strip() else ""
    if expected.kind == "date":
        return 1.0 if expected.noun != "year" or re.fullmatch(r"\d{3,4}", text) else 0.6
    if expected.kind == "number":
        return 0.7
    if opening and expected.noun and _is_a(opening, expected.noun):
        return 1.0
    return _FITS.get(expected.kind, _fits_name)(expected, text, before, opening)


def _is_a(opening: str, noun: str) -> bool:
    found = re.search(r"\b(?:is|was|are|were) (?:an?|the|one)\b([^.]{0,80})", opening)
    return found is not None and stem(noun) in content(found[1])


def _fits_person(expected: Expected, text: str, before: str, opening: str) -> float:
    if opening:
        return 0.9 if re.search(r"\bborn\b|\([^)]*\d{4} ?[-–—]", opening) else 0.2
    if _ORGANISATION.search(text) or country_of(text):
        return 0.1
    by = 0.2 if _PERSON_BEFORE.search(before) else 0.0
    return (0.6 if " " in text else 0.3) + by - (0.3 if _PLACE_BEFORE.search(before) and not by else 0.0)


def _fits_place(expected: Expected, text: str, before: str, opening: str) -> float:
    if expected.noun in ("country", "nation"):
        return 1.0 if country_of(text) else 0.2
    if expected.noun and (expected.noun in text.casefold() or re.search(rf"\b{expected.noun}(?: of)? $", before)):
        return 1.0
    if opening and re.search(r"\bborn\b", opening):
        return 0.0
    return 0.7 if _PLACE_BEFORE.search(before) else 0.3


def _fits_title(expected: Expected, text: str, before: str, opening: str) -> float:
    return 0.7 if before.endswith(('"', "“")) or opening else 0.4


def _fits_name(expected: Expected, text: str, before: str, opening: str) -> float:
    if expected.noun in ("nationality", "language", "ethnicity"):
        return 1.0 if country_of(text) else 0.2
    return 1.0 if expected.noun and stem(expected.noun) in content(text) else 0.5


_FITS = {"person": _fits_person, "place": _fits_place, "title": _fits_title}
