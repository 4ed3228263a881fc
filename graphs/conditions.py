"""Conditions of edges: each has a label, which shows the values of settings, and a predicate.

A `Condition` tests a branch after a step; conditions combine by `&`, `|` and `~`. A `Join` releases a branch that waits for others,
once it is ready. A `StateCondition` tests the whole state.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ramify.nodes.settings import MIN_HOP_CONFIDENCE, is_embedded
from ramify.nodes.state import answered_turns
from ramify.nodes.tree import ROOT, Branch, Tree, children, descendants, latest_parts, normalized_key
from ramify.nodes.tree.answers import accepted_answer, answers_parent, is_awaited, sibling_of


@dataclass(frozen=True, eq=False)
class _Labelled:
    """Base class of conditions, with the label in a drawing."""

    text: str | Callable[[Any], str]
    """The label, or a function of the settings that returns it."""
    excluded: Callable[[Any], bool] = field(default=lambda settings: False, kw_only=True)
    """Whether it can never hold with these settings, so that its edge is not drawn."""

    def label(self, settings: Any) -> str:
        """Return the label with these settings."""
        return self.text if isinstance(self.text, str) else self.text(settings)


@dataclass(frozen=True, eq=False)
class Condition(_Labelled):
    """A test of a branch."""

    holds: Callable[[Tree, Branch, Any], bool]
    """Whether it holds of a branch in its tree, with these settings."""
    of_fork: bool = False
    """Whether it tests branches that were split, otherwise open or answered ones."""
    above_tau: bool = field(default=False, kw_only=True)
    """Whether it holds only of an answer with a confidence above tau."""

    def __and__(self, other: "Condition") -> "Condition":
        both = replace(
            self,
            holds=lambda *given: self.holds(*given) and other.holds(*given),
            excluded=lambda settings: self.excluded(settings) or other.excluded(settings),
            above_tau=self.above_tau or other.above_tau,
        )
        return both.with_label(lambda settings: f"{self.label(settings)}, {other.label(settings)}")

    def __or__(self, other: "Condition") -> "Condition":
        either = replace(
            self,
            holds=lambda *given: self.holds(*given) or other.holds(*given),
            excluded=lambda settings: self.excluded(settings) and other.excluded(settings),
            above_tau=self.above_tau and other.above_tau,
        )
        return either.with_label(lambda settings: " or ".join(one.label(settings) for one in (self, other) if not one.excluded(settings)))

    def __invert__(self) -> "Condition":
        negated = replace(self, holds=lambda *given: not self.holds(*given), excluded=lambda settings: False, above_tau=False)
        return negated.with_label(lambda settings: f"not {self.label(settings)}")

    def with_label(self, text: str | Callable[[Any], str]) -> "Condition":
        """Return the condition with another label."""
        return replace(self, text=text)


@dataclass(frozen=True, eq=False)
class Join(_Labelled):
    """Which branches wait for others, when they are ready to continue, and which answered branches are held back until then."""

    waits: Callable[[Tree, Branch, Any], bool]
    ready: Callable[[Tree, Branch, Any], bool]
    holds_back: Callable[[Tree, Branch], bool] = lambda tree, branch: False
    """Whether an answered branch is held back, because a waiting one will process it."""


@dataclass(frozen=True, eq=False)
class StateCondition(_Labelled):
    """A test of the whole state."""

    holds: Callable[[Any, Any], bool]
    """Whether it holds of a state, with these settings."""
    stopped_by: str = ""
    """Why the question is stopped if this edge is taken; empty if it is not stopped."""


def _of_branch(
    label: str | Callable[[Any], str],
    holds: Callable[[Branch, Any], bool],
    of_fork: bool = False,
    excluded: Callable[[Any], bool] = lambda settings: False,
) -> Condition:
    return Condition(label, lambda tree, branch, settings: holds(branch, settings), of_fork, excluded=excluded)


def _independent(settings: Any) -> bool:
    """Return whether no sub-question may need the answer to another."""
    return not getattr(settings, "dependent", True)


# The result of a branch.
to_search = _of_branch("a new question", lambda branch, settings: branch.status == "open" and not branch.evidence)
known = _of_branch("an answer", lambda branch, settings: branch.known)
no_answer = _of_branch("no answer", lambda branch, settings: branch.answer is None)
is_entity = _of_branch("a name", lambda branch, settings: branch.kind == "entity")
is_root = _of_branch("the root", lambda branch, settings: branch.path == ROOT)
is_waited_for = Condition("another waits for it", lambda tree, branch, settings: is_awaited(tree, branch), excluded=_independent)

# Thresholds and depth.
within_depth = _of_branch(
    lambda settings: f"depth < {settings.max_depth}",
    lambda branch, settings: branch.depth < settings.max_depth,
    excluded=lambda settings: settings.max_depth == 0,
)
above_tau = replace(
    _of_branch(
        lambda settings: f"confidence > τ ({settings.threshold:g})",
        lambda branch, settings: branch.known and (branch.confidence or 0.0) > settings.threshold,
    ),
    above_tau=True,
)
"""PruneRAG: an answer's confidence is above tau (strict)."""
expandable = _of_branch(
    lambda settings: "any answer" if settings.expand_sure else f"confidence ≤ τ ({settings.threshold:g})",
    lambda branch, settings: settings.expand_sure or not (branch.known and (branch.confidence or 0.0) > settings.threshold),
)
"""ToR-RAG splits every answer of a kept fork; by default not those with a confidence above tau."""
at_least_theta = _of_branch(
    lambda settings: f"score ≥ θ ({settings.theta:g})", lambda branch, settings: (branch.score or 0.0) >= settings.theta, of_fork=True
)
"""ToR-RAG §4: a fork's score reaches theta."""
below_theta = (~at_least_theta).with_label(lambda settings: f"score < θ ({settings.theta:g})")
insufficient = Condition(
    lambda settings: f"sufficiency < θ ({settings.theta:g}), a half has no answer",
    lambda tree, branch, settings: (
        branch.sufficiency is not None
        and branch.sufficiency < settings.theta
        and not all(half.known for half in latest_parts(tree, branch))
    ),
    of_fork=True,
)
"""The mean of four criteria hides that the question is not answered: the half without an answer is asked anew."""
attempts_left = Condition(
    "attempts left",
    lambda tree, branch, settings: (
        0 < branch.attempts <= settings.redecompositions and not any(half.attempts for half in latest_parts(tree, branch))
    ),
    excluded=lambda settings: settings.redecompositions == 0,
)
"""A weak fork may be decomposed again, unless its halves were split, because that was expensive already."""
never_split = _of_branch("not split before", lambda branch, settings: branch.attempts == 0)
whole_question = (is_root & never_split).with_label("the root, not split before")
unknown_hop = (is_waited_for & ~known & within_depth & never_split).with_label("no answer, and another waits for it")
"""It may still be answered from below: it is split before its fork is judged."""
may_reconsider = _of_branch(
    "not reconsidered yet",
    lambda branch, settings: settings.reconsider is not False and not branch.reconsidered and branch.attempts == 0,
    excluded=lambda settings: settings.reconsider is False,
)
"""PruneRAG, joint: the model is asked again, with a hint."""
is_helpful = _of_branch("score > 0", lambda branch, settings: bool(branch.score))
"""GraphRAG §2: a batch helps to answer."""
is_searched = _of_branch(
    "passages of a search", lambda branch, settings: bool(branch.points), excluded=lambda settings: settings.over != "search"
)
"""GraphRAG, baseline SS: passages that a search found are points of the answer themselves, and nothing is mapped."""
chain_may_continue = _of_branch(
    lambda settings: f"depth < L ({settings.max_depth})", lambda branch, settings: 0 < branch.depth < settings.max_depth
)
"""CoR-RAG: the chain may continue."""

