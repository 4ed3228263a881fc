"""select: count a simulation, and choose the question to split next (UCT); keep_best: keep the best split of each question."""

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
    """Record the score of a fork, or that a question was not split, up to the root; return the question to split next."""
    parts = context.pair(branch) if branch.status == "split" else []
    least = min(map(_confidence, parts), default=0.0)
    new = Trial(parts=tuple(part.path for part in parts), score=least if branch.score is None or not parts else branch.score)
    note = f"in a split scored {figure(new.score)}"
    changed = {part.path: part.with_status("leaf", note=part.with_note(note)) for part in parts if part.status == "answered"}
    changed |= _backpropagate(context.tree, branch, new)
    chosen = _choose({**context.tree, **changed}, ROOT, context.settings)
    return [*{**changed, chosen.path: chosen.with_status("open" if chosen.answer is None else "answered")}.values()]


def _backpropagate(tree: Tree, question: Branch, simulated: Trial) -> Tree:
    """Return a question and its ancestors with the visit of a split of it, which is new or was tried before."""
    trials = {trial.parts: trial for trial in question.trials}
    before = trials.get(simulated.parts)
    trials[simulated.parts] = simulated if before is None else before.model_copy(update={"visits": before.visits + 1})
    changed = {question.path: _settled(question, any(trials), trials=tuple(trials.values()))}
    if question.parent is None:
        return changed
    above = tree[question.parent]
    through = next((trial for trial in above.trials if question.path in trial.parts), Trial(parts=above.parts))
    return changed | _backpropagate(tree, above, through)


def _settled(branch: Branch, split: bool, **changes: object) -> Branch:
    return branch.with_status("inner" if split else "failed" if branch.answer is None else "leaf", **changes)


def _choose(tree: Tree, path: str, settings: MctsSettings) -> Branch:
    """Return the question to split next: from the root down the most promising split, and of it the half split least, then least sure."""
    question = tree[path]
    visits = sum(trial.visits for trial in question.trials)
    promise = {
        trial.parts: _value(tree, trial) + settings.exploration * sqrt(log(visits) / trial.visits) for trial in question.trials
    }  # of a split not tried yet, as if each that was tried had been a visit of it
    promise.setdefault((), settings.theta + settings.exploration * sqrt(log(visits) / len(promise)) if promise else 0.0)
    halves = [tree[part] for part in max(promise, key=promise.__getitem__) if tree[part].status != "pruned"]
    if not halves:
        return question
    return _choose(tree, min(halves, key=lambda half: (sum(t.visits for t in half.trials), _confidence(half))).path, settings)


def _confidence(branch: Branch) -> float:
    return branch.confidence or 0.0 if branch.known else 0.0


def _value(tree: Tree, trial: Trial) -> float:
    """Return the score of a split, raised by what its less sure half gained from splits of its own."""
    parts = [tree[path] for path in trial.parts]
    if not parts:
        return 0.0
    sure = (max([_confidence(part), *(_value(tree, below) for below in part.trials)]) for part in parts)
    return min(trial.score + min(sure) - min(map(_confidence, parts)), 1.0)


@branch_step()
async def keep_best(branch: Branch, context: Context[MctsSettings]) -> list[Branch]:
    """Keep the most valued split of each question, unless its own answer is surer; without any that is worth something, ask the root."""
    root, *others = _keep(context.tree, context.tree[ROOT])
    return [root.with_status("open") if root.status == "failed" and root.evidence else root, *others]


def _keep(tree: Tree, question: Branch) -> Iterator[Branch]:
    """Yield a question and all below it, each kept or pruned; what is below stays where it was answered from there without a choice."""
    if question.aggregated:
        yield question
        return
    values = {trial.parts: _value(tree, trial) for trial in question.trials if trial.parts}
    kept = max(values, key=values.__getitem__, default=())
    if not kept or values[kept] <= _confidence(question):
        why = "its own answer is surer than" if question.known else "nothing is known from"
        note, kept = f"{why} {pluralize(len(values), 'split')}" if values else "", ()
        yield question if question.status == "pruned" else _settled(question, False, trials=(), note=question.with_note(note))
    else:
        note = f"the best of {pluralize(len(values), 'split')}, valued {figure(values[kept])}"
        yield _settled(question, True, trials=(), parts=kept, score=values[kept], note=question.with_note(note))
    for part in children(tree, question.path):
        if part.path in kept:
            yield from _keep(tree, part)
        else:
            yield part.with_status("pruned", note=part.with_note(SET_ASIDE), trials=())
            yield from (below.with_status("pruned", trials=()) for below in descendants(tree, part.path))
