"""What acting on a branch brings back: branches that grew of it, also in spite of a call that failed."""

from ramify.nodes.step.attempt import Outcome
from ramify.nodes.tree import ROOT, Branch, Passage
from ramify.tools.errors import MalformedError, ReplyError

UNSPLIT = "searched as it is, not split"


class Growth(Outcome):
    """What the task of a branch brings back; with branches beside a failure, they go on in spite of it."""

    branches: tuple[Branch, ...] = ()
    passages: tuple[Passage, ...] = ()
    notices: tuple[str, ...] = ()
    """What the result has to say of it."""


def grow(*branches: Branch) -> Growth:
    """Bring back branches."""
    return Growth(branches=branches)


def despite(error: ReplyError, branch: Branch, told: str) -> Growth:
    """Bring back a branch that goes on as told in spite of an error; of the root's the result says so, too."""
    note = f"{told}: {error}"
    return Growth(
        branches=(branch.to(branch.status, note=branch.noted(note)),),
        failure=str(error),
        malformed=isinstance(error, MalformedError),
        notices=(note,) if branch.path == ROOT else (),
    )