concluded = _of_branch("concluded", lambda branch, settings: branch.answer is not None, of_fork=True)
"""A chain gave its root the answer."""

# What was decided or found about splitting.
proposes_split = _of_branch(
    "sub-questions proposed", lambda branch, settings: branch.proposal is not None and bool(branch.proposal.questions)
)
proposes_entities = _of_branch("names proposed", lambda branch, settings: branch.proposal is not None and bool(branch.proposal.entities))
cannot_be_split = _of_branch("cannot be split", lambda branch, settings: branch.attempts > 0)
judged = _of_branch("scored", lambda branch, settings: branch.score is not None, of_fork=True)
pair_kept = judged.with_label("no better pair")
"""A fork that was to be replaced stays, because no other pair was found."""
new_pair = _of_branch("a new pair", lambda branch, settings: branch.score is None and len(branch.parts) != 1, of_fork=True)
only_part = Condition(
    "the only sub-question",
    lambda tree, branch, settings: (
        to_search.holds(tree, branch, settings) and branch.parent is not None and tree[branch.parent].parts == (branch.path,)
    ),
    excluded=lambda settings: not settings.informed,
)
"""It is no pair that could be scored."""
invalid_pair = _of_branch("pair invalid", lambda branch, settings: bool(branch.objection), of_fork=True)
valid_pair = _of_branch("pair valid", lambda branch, settings: branch.status == "open" and not branch.evidence)


