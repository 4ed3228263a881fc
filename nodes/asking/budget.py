"""What a question may spend: calls, tokens, seconds. Hard limits, shared by all branches."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache

from ramify.nodes.settings import Settings
from ramify.nodes.state import Usage
from ramify.prompts import COMPRESS, FINALIZE
from ramify.tools.errors import BudgetError
from ramify.tools.models.tokens import estimate

QUESTION = 100
"""Tokens set aside for the question in the final prompt."""
FINDING = 40
"""Tokens set aside for each branch that the final prompt shows."""
KEPT_SECONDS = 0.2
"""Share of the seconds that is kept back for the final call."""


@dataclass
class Ledger:
    """What is left for one step; its tasks draw on it side by side."""

    settings: Settings
    calls: float
    tokens: float
    deadline: float
    """Seconds since the epoch."""
    last: bool = False
    """Whether it is for the question's last call, which shows fewer passages where few tokens are left."""
    kept: bool = False
    """Whether the last call's share is kept back."""
    told: dict[str, None] = field(default_factory=dict)
    """What calls have shown of the model's server, for the result to say; each once."""

    @classmethod
    def open(cls, settings: Settings, usage: Usage, started: float, kept: bool, branches: int = 0, last: bool = False) -> "Ledger":
        """Work out what is left; `kept` keeps the final call back, which shows so many branches."""
        infinite = float("inf")
        final_tokens = settings.context_tokens + settings.num_predict + final_words(settings.thought) + FINDING * branches
        calls = infinite if settings.max_calls is None else settings.max_calls - usage.llm_calls - kept
        tokens = infinite if settings.max_tokens is None else settings.max_tokens - usage.tokens - kept * final_tokens
        share = 1 - KEPT_SECONDS if kept else 1.0
        deadline = infinite if settings.max_seconds is None else started + share * settings.max_seconds
        return cls(settings, calls, tokens, deadline, last, kept)

    def reserve(self, tokens: int, thought: int = 0) -> float | None:
        """Take one call and its tokens out before it is made, and tell how many seconds it may take (None: any).

        `thought` is what the model may think in the last call, beside what is kept back for it.
        BudgetError where too little is left.
        """
        if self.calls < 1:
            raise BudgetError("calls", self.settings.max_calls or 0)
        if self.tokens - self.kept * thought < tokens:
            raise BudgetError("tokens", self.settings.max_tokens or 0)
        if (left := self.deadline - time.time()) <= 0:
            raise BudgetError("seconds", self.settings.max_seconds or 0)
        self.calls -= 1
        self.tokens -= tokens
        return None if left == float("inf") else left

    def give_back(self, tokens: int) -> None:
        """Return what was reserved and not used."""
        self.tokens += tokens


@dataclass
class Work:
    """What a running step or task can reach without being handed it."""

    settings: Settings
    ledger: Ledger
    spent: Usage = field(default_factory=Usage)
    shown: dict[str, int] = field(default_factory=dict)
    """The passages that the model was shown, by id, and how many characters of each."""


@cache
def final_words(thought: bool) -> int:
    """Estimate the tokens of what a final prompt says beside its passages and findings; its worked examples can be left out."""
    told = (prompt.told_with(thought, 0) for prompt in (FINALIZE, COMPRESS))
    messages = (prompt.render(dict.fromkeys(prompt.slots, "")) for prompt in told)
    return QUESTION + max(sum(estimate(message.text) for message in final) for final in messages)


CURRENT: ContextVar[Work] = ContextVar("ramify_work")


@contextmanager
def working(settings: Settings, ledger: Ledger) -> Iterator[Work]:
    """Make settings and ledger reachable, and book what is spent meanwhile."""
    work = Work(settings, ledger)
    token = CURRENT.set(work)
    try:
        yield work
    finally:
        CURRENT.reset(token)
