"""What calls have shown of a server, for the calls that follow."""

from dataclasses import dataclass, field
from typing import Literal

Feature = Literal["form", "logprobs"]


@dataclass(eq=False)
class Record:
    """What calls have shown of a server; shared by all who call the same model."""

    answered: bool = False
    """Whether it ever answered as such a server does."""
    refused: set[Feature] = field(default_factory=set)
