"""Conflicting answers to the whole question: settled by trust in their sources, then majority, then fit to the question (ToR-RAG §6)."""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from ramify.nodes.settings import NEWEST, Trust
from ramify.nodes.tree import DROPPED, ROOT, Branch, Passage, Tree, children
from ramify.nodes.tree.answers import answers_parent, repeats_answer
from ramify.nodes.tree.notes import quote_answer
from ramify.tools.versions import parse_version

FINAL_CALL = "the final call"
MIN_LEAD = 0.15
"""Least lead in confidence of an answer that fits better than its rivals."""


class Rival(NamedTuple):
    """An answer to the whole question: whose it is, how sure, and the ids of the passages it rests on."""

    by: str
    answer: str
    confidence: float
    cited: tuple[str, ...]


class Settled(NamedTuple):
    """How a conflict was settled: the answer that counts, None if none does, what settled it, and a note of both sides."""

    rival: Rival | None
    step: Literal["trust", "majority", "fit", "unsettled"]
    note: str


Group = Sequence[Rival]
"""Rivals with the same answer."""


def answers_in_tree(tree: Tree, path: str = ROOT) -> list[Rival]:
    """List the accepted answers to the question of a branch: its own, and those of the branches below that answer it."""
    branch = tree[path]
    own = _rivals(branch) if branch.status not in DROPPED and not branch.objection else []
    if branch.aggregated:
        return own
    below = [child for child in children(tree, path) if child.status not in DROPPED and answers_parent(child, branch)]
    return own + [rival for child in below for rival in answers_in_tree(tree, child.path)]


def _rivals(branch: Branch) -> list[Rival]:
    return [Rival(branch.path, branch.answer or "", branch.confidence or 0.0, branch.cited)] if branch.known else []


def settle_conflict(found: Group, final: Rival, passages: Mapping[str, Passage], trust: Trust | None) -> Settled | None:
    """Return how a conflict between the answers found in the tree and that of the final call was settled; None if they agree."""
    groups: list[list[Rival]] = []
    for rival in (*found, final):
        group = next((group for group in groups if repeats_answer(rival.answer, group[0].answer)), None)
        if group is None:
            groups.append([rival])
        else:
            group.append(rival)
    if len(groups) < 2:
        return None
    best = _most_trusted(groups, passages, trust or {})
    step: Literal["trust", "majority", "fit"] = "trust"
    if len(best) > 1:
        best, step = _best(best, len), "majority"
    if len(best) > 1:
        best, step = [group for group in best if final in group] or _surest(best), "fit"
    if len(best) > 1:
        return Settled(None, "unsettled", f"not settled: {_describe(groups)}")
    [chosen] = best
    answer = final if final in chosen else max(chosen, key=lambda rival: rival.confidence)
    others = [group for group in groups if group is not chosen]
    return Settled(answer, step, f"settled by {step}: {_describe([chosen])} against {_describe(others)}")


def _describe(groups: Sequence[Group]) -> str:
    return " and ".join(f"{quote_answer(group[0].answer)} of {', '.join(rival.by for rival in group)}" for group in groups)


def _best(groups: Sequence[Group], value: Callable[[Group], float]) -> list[Group]:
    most = max(map(value, groups))
    return [group for group in groups if value(group) == most]


def _surest(groups: Sequence[Group]) -> list[Group]:
    """Return the group with the surest answer if it leads; else all."""
    by_confidence = sorted(groups, key=_confidence, reverse=True)
    leads = _confidence(by_confidence[0]) - _confidence(by_confidence[1]) >= MIN_LEAD
    return by_confidence[: 1 if leads else None]


def _confidence(group: Group) -> float:
    return max(rival.confidence for rival in group)


def _most_trusted(groups: Sequence[Group], passages: Mapping[str, Passage], trust: Trust) -> list[Group]:
    """Return the groups with the most trusted source: by weights first, then by the newest date if every group has a date."""

    def sources(group: Group) -> list[Passage]:
        return [passages[key] for rival in group for key in rival.cited if key in passages]

    best = _best(groups, lambda group: max((_weight(passage, trust) for passage in sources(group)), default=1.0))
    dated = [field for field, wanted in trust.items() if wanted == NEWEST]
    dates = {id(group): max((_date(passage, field) for passage in sources(group) for field in dated), default=()) for group in best}
    if not all(dates.values()):
        return best
    newest = max(dates.values())
    return [group for group in best if dates[id(group)] == newest]


def _weight(passage: Passage, trust: Trust) -> float:
    """Return the product of the weights of the patterns that its metadata match; 1 by default."""
    weight = 1.0
    for field, weights in trust.items():
        value = passage.source if field == "source" else str(passage.metadata.get(field, ""))
        if not isinstance(weights, str):
            weight *= next((number for pattern, number in weights.items() if fnmatchcase(value, pattern)), 1.0)
    return weight


def _date(passage: Passage, field: str) -> tuple[int, ...]:
    """Return the date in a metadata field, else the one that its document states."""
    return parse_version(str(passage.metadata.get(field, ""))).date or parse_version(passage.version).date
