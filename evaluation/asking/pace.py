"""How fast a run goes, and so how long it still takes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from ramify.evaluation.rows import Row
from ramify.evaluation.variants import Variant

Kind = tuple[str, str]
"""A strategy and its variant."""


class Pace:
    """Work out the time to go from the seconds that the answers of each variant take: a tree takes longer than a baseline.

    The first answers, one of each strategy in each process, are not measured: they also wait for what has to be loaded.
    """

    def __init__(self, variants: Iterable[Variant], clock: Callable[[], float], processes: int = 1) -> None:
        self.done = 0
        self._left: Counter[Kind] = Counter((variant.strategy, variant.name) for variant in variants)
        self._first = processes * len({strategy for strategy, _ in self._left})
        self._seconds: dict[Kind, list[float]] = defaultdict(list)
        self._clock = clock
        self._began = 0.0

    def add(self, row: Row) -> None:
        """Count an answer; one that failed says nothing of how long answers take."""
        kind = row["strategy"], row["variant"]
        self._left[kind] -= 1
        self.done += 1
        if self.done == self._first:
            self._began = self._clock()
        elif self.done > self._first and row["error"] is None:
            self._seconds[kind].append(row["usage"]["wall_s"])

    @property
    def each(self) -> float | None:
        """Give the seconds between one answer and the next, on average; none while that is not known."""
        measured = self.done - self._first
        return (self._clock() - self._began) / measured if measured > 0 else None

    def to_go(self) -> float | None:
        """Give the seconds that are still to go; none while that is not known."""
        answered = sum(map(len, self._seconds.values()))
        spent = sum(map(sum, self._seconds.values()))
        if not answered or not spent:
            return None
        work = sum(count * self._usual(kind, spent / answered) for kind, count in self._left.items())
        return (self._clock() - self._began) * work / spent

    def _usual(self, kind: Kind, otherwise: float) -> float:
        """Give the seconds that an answer of a variant takes; of one that is new, as many as the strategy's own, else any."""
        seconds = self._seconds.get(kind) or self._seconds.get((kind[0], ""))
        return sum(seconds) / len(seconds) if seconds else otherwise
