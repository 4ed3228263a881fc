"""The most that a question can cost: known from the settings, before anything is asked.

Only what is asked for once more can go beyond it: a reply that is malformed, a call that failed on its way.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ramify.graphs.strategies import arguments_of, configure
from ramify.nodes.plan import QUERIES
from ramify.nodes.settings import ChainSettings, IterativeSettings, PruneSettings, Settings, TorSettings
from ramify.tools.quoting import many

UNTOLD = "a strategy of your own, so it is not known how many model calls it takes; max_calls bounds them"


class Ceiling(NamedTuple):
    """Model calls, how many of them one after another, and searches."""

    calls: int
    critical_path: int
    retrievals: int

    def __str__(self) -> str:
        order = f" (of which {self.critical_path:,} one after another)" if self.critical_path < self.calls else ""
        return f"at most {many(self.calls, 'model call')}{order} and {many(self.retrievals, 'search', 'searches')}"


class _Cost(NamedTuple):
    """Calls of a branch with all that is below it, and how many of them one after another."""

    calls: int
    path: int


def ceiling(strategy: str, settings: Settings, arguments: Mapping[str, Any] = MappingProxyType({})) -> Ceiling | None:
    """Work out the ceiling of a strategy with these settings and arguments of its wiring; None for one that is not ours.

    A dependent sub-question waits for its sibling, so its calls come after the sibling's: one more level, and with PruneRAG, where the
    sibling grows first, all of the sibling's subtree.
    """
    if strategy not in _CEILINGS:
        return None
    defaults = {name: parameter.default for name, parameter in arguments_of(strategy).items()}
    most = _CEILINGS[strategy](settings, **{**defaults, **arguments})
    if settings.max_calls is None:
        return most
    return most._replace(calls=min(most.calls, settings.max_calls), critical_path=min(most.critical_path, settings.max_calls))


def _tor(settings: TorSettings, rubric: bool, judged: bool) -> Ceiling:
    depth = max(settings.max_depth, 1)  # the root is split whatever the depth
    forks = 2**depth - 1
    attempts = settings.redecompositions + 1
    split = attempts if judged or rubric else 1
    searched = attempts if judged else 1  # a pair that the rubric refuses is not searched
    # The better half of a weak pair is carried over, but where it hangs from the weaker.
    answers = 2 + (searched - 1) * (1 + settings.dependent)
    calls = forks * (split * (1 + rubric) + answers + searched * judged) + 1
    # Forks of one level go in step; while the rubric has one split again, the others wait.
    pairs = 2 * split if rubric else 1
    path = depth * searched * (pairs + 1 + settings.dependent + judged) + 1
    return Ceiling(calls, path, max(forks * answers, answers + judged))


def _prune(settings: PruneSettings, joint: bool, backtrace: str, adaptive: bool, entities: bool, **accepting: bool) -> Ceiling:
    up = int(backtrace == "recursive")
    root = _joint(settings, up) if joint else _staged(settings, up, adaptive and entities)
    calls = root.calls + 1 - up
    return Ceiling(calls, min(calls, root.path + 1 - up), 2 ** (settings.max_depth + 1) - 1)


def _joint(settings: PruneSettings, up: int) -> _Cost:
    """One call a branch; at the depth limit none, but where another waits for what comes of the branch."""
    branch = _Cost(0, 0)
    awaited = _Cost(1, 1) if settings.dependent else branch
    for _ in range(settings.max_depth):
        below = _pair(awaited, branch, settings.dependent), _pair(awaited, awaited, settings.dependent)
        branch, awaited = (_Cost(1 + cost.calls + up, 1 + cost.path + up) for cost in below)
    return branch


def _staged(settings: PruneSettings, up: int, entities: bool) -> _Cost:
    """Answer, decompose, name entities: two calls for a branch that splits, three and two summaries for one that cannot."""
    branch = _Cost(1, 1)
    for _ in range(settings.max_depth):
        below = _pair(branch, branch, settings.dependent)
        calls = max(2 + below.calls, 5 if entities else 0) + up
        branch = _Cost(calls, 2 + entities + below.path + up)
    return branch


def _pair(first: _Cost, second: _Cost, dependent: bool) -> _Cost:
    path = first.path + second.path if dependent else max(first.path, second.path)
    return _Cost(first.calls + second.calls, path)


def _iterative(settings: IterativeSettings) -> Ceiling:
    calls = 1 + settings.rounds + 1
    return Ceiling(calls, calls, QUERIES + (settings.rounds - 1) // settings.patience)


def _chain(settings: ChainSettings) -> Ceiling:
    calls = 2 * settings.max_depth + 1
    return Ceiling(calls, calls, settings.max_depth)


_CEILINGS: dict[str, Callable[..., Ceiling]] = {
    "prune": _prune,
    "tor": _tor,
    "iterative": _iterative,
    "chain": _chain,
    "naive": lambda settings: Ceiling(1, 1, 1),
    "global": lambda settings: Ceiling(settings.max_batches + 1, 2, 1),
    "closed-book": lambda settings: Ceiling(1, 1, 0),
}


def outlook(strategy: str, options: Mapping[str, Any]) -> str:
    """Say what a question can cost at most with these options."""
    _, settings = configure(strategy, options)
    arguments = {name: value for name, value in options.items() if name in arguments_of(strategy)}
    told = f"{strategy}: {ceiling(strategy, settings, arguments) or UNTOLD}"
    if getattr(settings, "dependent", False):
        told += "; a sub-question that needs its sibling's answer waits for it: one more level"
    return told
