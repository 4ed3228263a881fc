"""A branch goes on in spite of a call that failed, and says so."""

from ramify.nodes.step import Growth
from ramify.nodes.tree import ROOT, Branch
from ramify.tools.errors import MalformedError, ReplyError

UNSPLIT = "searched as it is, not split"


def despite(error: ReplyError, branch: Branch, told: str) -> Growth:
    """Bring back a branch that goes on as told in spite of an error; of the root's the result says so, too."""
    note = f"{told}: {error}"
    return Growth(
        branches=(branch.to(branch.status, note=branch.noted(note)),),
        failure=str(error),
        malformed=isinstance(error, MalformedError),
        notices=(note,) if branch.path == ROOT else (),
    )