def _settled(branch: Branch) -> bool:
    """Return whether a branch is settled, so that its answer is final."""
    return not branch.next and (branch.status in {"leaf", "pruned", "failed"} or branch.aggregated)


def _answered(branch: Branch) -> bool:
    return _settled(branch) or (branch.status == "answered" and not branch.next)


def _complete(tree: Tree, fork: Branch) -> bool:
    pair = latest_parts(tree, fork)
    return bool(pair) and all(map(_answered, pair))


def _awaits_judgement(tree: Tree, branch: Branch) -> bool:
    """Return whether an answered half waits for the judgement of its fork."""
    return branch.parent is not None and tree[branch.parent].status == "split"


hop_settled = Join(
    "first hop settled",
    waits=lambda tree, branch, settings: branch.status == "waiting",
    ready=lambda tree, branch, settings: _answered(sibling_of(tree, branch)),
    excluded=_independent,
)
"""The sibling that a question waits for is settled; the answer found below it counts."""


def _hop_below_minimum(tree: Tree, branch: Branch, settings: Any) -> bool:
    settled = accepted_answer(tree, sibling_of(tree, branch))
    if settled is None or not settled.known:
        return True
    least = settings.min_hop_confidence
    if least is None:  # the embedded model's confidence is calibrated, that of a language model is not
        least = MIN_HOP_CONFIDENCE if settled.confidence_source == "reader" else 0.0
    return (settled.confidence or 0.0) < float(least)


def _hop_label(settings: Any) -> str:
    default = MIN_HOP_CONFIDENCE if is_embedded(settings.model) else 0.0
    least = default if settings.min_hop_confidence is None else settings.min_hop_confidence
    return f"first hop has no answer, or below {least:g}" if least else "first hop has no answer"


hop_unsure = replace(
    hop_settled,
    text=_hop_label,
    ready=lambda tree, branch, settings: hop_settled.ready(tree, branch, settings) and _hop_below_minimum(tree, branch, settings),
)
"""With such a hop, nine of ten answers would be wrong, as confidence is calibrated."""
pair_answered = Join(
    "both halves answered",
    waits=lambda tree, branch, settings: branch.status == "split" and not branch.aggregated,
    ready=lambda tree, branch, settings: _complete(tree, branch),
    holds_back=_awaits_judgement,
)
both_unanswered = replace(
    pair_answered,
    text="no half has an answer",
    ready=lambda tree, branch, settings: _complete(tree, branch) and not any(half.known for half in latest_parts(tree, branch)),
)
"""A fork without a known answer is pruned without a call of the judge."""
only_part_answered = replace(
    pair_answered,
    text="its only part answered",
    ready=lambda tree, branch, settings: _complete(tree, branch) and len(latest_parts(tree, branch)) == 1,
    excluded=lambda settings: not settings.informed,
)
"""The judge scores pairs; a single sub-question has nothing to be compared with."""
answerable_below = replace(
    pair_answered,
    text=lambda settings: f"no half has an answer, depth < {settings.max_depth - 1}",
    ready=lambda tree, branch, settings: (
        both_unanswered.ready(tree, branch, settings)
        and any(half.status == "answered" and half.attempts == 0 and half.depth < settings.max_depth for half in latest_parts(tree, branch))
    ),
)
"""Its halves may still be answered from below: they are split like those of a kept fork."""


def _is_unsplit(tree: Tree, branch: Branch) -> bool:
    return branch.status == "open" and branch.attempts > 0 and branch.answer is None


unsplit = Join(
    "no pair: asked as it is",
    waits=lambda tree, branch, settings: _is_unsplit(tree, branch),
    ready=lambda tree, branch, settings: True,
    holds_back=_is_unsplit,
)
"""No pair of sub-questions was found, or none was kept: the question itself is asked."""


