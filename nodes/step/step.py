"""What a step is to the graph that it is wired into."""

from typing import Any, Protocol

from ramify.nodes.settings import Settings
from ramify.nodes.state import State

Update = dict[str, Any]


class Step(Protocol):
    """A verb over the tree."""

    __name__: str
    takes: frozenset[str]
    gives: frozenset[str]
    final: bool
    """Whether it makes the question's last call, which budgets keep back."""

    def wanted(self, state: State, settings: Settings) -> bool:
        """Tell whether the step has anything to do."""
        ...

    async def run(self, state: State, settings: Settings) -> Update:
        """Do it and give the state's update."""
        ...
