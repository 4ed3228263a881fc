"""Compare two results of one question: the first hop whose answer changed, and the sentence that it rests on, before and after."""

from collections.abc import Collection
from typing import NamedTuple

from ramify.nodes.tree import is_unknown, position
from ramify.testing.stored_results import Hop, Record, Sentence
from ramify.tools.english import fold
from ramify.tools.quoting import truncate_line

_MAX_CHARS = 120
"""Characters shown of an answer."""


class Difference(NamedTuple):
    """The first hop whose answer changed."""

    before: Hop | None
    """None where it was not asked before."""
    after: Hop | None
    """None where it is not asked any more."""

    @property
    def hop(self) -> Hop:
        """Return the hop as it is now, else as it was."""
        hop = self.after or self.before
        assert hop is not None
        return hop

    def lines(self, gone: Collection[str] = ()) -> list[str]:
        """Return the change in words: the question with both answers, then the sentences, each with its place; see `sentence_changes`."""
        named = f"{self.hop.path} {self.hop.question!r}"
        answers = f"{named}: {_answer(self.before)} → {_answer(self.after)}"
        old, new = (hop.sentences if hop else [] for hop in (self.before, self.after))
        return [answers, *sentence_changes(old, new, gone)]


def first_difference(before: Record, after: Record) -> Difference | None:
    """Return the first hop whose answer differs, those below a question before it; None if none does.

    Hops are aligned by their question, those with the same question by their order.
    """
    pairs = align(before.hops, after.hops)
    changed = [pair for pair in pairs if _answer_key(pair.before) != _answer_key(pair.after)]
    return changed[0] if changed else None


def align(before: list[Hop], after: list[Hop]) -> list[Difference]:
    """Pair the hops of two trees that have the same question, in the order in which they are answered; the rest stands alone."""
    rest = list(before)
    pairs = []
    for hop in after:
        same = next((other for other in rest if fold(other.question) == fold(hop.question)), None)
        if same is not None:
            rest.remove(same)
        pairs.append(Difference(same, hop))
    pairs += [Difference(hop, None) for hop in rest]
    return sorted(pairs, key=lambda pair: _answered(pair.hop.path))


def _answered(path: str) -> tuple[float, ...]:
    """Return the sort key of a path that puts a branch behind all below it."""
    return (*position(path), float("inf"))


def sentence_changes(before: list[Sentence], after: list[Sentence], gone: Collection[str] = ()) -> list[str]:
    """Return how the sentences changed: those of one file beside each other, then what is not cited any more and what is new.

    gone: the texts of sentences that the documents have no longer.
    """
    old = [sentence for sentence in before if sentence.text not in {other.text for other in after}]
    new = [sentence for sentence in after if sentence.text not in {other.text for other in before}]
    lines = []
    for sentence in old:
        same = next((other for other in new if other.source == sentence.source), None)
        if same is not None:
            new.remove(same)
        lines.append(
            f'{sentence.where}: "{sentence.text}" → '
            + (f'"{same.text}"' if same else "gone" if sentence.text in gone else "not cited any more")
        )
    return lines + [f'{sentence.where}: newly cited: "{sentence.text}"' for sentence in new]


def is_moved(before: Record, after: Record) -> bool:
    """Return whether an answer rests on other sentences than before, or one of its hops has another answer."""
    cited, cites = ({(sentence.source, sentence.text) for sentence in record.sentences} for record in (before, after))
    return cited != cites or first_difference(before, after) is not None


def _answer(hop: Hop | None) -> str:
    if hop is None:
        return "not asked"
    if hop.answer is None:
        return f"no answer ({hop.note})" if hop.note else "no answer"
    answer = truncate_line(hop.answer, _MAX_CHARS)
    return answer if hop.counts else f"{answer} (dropped: {hop.note})"


def _answer_key(hop: Hop | None) -> str | None:
    if hop is None or hop.answer is None or not hop.counts:
        return None
    return "" if is_unknown(hop.answer) else fold(hop.answer)
