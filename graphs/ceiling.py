"""The most that a question can cost: known from the settings, before anything is asked.

Only what is asked for once more can go beyond it: a reply that is malformed, a call that failed on its way.
"""

from typing import NamedTuple

from ramify.graphs.strategy import Ceiling
from ramify.nodes.plan import QUERIES
from ramify.nodes.settings import ChainSettings, GlobalSettings, IterativeSettings, PruneSettings, Settings, TorSettings


class _Cost(NamedTuple):
    """Calls of a branch with all that is below it; and supersteps one after another, of which each may make a call."""

    calls: int
    path: int

    def most(self, other: "_Cost") -> "_Cost":
        return _Cost(max(self.calls, other.calls), max(self.path, other.path))


def tor(settings: TorSettings, rubric: bool, judged: bool) -> Ceiling:
    """Count a full tree of forks, each tried as often as it may be; a first hop that has no answer grows before its fork is judged."""
    depth = max(settings.max_depth, 1)  # the root is split whatever the depth
    forks, dependent = 2**depth - 1, settings.dependent
    attempts = settings.redecompositions + 1
    split = attempts if judged or rubric else 1
    searched = attempts if judged else 1  # a pair that the rubric refuses is not searched
    # The better half of a weak pair is carried over, but where it hangs from the weaker.
    answers = 2 + (searched - 1) * (1 + dependent)
    # Where all forks of a level go in step, only calls count; else each superstep may have the call of some fork.
    step = int(split > 1 or dependent)
    first_pair = _Cost(1 + rubric + 2 + judged, (1 + step) * (1 + dependent) + 1 + rubric + judged + step)
    again = _Cost((split - 1) * (1 + rubric) + answers - 2 + (searched - 1) * judged, (split - 1) * (first_pair.path + step))
    below = _Cost(0, 0)
    for _ in range(depth):
        fork = _Cost(first_pair.calls + again.calls + 2 * below.calls, first_pair.path + again.path + below.path)
        if dependent and below.calls:  # a first hop without an answer grows before its fork is judged, which is then not split again
            grown = _Cost(first_pair.calls + (split - 1) * rubric * 2 + 2 * below.calls + 1, first_pair.path + 2 * below.path + 2)
            fork = fork.most(grown)
        below = fork
    return Ceiling(below.calls + 1, below.path + 1 + 2 * step, max(forks * answers, answers + judged))


def prune(settings: PruneSettings, joint: bool, backtrace: str, adaptive: bool, answers: bool, entities: bool, confidence: bool) -> Ceiling:
    """Count a full tree, each branch of which is decided on twice (joint), or that looks up two names at its ends."""
    if settings.max_depth == 0:  # the root is answered itself
        return Ceiling(1, 1, 1)
    up, early, named = backtrace == "recursive", adaptive and answers, adaptive and entities
    if joint:
        again = early and settings.reconsider is not False
        branch = _joint(settings, up, again, named)
    else:
        branch = _staged(settings, up, named)
    return Ceiling(branch.calls + (not up), branch.path + 1, 2 ** (settings.max_depth + 1) - 1)


def _joint(settings: PruneSettings, up: bool, again: bool, named: bool) -> _Cost:
    """Decide, perhaps twice, then two halves or two names; at the depth limit nothing, but for names and what others build on."""
    branch, awaited = _Cost(0, 2), _Cost(1, 3)
    for _ in range(settings.max_depth):
        names = _Cost(2, 2) if named else _Cost(0, 0)
        waited_for = _pair(awaited, awaited, settings.dependent).most(names)
        free = _pair(awaited if settings.dependent else branch, branch, settings.dependent).most(names)
        branch = _Cost(1 + again + free.calls + up, 3 + 2 * again + free.path + up)
        awaited = _Cost(1 + again + max(waited_for.calls + 1, 1), 3 + 2 * again + waited_for.path + 1)
    return branch._replace(calls=max(branch.calls, 2 + again))  # the root is answered itself where nothing that was named can be asked


def _staged(settings: PruneSettings, up: bool, named: bool) -> _Cost:
    """Answer, decompose, name entities: two calls for a branch that splits, three and two summaries for one that cannot."""
    branch = awaited = _Cost(1, 2)
    for _ in range(settings.max_depth):
        names = _Cost(3, 4) if named else _Cost(0, 0)
        waited_for = _pair(awaited, awaited, settings.dependent).most(names)
        free = _pair(awaited if settings.dependent else branch, branch, settings.dependent).most(names)
        branch, awaited = (_Cost(2 + cost.calls + lifted, 4 + cost.path + lifted) for cost, lifted in ((free, up), (waited_for, True)))
    return branch


def _pair(first: _Cost, second: _Cost, dependent: bool) -> _Cost:
    path = first.path + 1 + second.path if dependent else max(first.path, second.path)
    return _Cost(first.calls + second.calls, path)


def iterative(settings: IterativeSettings) -> Ceiling:
    """Count the plan, the rounds and the answer; a new query after so many poor rounds."""
    calls = 1 + settings.rounds + 1
    return Ceiling(calls, calls, QUERIES + (settings.rounds - 1) // settings.patience)


def chain(settings: ChainSettings) -> Ceiling:
    """Count a question and an answer a link, and the final call."""
    calls = 2 * settings.max_depth + 1
    return Ceiling(calls, calls, settings.max_depth)


def one_call(settings: Settings) -> Ceiling:
    """One search, one answer."""
    return Ceiling(1, 1, 1)


def no_search(settings: Settings) -> Ceiling:
    """One answer."""
    return Ceiling(1, 1, 0)


def overview(settings: GlobalSettings) -> Ceiling:
    """A call a batch, and one that joins them."""
    return Ceiling(settings.max_batches + 1, 2, 1)
