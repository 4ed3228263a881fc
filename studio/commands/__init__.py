"""The commands of the command line, one per file; those of plug-ins come by the entry points `ramify.commands`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

Group = Literal["Ask", "Documents", "Serve and agents", "Measure", "Set up", "Other"]
"""A heading of the help."""
GROUPS: tuple[Group, ...] = get_args(Group)
__all__ = ["GROUPS", "Command", "Group"]


@dataclass(frozen=True)
class Command:
    """A command of the command line; of a plug-in, a function alone will do."""

    function: Callable[..., object]
    """What it does; its parameters are the options, as typer reads them."""
    group: Group = "Other"
    """The heading below which the help lists it."""
    after: str = ""
    """The command of the group below which the help lists it; "" at the end."""
    resumes: bool = False
    """Whether it goes on where it was interrupted when it is run again; it says so then."""
    ends_at_once: bool = False
    """Whether the process ends with it, without waiting for threads in the background."""
