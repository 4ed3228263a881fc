"""The maximum cost of a question with given settings: model calls and searches, computed in advance.

Only repeated calls can exceed it: after a malformed reply or a failure.
"""

from typing import NamedTuple

from ramify.nodes.settings import ChainSettings, PruneSettings, Settings, TorSettings, is_embedded
from ramify.tools.quoting import pluralize
from ramify.tools.relevance import MODEL


class MaxCalls(NamedTuple):
    """Model calls, how many of them sequential, and searches."""

    calls: int
    critical_path: int
    retrievals: int

    def plus(self, calls: int) -> "MaxCalls":
        """Return the maximum with additional calls at the end."""
        return self._replace(calls=self.calls + calls, critical_path=self.critical_path + calls)

    def __str__(self) -> str:
        order = f" (of which {self.critical_path:,} sequential)" if self.critical_path < self.calls else ""
        return f"at most {pluralize(self.calls, 'model call')}{order} and {pluralize(self.retrievals, 'search', 'searches')}"


def text_calls(settings: Settings) -> int:
    """Return the calls for a text without a concluding call: one writes it; with `check=model`, one checks it."""
    return 0 if settings.style == "short" or is_embedded(settings.model) else 1 + check_calls(settings)


def count_chain(settings: ChainSettings) -> MaxCalls:
    """Return the maximum of a chain: two calls per link, and a concluding one."""
    calls = 2 * settings.max_depth + 1
    return MaxCalls(calls, calls, settings.max_depth).plus(check_calls(settings))


def check_calls(settings: Settings) -> int:
    """Return the calls that check a text."""
    return int(settings.style == "full" and settings.check == MODEL)


class _Cost(NamedTuple):
    """Calls of a branch with all that is below it; and consecutive supersteps, each of which may make a call."""

    calls: int
    path: int

    def most(self, other: "_Cost") -> "_Cost":
        return _Cost(max(self.calls, other.calls), max(self.path, other.path))


def count_tor(settings: TorSettings, rubric: bool, judged: bool, repair: bool, search_root: bool) -> MaxCalls:
    """Return the maximum of a full tree of forks, each split again up to `redecompositions` times."""
    depth = max(settings.max_depth, 1)  # the root is split whatever the depth
    forks, dependent = 2**depth - 1, settings.dependent
    attempts = settings.redecompositions + 1
    split = attempts if judged or rubric else 1
    searched = attempts if judged else 1  # a pair that the rubric refuses is not searched
    # The better half of a weak pair is kept, unless it depends on the weaker one.
    answers = 2 + (searched - 1) * (1 + dependent)
    # Where all forks of a level keep in step, only calls count; else each superstep may have the call of some fork.
    step = int(split > 1 or dependent)
    first_pair = _Cost(1 + rubric + 2 + judged, (1 + step) * (1 + dependent) + 1 + rubric + judged + step)
    again = _Cost((split - 1) * (1 + rubric) + answers - 2 + (searched - 1) * judged, (split - 1) * (first_pair.path + step))
    below = _Cost(0, 0)
    for _ in range(depth):
        fork = _Cost(first_pair.calls + again.calls + 2 * below.calls, first_pair.path + again.path + below.path)
        if dependent and below.calls:  # a first hop without an answer is split before its fork is judged, which is then not split again
            grown = _Cost(first_pair.calls + (split - 1) * rubric * 2 + 2 * below.calls + 1, first_pair.path + 2 * below.path + 2)
            fork = fork.most(grown)
        below = fork
    searches = forks * answers + 1 if search_root else max(forks * answers, answers + judged)
    return MaxCalls(below.calls + 1, below.path + 1 + 2 * step, searches).plus(check_calls(settings))


def count_prune(
    settings: PruneSettings, joint: bool, backtrace: str, adaptive: bool, answers: bool, entities: bool, confidence: bool
) -> MaxCalls:
    """Return the maximum of a full tree: a branch's own calls, and those of two halves or two names below it."""
    if settings.max_depth == 0:  # the root is answered itself
        return MaxCalls(1, 1, 1).plus(text_calls(settings))
    up, named, again = backtrace == "recursive", adaptive and entities, adaptive and answers and settings.reconsider is not False
    if joint:  # at the depth limit nothing is asked, except about names and what others build on
        branch, awaited, names = _Cost(0, 2), _Cost(1, 3), _Cost(2, 2)
        own, least = _Cost(1 + again, 3 + 3 * again), 2 + again  # the root is answered itself where nothing that was named can be asked
    else:
        branch, awaited, names = _Cost(1, 2), _Cost(1, 2), _Cost(3, 4)
        own, least = _Cost(2, 4), 0
    for _ in range(settings.max_depth):
        first, halves = awaited if settings.dependent else branch, []
        for one, other, answered in ((first, branch, up), (awaited, awaited, True)):
            path = one.path + 1 + other.path if settings.dependent else max(one.path, other.path)
            below = _Cost(one.calls + other.calls, path).most(names if named else _Cost(0, 0))
            halves.append(_Cost(own.calls + below.calls + answered, own.path + below.path + answered))
        branch, awaited = halves
    more = text_calls(settings) if up else 1 + check_calls(settings)
    searches = 2 ** (settings.max_depth + 1) - 1 + (2**settings.max_depth - 1) * (joint and again)  # again for the next k passages
    return MaxCalls(max(branch.calls, least) + more, branch.path + more + up * (not more), searches)
