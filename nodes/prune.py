"""prune: drop what does not hold (ToR-RAG by the judge's score, PruneRAG by the answer's confidence, GraphRAG by its helpfulness)."""

from collections.abc import Callable

from ramify.nodes.settings import GlobalSettings, PruneSettings, TorSettings
from ramify.nodes.step import Each, Growth, each, grow
from ramify.nodes.step.conditions import calibrated, holds, may_retry, sure, within_depth
from ramify.nodes.step.selection import Fork, alone, answered_fork, fork
from ramify.nodes.tree import Branch, Status
from ramify.nodes.tree.notes import once_more, unsure

Accept = Callable[[Branch, PruneSettings], bool]
USELESS = "score 0: nothing in it helps"


@each(fork("judged"), gives=("inner", "growing", "leaf", "open", "pruned"))
def prune(given: Fork, settings: TorSettings) -> Growth:
    """Keep a fork whose score reaches theta; weaken one that does not."""
    if holds(given.branch, settings):
        return grow(given.branch.to("inner"))
    return weaken(given, settings, f"fork scored {given.branch.score:.2f}, below theta {settings.theta:g}", given.branch.weaker)


def weaken(fork: Fork, settings: TorSettings, reason: str, weaker: str | None) -> Growth:
    """Prune the pair; its parent is split again while attempts are left, else it is a leaf, answered itself where it has no answer."""
    pruned = [child.to("pruned", note=child.noted(reason)) for child in fork.pair]
    last: Status = "open" if fork.branch.answer is None else "leaf"
    parent = fork.branch.to("growing" if may_retry(fork.branch, settings) else last, weaker=weaker)
    return grow(parent, *pruned)


def acceptance(early: bool = True, confidence: bool = True) -> Accept:
    """Choose when an answer is accepted: above tau; any (without confidence); none before the depth limit (not early)."""
    if not early:
        return lambda branch, settings: False
    return sure if confidence else lambda branch, settings: branch.known


def prune_unsure(accept: Accept = sure) -> Each[Branch, PruneSettings]:
    """Make staged PruneRAG's pruning: an answer that is not accepted grows, within depth."""

    @each(alone("answered"), gives=("leaf", "growing"))
    def prune(branch: Branch, settings: PruneSettings) -> Growth:
        """Accept an answer above tau; let one below grow, or keep it at the depth limit, marked low."""
        if accept(branch, settings):
            return grow(branch.to("leaf"))
        return grow(branch.to("growing") if within_depth(branch, settings) else low(branch, settings))

    return prune


def reconsider(accept: Accept = sure) -> Each[Fork, PruneSettings]:
    """Make joint PruneRAG's pruning: an answer that is not accepted is asked again one level deeper."""

    @each(fork("answered"), gives=("leaf", "split", "open"))
    def prune(given: Fork, settings: PruneSettings) -> Growth:
        """Accept an answer above tau; ask one below again with a hint, or keep it at the depth limit, marked low."""
        branch = given.branch
        if accept(branch, settings):
            return grow(branch.to("leaf"))
        if not within_depth(branch, settings):
            return grow(low(branch, settings))
        again = Branch(path=f"{branch.path}.0", question=branch.question, note=once_more(branch.answer if branch.known else None))
        return grow(branch.to("split", note=branch.noted(unsure(branch.confidence, settings.threshold, calibrated(settings)))), again)

    return prune


def low(branch: Branch, settings: PruneSettings) -> Branch:
    """Keep an unsure answer, and say that it is."""
    return branch.to("leaf", note=branch.noted(unsure(branch.confidence, settings.threshold, calibrated(settings))))


@each(answered_fork("split"), gives=("inner",), name="prune")
def keep_all(given: Fork, settings: TorSettings) -> Growth:
    """Keep every fork, unjudged (the ablation without the judge)."""
    return grow(given.branch.to("inner"))


@each(alone("judged"), gives=("leaf", "pruned"), name="prune")
def prune_useless(branch: Branch, settings: GlobalSettings) -> Growth:
    """Keep a batch that helps, prune one that says nothing about the question (GraphRAG §2)."""
    return grow(branch.to("leaf") if branch.score else branch.to("pruned", note=branch.noted(USELESS)))
