"""The questions of the load: each has an interface, strategy, protocol and fault, drawn from the seed and its number only."""

from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from ramify.graphs.strategies import STRATEGIES

Interface = Literal["python", "tool", "conversation", "command", "serve", "openai", "openai stream", "leave", "mcp http", "mcp stdio"]
INTERFACE_WEIGHTS: dict[Interface, int] = {
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
"""Weights of the interfaces; `leave` is a stream that is left in the middle."""
PROTOCOLS = ("ollama", "openai")
MAX_CONCURRENT_CALLS = 8
"""Maximum number of concurrent calls of a process to a server."""
MAX_CALLS_PER_QUESTION = 12
"""Maximum number of calls of a question on interfaces with one setting for all questions."""
FAULTS = (
    *("400", "401", "413", "422", "429", "429 with a time", "500", "503", "redirect", "reset", "cut", "empty", "page", "wrong envelope"),
    *("malformed", "half", "surrogate", "trickle", "hang", "huge", "log probabilities", "usage"),
)
FaultPlacement = Literal["first", "second", "some", "all", "last"]
FAULT_PLACEMENTS: tuple[FaultPlacement, ...] = ("first", "second", "some", "all", "last")
"""Which calls of a question are affected by the fault; `last` are those of FINAL_PROMPTS."""
FINAL_PROMPTS = frozenset({"finalize", "compress", "reduce", "aggregate"})


@dataclass(frozen=True)
class Case:
    """A question of the plan."""

    seed: int
    number: int
    interface: Interface
    strategy: str
    protocol: str
    fault: str
    """Empty for none."""
    placing: FaultPlacement
    turns: int
    """Questions of a conversation; 1 elsewhere."""
    options: dict[str, Any] = field(default_factory=dict)
    """Settings of the question, on interfaces that accept them per question."""

    def is_affected(self, call: int, prompt: str) -> bool:
        """Return whether the fault affects a call, given its number (from 1) and its prompt."""
        some = Random(f"{self.seed} {self.number} {call}").random() < 0.3
        where = {"first": call == 1, "second": call == 2, "some": some, "all": True, "last": prompt in FINAL_PROMPTS}
        return bool(self.fault) and where[self.placing]


def draw_case(seed: int, number: int) -> Case:
    """Return a question drawn by seed and number."""
    draw = Random(f"{seed} {number}")
    [interface] = draw.choices([*INTERFACE_WEIGHTS], [*INTERFACE_WEIGHTS.values()])
    options: dict[str, Any] = {"style": draw.choice(["full", "short"])}
    if (max_calls := draw.choice([None, 1, 3, MAX_CALLS_PER_QUESTION])) is not None:
        options["max_calls"] = max_calls
    return Case(
        seed,
        number,
        interface,
        strategy=draw.choice([*STRATEGIES]),
        protocol=draw.choice(PROTOCOLS),
        fault=draw.choice(["", *FAULTS]) if draw.random() < 0.7 else "",
        placing=draw.choice(FAULT_PLACEMENTS),
        turns=draw.randint(2, 3) if interface in ("conversation", "serve") else 1,
        options=options,
    )


def draw_server_settings(seed: int, interface: str) -> tuple[str, str]:
    """Return protocol and strategy of a server, which are the same for all its questions."""
    draw = Random(f"{seed} {interface}")
    return draw.choice(PROTOCOLS), draw.choice(["prune", "tor", "chain", "iterative"])
