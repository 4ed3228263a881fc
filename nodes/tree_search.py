"""select: record what a simulation scored, and choose the question to split next (UCT); keep_best: keep the best split of each question."""

from collections.abc import Iterator
from math import log, sqrt

from ramify.nodes.settings import MctsSettings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.tree import ROOT, Branch, Tree, Trial, children, descendants
from ramify.nodes.tree.notes import figure
from ramify.tools.quoting import pluralize

SET_ASIDE = "set aside: not the best"


@branch_step()
async def select(branch: Branch, context: Context[MctsSettings]) -> list[Branch]:
    """Record the score of a fork, or that a question was not split, from there to the root; return the question to split next."""
    halves = context.pair(branch) if branch.status == "split" else []
    value = branch.score if halves and branch.score is not None else min(map(_confidence, halves), default=0.0)
    note = f"in a split scored {figure(value)}"
    changed = {half.path: half.with_status("leaf", note=half.with_note(note)) for half in halves if half.status == "answered"}
    changed |= _backpropagate(context.tree, branch, branch.parts if halves else (), value)
    chosen = _choose({**context.tree, **changed}, ROOT, context.settings)
    return [*{**changed, chosen.path: chosen.with_status("open" if chosen.answer is None else "answered")}.values()]


def _confidence(branch: Branch) -> float:
    return branch.confidence or 0.0 if branch.known else 0.0


def _backpropagate(tree: Tree, question: Branch, parts: tuple[str, ...], value: float) -> Tree:
    """Return a question and its ancestors with a simulation of this value; where an own answer is surer, that is the value above it."""
    trials = {trial.parts: trial for trial in question.trials}
    trials[parts] = trials.get(parts, Trial(parts=parts)).visited(value)
    changed = {question.path: _settled(question, any(trials), trials=tuple(trials.values()))}
    if question.parent is None:
        return changed
    above = tree[question.parent]
    through = next((trial.parts for trial in above.trials if question.path in trial.parts), above.parts)
    return changed | _backpropagate(tree, above, through, max(value, _confidence(question)))


def _settled(branch: Branch, split: bool, **changes: object) -> Branch:
    return branch.with_status("inner" if split else "failed" if branch.answer is None else "leaf", **changes)


def _choose(tree: Tree, path: str, settings: MctsSettings) -> Branch:
    """Return the question to split next: from the root down the most promising split, and of it the half split least, then least sure."""
    question = tree[path]
    visits, untried = sum(trial.visits for trial in question.trials), Trial(visits=len(question.trials), value=settings.theta)
    options = question.trials if () in [trial.parts for trial in question.trials] else (*question.trials, untried)
    best = max(options, key=lambda trial: trial.value + settings.exploration * sqrt(log(visits) / trial.visits) if visits else 0.0)
    halves = [tree[part] for part in best.parts if tree[part].status != "pruned"]
    if not halves:
        return question
    return _choose(tree, min(halves, key=lambda half: (sum(t.visits for t in half.trials), _confidence(half))).path, settings)


@branch_step()
async def keep_best(branch: Branch, context: Context[MctsSettings]) -> list[Branch]:
    """Keep the most valued split of each question, unless its own answer is surer; the others are pruned, with their values."""
    return list(_keep(context.tree, context.tree[ROOT]))


def _keep(tree: Tree, question: Branch) -> Iterator[Branch]:
    """Yield a question and all below it, each kept or pruned; what is below stays where it was answered from there without a choice."""
    if question.aggregated:
        yield question
        return
    tried = [trial for trial in question.trials if trial.parts]
    best = max(tried, key=lambda trial: trial.value, default=None)
    kept: tuple[str, ...] = ()
    if best is None or (question.known and best.value <= _confidence(question)):
        note = f"its own answer is surer than {pluralize(len(tried), 'split')}" if tried else ""
        yield question if question.status == "pruned" else _settled(question, False, trials=(), note=question.with_note(note))
    else:
        kept, note = best.parts, f"the best of {pluralize(len(tried), 'split')}, valued {figure(best.value)}"
        yield _settled(question, True, trials=(), parts=kept, score=best.value, note=question.with_note(note))
    for part in children(tree, question.path):
        if part.path in kept:
            yield from _keep(tree, part)
        else:
            yield part.with_status("pruned", note=part.with_note(SET_ASIDE), trials=())
            yield from (below.with_status("pruned", trials=()) for below in descendants(tree, part.path))