def _below_settled(
    text: str | Callable[[Any], str],
    which: Callable[[Tree, Branch], bool],
    also: Callable[[Tree, Any], bool] = lambda tree, settings: True,
    excluded: Callable[[Any], bool] = lambda settings: False,
) -> Join:
    """Return a join for split branches that is ready when all branches below are settled and `also` holds."""
    return Join(
        text,
        waits=lambda tree, branch, settings: branch.status in {"split", "inner"} and not branch.aggregated and which(tree, branch),
        ready=lambda tree, branch, settings: (
            bool(below := children(tree, branch.path))
            and all(map(_settled, below))
            and not any(branch_below.next for branch_below in descendants(tree, branch.path))
            and also(tree, settings)
        ),
        excluded=excluded,
    )


children_settled = _below_settled("all children settled", lambda tree, branch: True)
awaited_settled = _below_settled("awaited, children settled", is_awaited, excluded=_independent)
"""A branch that another waits for gets its own answer."""
half_settled = _below_settled(
    "half, children settled", lambda tree, branch: is_awaited(tree, branch) or _awaits_judgement(tree, branch), excluded=_independent
)
"""So does the half of a fork that is not judged yet."""


def _hops_above_tau(tree: Tree, settings: Any) -> bool:
    """Return whether all hops of the root are above tau, so that the last one's answer is the whole question's."""
    root = tree[ROOT]
    hops = [child for child in children(tree, ROOT) if child.status != "pruned"]
    last = next((child for child in reversed(hops) if child.known and answers_parent(child, root)), None)
    return last is not None and all(hop.known and (hop.confidence or 0.0) > settings.threshold for hop in hops)


root_answered = _below_settled(
    lambda settings: f"hops sure (τ {settings.threshold:g})",
    lambda tree, branch: branch.path == ROOT,
    also=_hops_above_tau,
    excluded=_independent,
)
"""All hops of a bridge are accepted: the last one's answer is the question's, without a further call."""

# A search over trees.
simulations_left = Condition(
    lambda settings: f"simulations < {settings.simulations}",
    lambda tree, branch, settings: sum(trial.visits for trial in tree[ROOT].trials) < settings.simulations,
)
"""Monte Carlo tree search: its budget; every simulation begins at the root."""
may_be_tried = _of_branch(
    "another split may be found", lambda branch, settings: not branch.aggregated and all(trial.parts for trial in branch.trials)
)
unsplit_root = _of_branch("the root, never split", lambda branch, settings: branch.path == ROOT and not branch.trials)
"""No sub-questions were found: the question itself is asked."""
search_broken_off = Join(
    "a simulation broken off",
    waits=lambda tree, branch, settings: branch.path == ROOT and bool(branch.trials) and branch.status not in {"open", "answered"},
    ready=lambda tree, branch, settings: not any(other.next or other.status in {"open", "waiting", "split"} for other in tree.values()),
)
"""A call failed, or a budget was used up: nothing is at work any more, and the best split was not chosen yet."""


# The loop of Iterative RAG.
def _is_poor(state: Any, settings: Any) -> bool:
    """Return whether the last rounds were not relevant enough; without a limit, any round that did not suffice counts."""
    last, limit = state["search"].relevances[-settings.patience :], settings.low_relevance
    return len(last) == settings.patience and (limit is None or all(relevance < limit for relevance in last))


def _asked_before(state: Any) -> bool:
    wanted = state["search"].suggested
    if not wanted:
        return True
    return normalized_key(Branch(path=ROOT, question=wanted)) in map(normalized_key, state["tree"].values())


enough = StateCondition(
    lambda settings: f"sufficient, or facts ≥ {settings.enough_facts}",
    lambda state, settings: state["search"].sufficient or len(state["search"].facts) >= settings.enough_facts,
)
query_suggested = StateCondition(
    lambda settings: ", ".join(
        [
            "query suggested" if settings.low_relevance is None else f"relevance < {settings.low_relevance:g}, query suggested",
            *([f"{settings.patience} rounds"] if settings.patience > 1 else []),
        ]
    ),
    lambda state, settings: _is_poor(state, settings) and not _asked_before(state),
)
rounds_used_up = StateCondition(
    lambda settings: f"rounds = {settings.rounds}", lambda state, settings: state["search"].round >= settings.rounds, stopped_by="rounds"
)
all_read = StateCondition(
    "nothing left to read",
    lambda state, settings: state["search"].given_up or not set(state["passages"]) - set(state["search"].seen),
)

# A conversation.
person_unknown = StateCondition("no person is known", lambda state, settings: bool(state.get("asked_back")))
follow_up = StateCondition("a follow-up", lambda state, settings: bool(answered_turns(state)))

EdgeCondition = Condition | Join | StateCondition
Edges = Mapping[Any, Any]
