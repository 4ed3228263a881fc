"""Search along names: from the names of a question and of what comes nearest to it, to the passages that stand under a name, or mention it.

Personalised PageRank over names: mass starts at the names of the question and of the nearest passages, moves from a name to
the names mentioned under it, and is read off at the passages. What ends at a passage is weighed by its cosine to the question, ranked, and
fused with the ranking of the plain search by reciprocal rank. No model is called, and nothing is encoded.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.folded_text import fold
from ramify.tools.index.ids import document_of
from ramify.tools.knowledge.names import by_first_word, spans_of

_LONGEST_NAME = 8
"""Words of a name that is looked for in a question."""
_LEAST_MUTED = 10
"""Passages that may have a name in any corpus before it is muted."""
_LEAST_COSINE = 0.01
_DEPTH = 100
Numbers = NDArray[np.int64]
Mass = dict[int, float]
Cosines = Callable[[Sequence[int]], Matrix]


class WalkSearch(BaseModel):
    """How to search along names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seeds: int = Field(default=2, ge=0, le=20, description="Nearest passages whose names the walk starts from, beside the question's own.")
    hops: int = Field(default=1, ge=1, le=4, description="Steps from name to passage.")
    damping: float = Field(default=0.5, ge=0, le=1, description="Share of the mass that moves on at each step.")
    titles: float = Field(default=1.0, ge=0, description="Weight of passages that stand under a name, beside 1 for the plain ranking.")
    mentions: float = Field(default=0.25, ge=0, description="Weight of passages that mention a name.")
    muted: float = Field(default=0.01, gt=0, le=1, description="A name in more than this share of the passages leads nowhere.")
    under: int = Field(default=2, ge=1, description="A name that more passages than this stand under leads to none of them.")
    rrf_k: int = Field(default=10, ge=0, description="Constant of the reciprocal ranks.")


class _Lists:
    """Lists of numbers by number, one after another in an array."""

    def __init__(self, pairs: Numbers, size: int) -> None:
        ordered = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))] if len(pairs) else pairs
        self._values = ordered[:, 1]
        self._starts = np.searchsorted(ordered[:, 0], np.arange(size + 1))

    def of(self, number: int) -> list[int]:
        return [int(value) for value in self._values[self._starts[number] : self._starts[number + 1]]]

    def sizes(self) -> Numbers:
        return np.diff(self._starts)


