"""What speaks for a span as the answer of a question, as numbers from 0 to 1."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ramify.tools.extractive.questions import Expected, is_type
from ramify.tools.extractive.spans import Candidate, candidates
from ramify.tools.extractive.text import Quote, bare_title, content, stem
from ramify.tools.extractive.words import alike, covered

_ASKING = re.compile(
    r"^(?:(?:In|On|At|From|Into|To|By|For|Of|Through|With|Under) )?(?:Who|What|Which|When|Where|Why|How|Whose|"
    r"Whom|Is|Was|Are|Were|Did|Does|Do|Has|Have|Can)\b"
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
    typed = is_type(expected.noun) or re.match(rf"(?:\w+ )?(?:which|what|whose) (?:[\w'-]+ )*?{re.escape(expected.noun)}\b", rest, re.I)
    asking = {stem(expected.noun)} if expected.noun and typed else set()
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
