"""What calls have shown of a server, for the calls that follow."""

from dataclasses import dataclass, field
from typing import Literal

from ramify.tools.models.thinking import PLAIN, Way

Feature = Literal["form", "logprobs"]
NOTICES: dict[Feature, str] = {
    "form": "{name} takes no form for its replies: they are read from its text",
    "logprobs": "{name} gives no log probabilities: a confidence is what it says itself",
}
"""What the result says of a feature that is done without."""


@dataclass(eq=False)
class Record:
    """What calls have shown of a server; shared by all who call the same model."""

    answered: bool = False
    """Whether it ever answered as such a server does."""
    refused: set[Feature] = field(default_factory=set)
    way: Way = PLAIN
    """How it is asked, where it may think."""

    def move(self, way: Way, on: Way) -> None:
        """Leave a way for another, unless a call beside this one has done so."""
        if self.way is way:
            self.way = on

    def notices(self, name: str, thought: int) -> list[str]:
        """Say what is done otherwise than meant; `thought` is how many tokens a thought may take."""
        told = [self.way.notice, *(NOTICES[feature] for feature in sorted(self.refused))]
        return [words.format(name=name, more=f"each reply may take {thought} tokens more") for words in told if words]