class Walk:
    """The names of a finished index as they are walked along; immutable, so any thread may."""

    def __init__(self, path: Path, ids: Sequence[str]) -> None:
        """Read the names; ids: those of the passages, in order of their positions. A passage the graph does not know has no names."""
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            position = {id: place for place, id in enumerate(ids)}
            place_of = np.array(
                [position.get(id, -1) for (id,) in database.execute("SELECT id FROM passages ORDER BY number")], dtype=np.int64
            )
            names = int(database.execute("SELECT count(*) FROM names").fetchone()[0])
            mentions, titles = (_pairs(database, table, place_of) for table in ("mentions", "titles"))
            self._number_of: Mapping[str, int] = dict(database.execute("SELECT key, number FROM names"))
        self._documents = [document_of(id) for id in ids]
        self._titled, self._mentioned = _Lists(titles, names), _Lists(mentions, names)
        self._named = _Lists(self._leading_on(mentions, titles)[:, ::-1], len(ids))
        self._spread, self._entitled = self._mentioned.sizes(), self._titled.sizes()
        self._passages = max(1, len(ids))

    def _leading_on(self, mentions: Numbers, titles: Numbers) -> Numbers:
        """Leave out what a passage mentions and stands under itself: it leads nowhere, unless another document has the same title."""
        documents: dict[int, set[str]] = defaultdict(set)
        for name, passage in titles.tolist():
            documents[name].add(self._documents[passage])
        own = {(name, passage) for name, passage in titles.tolist() if len(documents[name]) == 1}
        kept = [pair for pair in mentions.tolist() if tuple(pair) not in own]
        return np.array(kept, dtype=np.int64).reshape(-1, 2)

    def steered(self, query: str, vector: Matrix, found: Mapping[int, float], vectors: Cosines, how: WalkSearch) -> list[int]:
        """Fuse the plain ranking of a query with those along names; the nearest passages, where the walk starts, stay in front."""
        order = list(found)

        def cosines(positions: Sequence[int]) -> Matrix:
            return vectors(positions) @ vector

        start = self._start(query, cosines, order, how)
        names = start
        for _ in range(how.hops - 1):
            names = _added(names, self._names_under(names, how), how.damping)
        under, with_name = self._under(names, how), self._passages_of(names, self._mentioned)
        if not under:  # where nothing stands under a name, a name in common tells less than what is found by words and vectors
            return order
        rankings = ((1.0, order), (how.titles, _ranked(under, cosines)), (how.mentions, _ranked(with_name, cosines)))
        return list(dict.fromkeys((*order[: how.seeds], *_fused(rankings, how.rrf_k))))

    def _start(self, query: str, cosines: Cosines, order: Sequence[int], how: WalkSearch) -> Mass:
        """Give half of the mass to the names of the question, half to those of the nearest passages."""
        own = _shares({name: self._telling(name, how) for name in self._names_in(query)})
        near: Mass = defaultdict(float)
        seeds = list(order[: how.seeds])
        weights = _shares(_weighed(dict.fromkeys(seeds, 1.0), cosines))
        for position, weight in weights.items():
            for name, share in _shares({name: self._telling(name, how) for name in self._named.of(position)}).items():
                near[name] += weight * share
        return _added(own, near, 1.0)

    def _names_in(self, query: str) -> list[int]:
        words = fold(query).split()
        spans = {" ".join(words[i : i + n]) for n in range(1, _LONGEST_NAME + 1) for i in range(len(words) - n + 1)}
        known = by_first_word(span for span in spans if span in self._number_of)
        return [self._number_of[key] for key in spans_of(" ".join(words), known)]

    def _telling(self, name: int, how: WalkSearch) -> float:
        """Weigh a name by how rare it is; one that is in too many passages leads nowhere."""
        spread = max(1, int(self._spread[name]))
        return 0.0 if spread > max(_LEAST_MUTED, how.muted * self._passages) else float(np.log(self._passages / spread))

    def _names_under(self, names: Mass, how: WalkSearch) -> Mass:
        """Move mass from names to those that are mentioned under them."""
        moved: Mass = defaultdict(float)
        for position, mass in self._under(names, how).items():
            for name, share in _shares({name: self._telling(name, how) for name in self._named.of(position)}).items():
                moved[name] += mass * share
        return moved

    def _under(self, names: Mass, how: WalkSearch) -> Mass:
        return self._passages_of({name: mass for name, mass in names.items() if self._entitled[name] <= how.under}, self._titled)

    def _passages_of(self, names: Mass, lists: _Lists) -> Mass:
        found: Mass = defaultdict(float)
        for name, mass in sorted(names.items()):
            passages = lists.of(name)
            for position in passages:
                found[position] += mass / len(passages)
        return found


def _pairs(database: sqlite3.Connection, table: str, place_of: Numbers) -> Numbers:
    found = np.array(database.execute(f"SELECT name, passage FROM {table}").fetchall(), dtype=np.int64).reshape(-1, 2)
    if len(found):
        found[:, 1] = place_of[found[:, 1]]
    return found[found[:, 1] >= 0]


def _shares(weights: Mass) -> Mass:
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items() if weight} if total else {}


def _added(one: Mass, other: Mapping[int, float], weight: float) -> Mass:
    total: Mass = defaultdict(float, one)
    for key, value in other.items():
        total[key] += weight * value
    return total


def _weighed(mass: Mass, cosines: Cosines) -> Mass:
    positions = list(mass)
    near = cosines(positions) if positions else ()
    return {position: mass[position] * max(float(cosine), _LEAST_COSINE) for position, cosine in zip(positions, near, strict=True)}


def _ranked(mass: Mass, cosines: Cosines) -> list[int]:
    weighed = _weighed(mass, cosines)
    return sorted(weighed, key=lambda position: (-weighed[position], position))[:_DEPTH]


def _fused(rankings: Iterable[tuple[float, Sequence[int]]], k: int) -> list[int]:
    """Fuse rankings by weighted reciprocal rank; ties go to the earlier position in the first ranking that has it."""
    scores: Mass = defaultdict(float)
    for weight, ranking in rankings:
        for rank, position in enumerate(ranking):
            scores[position] += weight / (k + rank + 1)
    return sorted((position for position in scores if scores[position]), key=lambda position: -scores[position])
