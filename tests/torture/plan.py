"""What is asked under load: each question with its door, strategy, protocol and fault, all drawn from the seed and its number alone."""

from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from ramify.graphs.strategies import STRATEGIES

Door = Literal["python", "tool", "conversation", "command", "serve", "openai", "openai stream", "leave", "mcp http", "mcp stdio"]
DOORS: dict[Door, int] = {
    "python": 40,
    "tool": 14,
    "conversation": 10,
    "command": 1,
    "serve": 8,
    "openai": 7,
    "openai stream": 7,
    "leave": 5,
    "mcp http": 4,
    "mcp stdio": 4,
}
"""The doors, and how often each is taken; at `leave` a stream is left in the middle."""
PROTOCOLS = ("ollama", "openai")
CAP = 8
"""Calls that a process may make at once to a server."""
MAX_CALLS = 12
"""Calls that a question may cost where the door has one setting for all."""
FAULTS = (
    *("400", "401", "413", "422", "429", "429 with a time", "500", "503", "redirect", "reset", "cut", "empty", "page", "wrong envelope"),
    *("malformed", "half", "surrogate", "trickle", "hang", "huge", "log probabilities", "usage"),
)
Placing = Literal["first", "second", "some", "all", "last"]
PLACING: tuple[Placing, ...] = ("first", "second", "some", "all", "last")
"""Which calls of a question the fault befalls; `last` is whatever concludes."""
CONCLUDING = frozenset({"finalize", "compress", "reduce", "aggregate"})


@dataclass(frozen=True)
class Case:
    """A question of the plan."""

    seed: int
    number: int
    door: Door
    strategy: str
    protocol: str
    fault: str
    """Empty for none."""
    placing: Placing
    turns: int
    """Questions of a conversation; 1 elsewhere."""
    options: dict[str, Any] = field(default_factory=dict)
    """Settings, where the door takes them for each question."""

    def befalls(self, call: int, prompt: str) -> bool:
        """Tell whether the fault befalls a call, by its number from 1 and its prompt."""
        some = Random(f"{self.seed} {self.number} {call}").random() < 0.3
        where = {"first": call == 1, "second": call == 2, "some": some, "all": True, "last": prompt in CONCLUDING}
        return bool(self.fault) and where[self.placing]


def case(seed: int, number: int) -> Case:
    """Draw a question."""
    draw = Random(f"{seed} {number}")
    [door] = draw.choices([*DOORS], [*DOORS.values()])
    options: dict[str, Any] = {"style": draw.choice(["full", "short"])}
    if (most := draw.choice([None, 1, 3, MAX_CALLS])) is not None:
        options["max_calls"] = most
    return Case(
        seed,
        number,
        door,
        strategy=draw.choice([*STRATEGIES]),
        protocol=draw.choice(PROTOCOLS),
        fault=draw.choice(["", *FAULTS]) if draw.random() < 0.7 else "",
        placing=draw.choice(PLACING),
        turns=draw.randint(2, 3) if door in ("conversation", "serve") else 1,
        options=options,
    )


def served(seed: int, door: str) -> tuple[str, str]:
    """Draw the protocol and strategy of a server, which has one for all its questions."""
    draw = Random(f"{seed} {door}")
    return draw.choice(PROTOCOLS), draw.choice(["prune", "tor", "chain", "iterative"])
