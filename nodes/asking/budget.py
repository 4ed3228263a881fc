"""What a question may spend: calls, tokens, seconds. Hard limits, shared by all branches."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ramify.nodes.settings import Settings, is_large
from ramify.nodes.state import Usage
from ramify.prompts import COMPRESS, FINALIZE
from ramify.tools.errors import BudgetError, ModelError, ReplyError
from ramify.tools.models.servers import was_received, was_refused
from ramify.tools.models.tokens import estimate_tokens
from ramify.tools.quoting import truncate_line
from ramify.tools.reader import large
from ramify.tools.scrub import scrub

QUESTION = 100
"""Tokens set aside for the question in the final prompt."""
FINDING = 40
"""Tokens set aside for each branch that the final prompt shows."""
KEPT_SECONDS = 0.2
"""Share of the seconds that is kept back for the final call."""


@dataclass
class Budget:
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
    replied: bool = False
    """Whether any reply came before this step."""
    lost: ModelError | None = None
    """Why the model is not asked any more."""

    @classmethod
    def open(
        cls, settings: Settings, usage: Usage, started: float, kept: bool, branches: int = 0, last: bool = False, error: str = ""
    ) -> "Budget":
        """Work out what is left; `kept` keeps the final call back, which shows so many branches. After an `error` nothing is."""
        infinite = float("inf")
        final_tokens = settings.context_tokens + settings.num_predict + final_words(settings.thought) + FINDING * branches
        calls = infinite if settings.max_calls is None else settings.max_calls - usage.llm_calls - kept
        tokens = infinite if settings.max_tokens is None else settings.max_tokens - usage.tokens - kept * final_tokens
        share = 1 - KEPT_SECONDS if kept else 1.0
        deadline = infinite if settings.max_seconds is None else started + share * settings.max_seconds
        what, _, remedy = error.partition(" — ")
        lost = ModelError(what, remedy) if error else None
        return cls(settings, calls, tokens, deadline, last, kept, replied=bool(usage.replies), lost=lost)

    @classmethod
    @contextmanager
    def shared(cls, settings: Settings, state: Mapping[str, Any], superstep: int, kept: bool, last: bool) -> Iterator["Budget"]:
        """Give the budget of a superstep: steps that run side by side for one question draw on the same.

        After an error the next one to ask opens its own, because a run that is resumed begins its superstep anew.
        """
        question = (state.get("started") or 0.0, str(state.get("question")))
        known, budget = _SHARED.get(question, (None, None))
        if budget is None or known != superstep or last:
            usage, branches, error = state.get("usage") or Usage(), len(state.get("tree") or ()), state.get("error") or ""
            budget = cls.open(settings, usage, question[0], kept, branches, last, error)
            _forget(question)
            if not last:
                _SHARED[question] = (superstep, budget)
        try:
            yield budget
        except BaseException:
            _forget(question)
            raise

    def reserve(self, tokens: int, thought: int = 0) -> float | None:
        """Take one call and its tokens out before it is made, and tell how many seconds it may take (None: any).

        `thought` is what the model may think in the last call, beside what is kept back for it.
        BudgetError where too little is left, ModelError where the model is not asked any more.
        """
        if self.lost is not None:
            raise ModelError(self.lost.what, self.lost.remedy)
        if self.calls < 1:
            raise BudgetError("calls", self.settings.max_calls or 0)
        if self.tokens - self.kept * thought < tokens:
            raise BudgetError("tokens", self.settings.max_tokens or 0)
        if (left := self.deadline - time.time()) <= 0:
            raise BudgetError("seconds", self.settings.max_seconds or 0)
        self.calls -= 1
        self.tokens -= tokens
        return None if left == float("inf") else left

    def give_back(self, unused: Usage) -> None:
        """Return what was reserved and not used."""
        self.calls += unused.llm_calls
        self.tokens += unused.tokens


_SHARED: dict[tuple[float, str], tuple[int, Budget]] = {}
"""By question and when work on it began: the superstep that is at work, and its budget."""


def _forget(question: tuple[float, str]) -> None:
    """Let go of the budgets of earlier supersteps: a budget holds settings, and these an index. Loading moves the beginning on."""
    for began, asked in list(_SHARED):
        if asked == question[1] and began <= question[0]:
            _SHARED.pop((began, asked), None)


@dataclass
class CallContext:
    """What a running step or task can reach without being handed it."""

    settings: Settings
    budget: Budget
    spent: Usage = field(default_factory=Usage)
    shown: dict[str, int] = field(default_factory=dict)
    """The passages that the model was shown, by id, and how many characters of each."""
    notices: list[str] = field(default_factory=list)
    """What the result has to say of it."""
    failed: ReplyError | BudgetError | None = None
    """Why it failed, or went on with a warning."""
    waited: float = 0.0
    """Seconds that a person took to decide."""


class Booking:
    """The requests that one call takes: each is paid for before it leaves, with all that it may cost, until more is known.

    A request that nobody was there to take costs nothing. One that a server refused by its status costs a call and no tokens. One that
    brought no reply in another way may have been read: it costs its prompt and the longest reply.
    """

    def __init__(self, context: CallContext, prompt: int, longest: int, thought: int) -> None:
        self._context, self._thought = context, thought
        self._most = Usage(llm_calls=1, prompt_tokens=prompt, completion_tokens=longest)
        self.seconds = context.budget.reserve(self._most.tokens, thought)
        """How long all of it may take; None where there is no limit."""
        self._waiting = True
        self._failed = ""

    @contextmanager
    def request(self) -> Iterator[None]:
        """Pay for a request that is sent meanwhile; BudgetError where too little is left for it."""
        if not self._waiting:
            try:
                self._context.budget.reserve(self._most.tokens, self._thought)
            except BudgetError as error:
                raise BudgetError(error.limit, error.allowed, after=self._failed) from None
        self._waiting = False
        self._context.spent += self._most
        try:
            yield
        except Exception as error:
            self._failed = truncate_line(scrub(str(error)), 200)
            if not was_received(error):
                self.cost(Usage())
            elif was_refused(error):
                self.cost(Usage(llm_calls=1))
            raise

    def cost(self, known: Usage) -> None:
        """Put what the latest request has cost in the place of the most that it might have."""
        self._context.spent += known - self._most
        self._context.budget.give_back(self._most - known)

    def close(self) -> None:
        """Return what was reserved for a request that never left."""
        if self._waiting:
            self._context.budget.give_back(self._most)


@cache
def final_words(thought: bool) -> int:
    """Estimate the tokens of what a final prompt says beside its passages and findings; its worked examples can be left out."""
    told = (prompt.told_with(thought, 0) for prompt in (FINALIZE, COMPRESS))
    messages = (prompt.render(dict.fromkeys(prompt.slots, "")) for prompt in told)
    return QUESTION + max(sum(estimate_tokens(message.text) for message in final) for final in messages)


CURRENT: ContextVar[CallContext] = ContextVar("ramify_call_context")


@contextmanager
def working(settings: Settings, budget: Budget | None = None) -> Iterator[CallContext]:
    """Make settings and budget reachable, and book what is spent meanwhile; not given, the budget is all that the settings allow."""
    context = CallContext(settings, budget or Budget.open(settings, Usage(), time.time(), kept=False))
    before, reader_before = CURRENT.set(context), large.SELECTED.set(is_large(settings.model))
    try:
        yield context
    finally:
        large.SELECTED.reset(reader_before)
        CURRENT.reset(before)
