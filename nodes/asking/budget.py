"""The budget of a question: hard limits on calls, tokens and seconds, shared by all branches."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ramify.nodes.settings import Settings
from ramify.nodes.state import Usage
from ramify.prompts import COMPRESS, FINALIZE
from ramify.tools.errors import BudgetError, ModelError, ReplyError
from ramify.tools.models.server_info import limited_requests
from ramify.tools.models.servers import was_received, was_refused
from ramify.tools.models.tokens import estimate_tokens
from ramify.tools.quoting import truncate_line
from ramify.tools.scrub import scrub

QUESTION_TOKENS = 100
"""Tokens set aside for the question in the final prompt."""
FINDING_TOKENS = 40
"""Tokens set aside for each branch that the final prompt shows."""
FINAL_CALL_SHARE = 0.2
"""Fraction of the seconds that is reserved for the final call."""


@dataclass
class Budget:
    """The remaining budget of one step, shared by its concurrent tasks."""

    settings: Settings
    calls: float
    tokens: float
    deadline: float
    """Seconds since the epoch."""
    last: bool = False
    """Whether it is for the question's final call, which shows fewer passages if few tokens are left."""
    reserves_final_call: bool = False
    """Whether the share of the final call is reserved."""
    notices: dict[str, None] = field(default_factory=dict)
    """Notices about the model's server for the result, without duplicates, in order."""
    has_replied: bool = False
    """Whether the model has replied before this step."""
    model_error: ModelError | None = None
    """Why the model is not called any more; None if it is available."""

    @classmethod
    def open(
        cls,
        settings: Settings,
        usage: Usage,
        started: float,
        reserves_final_call: bool,
        branches: int = 0,
        last: bool = False,
        error: str = "",
    ) -> "Budget":
        """Return the remaining budget, less the final call over so many branches if that is reserved; none after an `error`."""
        infinite = float("inf")
        final_tokens = settings.context_tokens + settings.num_predict + final_prompt_tokens(settings.thought) + FINDING_TOKENS * branches
        calls = infinite if settings.max_calls is None else settings.max_calls - usage.llm_calls - reserves_final_call
        tokens = infinite if settings.max_tokens is None else settings.max_tokens - usage.tokens - reserves_final_call * final_tokens
        share = 1 - FINAL_CALL_SHARE if reserves_final_call else 1.0
        deadline = infinite if settings.max_seconds is None else started + share * settings.max_seconds
        what, _, remedy = error.partition(" — ")
        model_error = ModelError(what, remedy) if error else None
        return cls(settings, calls, tokens, deadline, last, reserves_final_call, has_replied=bool(usage.replies), model_error=model_error)

    @classmethod
    @contextmanager
    def shared(
        cls, settings: Settings, state: Mapping[str, Any], superstep: int, reserves_final_call: bool, last: bool
    ) -> Iterator["Budget"]:
        """Yield the budget of a superstep, which concurrent steps of one question share.

        After an error the next step opens a new one, because a resumed run repeats its superstep.
        """
        question = (state.get("started") or 0.0, str(state.get("question")))
        known, budget = _SUPERSTEP_BUDGETS.get(question, (None, None))
        if budget is None or known != superstep or last:
            usage, branches, error = state.get("usage") or Usage(), len(state.get("tree") or ()), state.get("error") or ""
            budget = cls.open(settings, usage, question[0], reserves_final_call, branches, last, error)
            _drop_budgets(question)
            if not last:
                _SUPERSTEP_BUDGETS[question] = (superstep, budget)
        try:
            yield budget
        except BaseException:
            _drop_budgets(question)
            raise

    def reserve(self, tokens: int, thought: int = 0) -> float | None:
        """Reserve one call and its tokens; return the seconds it may take, None for no limit.

        `thought`: tokens of reasoning in the final call, in addition to what is reserved for it.
        BudgetError if too little is left, ModelError if the model is not available any more.
        """
        if self.model_error is not None:
            raise ModelError(self.model_error.what, self.model_error.remedy)
        if self.calls < 1:
            raise BudgetError("calls", self.settings.max_calls or 0)
        if self.tokens - self.reserves_final_call * thought < tokens:
            raise BudgetError("tokens", self.settings.max_tokens or 0)
        if (remaining := self.deadline - time.time()) <= 0:
            raise BudgetError("seconds", self.settings.max_seconds or 0)
        self.calls -= 1
        self.tokens -= tokens
        return None if remaining == float("inf") else remaining

    def release(self, unused: Usage) -> None:
        """Add back what was reserved and not used."""
        self.calls += unused.llm_calls
        self.tokens += unused.tokens


