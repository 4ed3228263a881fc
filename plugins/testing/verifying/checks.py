"""Checks of an answer: what was looked at, what came of it and why; and their sum."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from ramify.tools.quoting import pluralize

Verdict = Literal["holds", "fails", "unchecked", "changed"]
"""`unchecked`: no rule decides it; `changed`: the document is no longer the one that was cited, which says nothing of the answer."""
FORMAT = "ramify-verification/1"
ANSWER = "answer"
"""Where a check of the final answer is placed."""
MODEL_ALONE = "rests on the model alone"


class Check(NamedTuple):
    """What was checked, where (a branch's path, `answer`, `citation 1`, `sentence 1`), the verdict and the reason for it."""

    what: str
    where: str
    verdict: Verdict
    reason: str


class Steps(NamedTuple):
    """How many steps hold, fail and cannot be checked."""

    hold: int
    fail: int
    unchecked: int

    @property
    def total(self) -> int:
        """Return the number of steps."""
        return sum(self)


class Verification(NamedTuple):
    """All checks of an answer; its steps are the branches that have an answer and count, and the answer itself."""

    checks: list[Check]
    places: list[str]
    """Where the steps are: paths of branches, and `answer`."""
    documents_changed: list[str]
    """The sources that are not as they were when they were cited."""

    @property
    def holds(self) -> bool:
        """Return whether nothing fails and no document has changed; what cannot be checked counts as neither."""
        return not self.documents_changed and all(check.verdict not in ("fails", "changed") for check in self.checks)

    @property
    def steps(self) -> Steps:
        """Return the number of steps by verdict."""
        verdicts = [self.verdict(place) for place in self.places]
        return Steps(*(verdicts.count(verdict) for verdict in ("holds", "fails", "unchecked")))

    def at(self, where: str) -> list[Check]:
        """List the checks of a place."""
        return [check for check in self.checks if check.where == where]

    def verdict(self, where: str) -> Verdict | None:
        """Return the worst verdict of a place; None if nothing was checked there."""
        verdicts = [check.verdict for check in self.at(where)]
        return next((worst for worst in ("fails", "changed", "unchecked", "holds") if worst in verdicts), None)

    def summary(self) -> str:
        """Return the sum of the checks in a line."""
        steps = self.steps
        alone = sum(self._rests_on_model(place) for place in self.places)
        others = [check for check in self.checks if check.verdict == "fails" and check.where not in self.places]
        parts = [
            f"{steps.hold} of {pluralize(steps.total, 'step')} hold" if steps.total else "nothing is claimed: there is no step to check"
        ]
        parts += [f"{steps.fail} {'fails' if steps.fail == 1 else 'fail'}"] if steps.fail else []
        parts += [f"{alone} {'rests' if alone == 1 else 'rest'} on the model alone"] if alone else []
        parts += [f"{steps.unchecked - alone} cannot be checked"] if steps.unchecked > alone else []
        parts += [f"{pluralize(len(others), 'other check')} {'fails' if len(others) == 1 else 'fail'}"] if others else []
        parts += [f"changed since: {', '.join(self.documents_changed)}"] if self.documents_changed else []
        return "; ".join(parts)

    def _rests_on_model(self, place: str) -> bool:
        return self.verdict(place) == "unchecked" and any(MODEL_ALONE in check.reason for check in self.at(place))

    def to_json(self) -> dict[str, Any]:
        """Return the object that `ramify verify --json` prints."""
        return {
            "format": FORMAT,
            "steps": {**self.steps._asdict(), "total": self.steps.total},
            "checks": [check._asdict() for check in self.checks],
            "documents_changed": self.documents_changed,
        }


def changed_sources(checks: Sequence[Check], sources: dict[str, str]) -> list[str]:
    """List the sources of the citations that have changed, once each; `sources`: the source by where it is cited."""
    return list(dict.fromkeys(sources[check.where] for check in checks if check.verdict == "changed"))
