"""How likely an answer of a known language model is right: fitted to the log probabilities of its answers.

A small model writes right and wrong answers with tokens of about the same, high probability. It was counted how often it was right at
which probability; for models that are not in the table, the probability itself is the confidence.
"""

import re
from collections.abc import Sequence
from math import exp
from typing import Any, NamedTuple

from ramify.nodes.step import Context, Update
from ramify.nodes.tree import DROPPED, ROOT, Branch, is_unknown
from ramify.nodes.tree.answers import repeats_answer
from ramify.tools.models.gguf_adapter import split_adapter
from ramify.tools.reader import Material, Reader, find_reader

COMPARED = frozenset({"earlier", "later", "more", "less", "before", "after", "exceeds"})
"""Combinations that compare two dates or numbers: a wrong date is often on the right side."""


class Fit(NamedTuple):
    """A logistic regression on the lowest confidence of the answers that an answer rests on, and on what else is known of them."""

    constant: float
    slope: float
    compared: float
    """Added where two dates or numbers are compared."""
    agreed: float = 0.0
    """Added where the embedded reader reads the same in the passages, in proportion to the answers of which that is so."""

    def likelihood(self, lowest: float, compared: bool, agreed: float = 0.0) -> float:
        """Return the probability that an answer is right."""
        return 1 / (1 + exp(-(self.constant + self.slope * lowest + self.compared * compared + self.agreed * agreed)))


class Fits(NamedTuple):
    """The fit of a model with the embedded reader's second opinion, and that without it."""

    seconded: Fit
    alone: Fit


FITS = {"qwen2.5-coder-1.5b": Fits(Fit(-5.67, 5.34, 1.22, 1.79), Fit(-6.31, 7.03, 1.59))}
"""By a part of the model's name, with its adapter if it has one (`NAME+adapter-HASH`).

Qwen2.5-Coder-1.5B-Instruct, Q4_K_M: 349 answers of a forerunner of `split` to development questions of 2WikiMultihopQA, MuSiQue and
HotpotQA, of which 44 % were right; in ten folds AUROC .81, expected calibration error .05; alone .78 and .07.
"""


def find_fits(model: str) -> Fits | None:
    """Return the fits of a model by its name, whatever signs it has between its parts; None if there are none.

    Those of a model alone do not hold with an adapter, nor those with one adapter for another.
    """
    name, adapter = split_adapter(model)
    for known, fits in FITS.items():
        fitted, with_adapter = split_adapter(known)
        if _bare(fitted) in _bare(name) and with_adapter == adapter:
            return fits
    return None


def answer_likelihood(context: Context[Any], update: Update) -> float:
    """Return how likely an answer of a language model is right: not more than the least sure of the hops that it rests on; blocking.

    Of a model with a fit, as often as its answers with such a lowest confidence, and with so many that the reader gives too, were right.
    """
    tree = context.tree
    cited = {citation.id for citation in update.get("citations", []) if citation.cited}
    known = [branch for branch in tree.values() if branch.known and branch.kind == "question" and branch.status not in DROPPED]
    hops = [branch for branch in known if branch.path != ROOT and cited.intersection(branch.cited)]
    lowest = min((branch.confidence for branch in hops if branch.confidence is not None), default=1.0)
    own: float = update["confidence"]
    fits = find_fits(context.state["model"]) if update.get("confidence_source") == "logprobs" else None
    if fits is None:
        return min(own, lowest)
    root = tree[ROOT]
    # The product of the hops, which a combined answer has as its own, is no confidence of an answer that a model gave.
    read = [branch for branch in hops if not branch.aggregated]
    lowest = min((branch.confidence for branch in read if branch.confidence is not None), default=1.0)
    lowest = lowest if root.aggregated and read else min(own, lowest)
    asked = read or [root.with_status(root.status, answer=str(update["answer"]))]
    return _fitted(fits, context, lowest, root.aggregated and root.together in COMPARED, asked)


def fork_likelihood(context: Context[Any], fork: Branch, halves: Sequence[Branch]) -> float:
    """Return how likely the answers to the halves of a fork are right, as `answer_likelihood` does; 0 if one is missing; blocking."""
    if not all(half.known for half in halves):
        return 0.0
    lowest = min(half.confidence or 0.0 for half in halves)
    from_tokens = all(half.confidence_source == "logprobs" for half in halves)
    fits = find_fits(context.state["model"]) if from_tokens else None
    return lowest if fits is None else _fitted(fits, context, lowest, fork.together in COMPARED, halves)


def _fitted(fits: Fits, context: Context[Any], lowest: float, compared: bool, read: Sequence[Branch]) -> float:
    """Return the likelihood by a fit, with the embedded reader's second opinion on the branches that were read, where there is one."""
    if (reader := find_reader()) is None:
        return fits.alone.likelihood(lowest, compared)
    return fits.seconded.likelihood(lowest, compared, _agreed(reader, context, read))


def _agreed(reader: Reader, context: Context[Any], branches: Sequence[Branch]) -> float:
    """Return the share of branches whose answer a reader reads in their passages, too; blocking."""

    def agrees(branch: Branch) -> bool:
        passages = context.passages(branch)[: context.settings.k]
        answer = reader.read_answer(branch.question, [Material(passage.title, passage.text) for passage in passages])
        return not is_unknown(answer) and repeats_answer(branch.answer or "", answer)

    return sum(map(agrees, branches)) / len(branches)


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