_SUPERSTEP_BUDGETS: dict[tuple[float, str], tuple[int, Budget]] = {}
"""The current superstep and its budget, by start time and question."""


def _drop_budgets(question: tuple[float, str]) -> None:
    """Drop the budgets of earlier supersteps, because they reference settings and thus an index. Loading delays the start time."""
    for began, asked in list(_SUPERSTEP_BUDGETS):
        if asked == question[1] and began <= question[0]:
            _SUPERSTEP_BUDGETS.pop((began, asked), None)


@dataclass
class CallContext:
    """State of the running step or task, reached through a context variable."""

    settings: Settings
    budget: Budget
    spent: Usage = field(default_factory=Usage)
    shown: dict[str, int] = field(default_factory=dict)
    """The passages that the model was shown, by id, and how many characters of each."""
    notices: list[str] = field(default_factory=list)
    """Notices for the result."""
    failed: ReplyError | BudgetError | None = None
    """Why it failed, or continued with a warning."""
    review_s: float = 0.0
    """Seconds that a person took to review."""


class Booking:
    """Accounting of the requests of one call: each is charged at its maximum cost before it is sent, and corrected afterwards.

    A request that reached no server costs nothing. One rejected by its HTTP status costs a call and no tokens. One that failed
    otherwise may have been processed: it costs its prompt and the longest reply.
    """

    def __init__(self, context: CallContext, prompt: int, longest: int, thought: int) -> None:
        self._context, self._thought = context, thought
        self._reserved = Usage(llm_calls=1, prompt_tokens=prompt, completion_tokens=longest)
        self.seconds = context.budget.reserve(self._reserved.tokens, thought)
        """Seconds that all requests may take; None for no limit."""
        self._unsent = True
        self._failed = ""

    @contextmanager
    def request(self) -> Iterator[None]:
        """Charge the budget for the request sent in this context; BudgetError if too little is left."""
        if not self._unsent:
            try:
                self._context.budget.reserve(self._reserved.tokens, self._thought)
            except BudgetError as error:
                raise BudgetError(error.limit, error.allowed, after=self._failed) from None
        self._unsent = False
        self._context.spent += self._reserved
        try:
            yield
        except Exception as error:
            self._failed = truncate_line(scrub(str(error)), 200)
            if not was_received(error):
                self.record(Usage())
            elif was_refused(error):
                self.record(Usage(llm_calls=1))
            raise

    def record(self, known: Usage) -> None:
        """Replace the reserved maximum by the actual cost of the latest request."""
        self._context.spent += known - self._reserved
        self._context.budget.release(self._reserved - known)

    def close(self) -> None:
        """Release what was reserved if no request was sent."""
        if self._unsent:
            self._context.budget.release(self._reserved)


@cache
def final_prompt_tokens(thought: bool) -> int:
    """Estimate the tokens of a final prompt without passages, findings and worked examples."""
    variants = (prompt.with_options(thought, 0) for prompt in (FINALIZE, COMPRESS))
    messages = (prompt.render(dict.fromkeys(prompt.slots, "")) for prompt in variants)
    return QUESTION_TOKENS + max(sum(estimate_tokens(message.text) for message in final) for final in messages)


CALL_CONTEXT: ContextVar[CallContext] = ContextVar("ramify_call_context")


@contextmanager
def call_context(settings: Settings, budget: Budget | None = None) -> Iterator[CallContext]:
    """Set the call context and record what is spent in it; without a budget, that of the settings."""
    context = CallContext(settings, budget or Budget.open(settings, Usage(), time.time(), reserves_final_call=False))
    before = CALL_CONTEXT.set(context)
    try:
        with limited_requests(context.budget.deadline):
            yield context
    finally:
        CALL_CONTEXT.reset(before)
