"""What the reader told, how sure it was, and which confidence is enough: for giving an answer, and for looking no further."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ramify.evaluation.metrics import exact_match, token_f1
from ramify.tools.reader.calibration import Constants, Evidence, confidence
from ramify.tools.reader.short_answers import ReadAnswer
from training.searched import Searched

THRESHOLDS: Final = tuple(number / 20 for number in range(1, 11))
SURE_ENOUGH: Final = 0.85
"""The share of answers that are to be right where nothing further is looked up."""


class Told(NamedTuple):
    """What the network says to a question."""

    item: Searched
    found: ReadAnswer
    evidence: Evidence

    @property
    def right(self) -> float:
        """Tell whether it is the answer."""
        return exact_match(self.found.answer, self.item.answers or ("",))


class Rated(NamedTuple):
    """What the network says, and how sure it is."""

    told: Told
    sure: float


def rated(some: Iterable[Told], constants: Mapping[bool, Constants]) -> list[Rated]:
    """Say how sure the reader is of what it told."""
    return [Rated(one, confidence(one.evidence, constants[one.found.verdict])) for one in some]


def least(some: Sequence[Rated]) -> str:
    """Say which answers to withhold."""
    worths = {least: worth(some, least) for least in THRESHOLDS}
    best = max(worths, key=lambda least: worths[least])
    return (
        f"LEAST = {best}: token F1 is best where answers below are withheld ({', '.join(f'{at:g}: {f1:.3f}' for at, f1 in worths.items())})"
    )


def worth(some: Sequence[Rated], least: float) -> float:
    """Give the mean token F1 where unsure answers are withheld, which is right where there is no answer (as in SQuAD 2.0)."""
    given = [(one.told.found.answer if one.sure >= least else "", one.told.item.answers or ("",)) for one in some]
    return sum(token_f1(answer, golds) for answer, golds in given) / len(some)


def tau(some: Sequence[Rated]) -> str:
    """Say above which confidence answers are right often enough to look no further."""
    enough = [at / 100 for at in range(100) if above(some, at / 100) and share_right(above(some, at / 100)) >= SURE_ENOUGH]
    if not enough:
        return f"TAU: nowhere are {SURE_ENOUGH:.0%} of the answers right"
    return f"TAU = {enough[0]}: the least above which {SURE_ENOUGH:.0%} of the answers are right ({accepted(some, enough[0])})"


def above(some: Sequence[Rated], sure: float) -> list[Rated]:
    """Give the answers that are surer."""
    return [one for one in some if one.sure > sure]


def share_right(some: Sequence[Rated]) -> float:
    """Give how many of the answers are right."""
    return sum(one.told.right for one in some) / len(some)


def accepted(some: Sequence[Rated], sure: float) -> str:
    """Tell how many answers are surer, and how many of those are right."""
    found = above(some, sure)
    return f"{len(found) / len(some):.0%} accepted" + (f", {share_right(found):.0%} of them right" if found else "")
