"""The only entry point for model calls: find the answerer that the settings name, and ask it."""

import asyncio
from contextvars import ContextVar
from typing import Any

from ramify.nodes.asking.answerer import Answerer, OnText, Reply, T
from ramify.nodes.asking.budget import CURRENT
from ramify.nodes.asking.embedded import Extractive
from ramify.nodes.asking.language_model import LanguageModel, quote
from ramify.nodes.settings import EMBEDDED, LARGE, Settings
from ramify.nodes.tree import Passage
from ramify.prompts.lenient_types import asked_for
from ramify.prompts.prompt import Prompt
from ramify.tools.models import ModelOptions, find_best, resolve_model

__all__ = ["CALLS", "Answerer", "Reply", "ask", "current_model"]

ROLES = {"system": "system", "human": "user", "ai": "assistant"}
CALLS: ContextVar[list[dict[str, Any]] | None] = ContextVar("ramify_calls", default=None)
"""Where set, each call is added to it: the prompt's name, the question, the messages and the reply."""


async def ask(
    prompt: Prompt[T], passages: tuple[Passage, ...] | None = None, field: str = "answer", on_text: OnText | None = None, **slots: Any
) -> Reply[T]:
    """Ask the model one thing; the confidence is that of the reply's `field`, whose text `on_text` gets as it comes.

    BudgetError where the budget does not allow the call, MalformedError where no valid reply came, ModelError where there is no model.
    """
    model = await asyncio.to_thread(current_model, CURRENT.get().settings)
    reply = await model.answer(prompt, slots, passages, field, on_text)
    if (calls := CALLS.get()) is not None:
        calls.append(_recorded(prompt, slots, passages is not None, reply))
    return reply


def _recorded(prompt: Prompt[T], slots: dict[str, Any], reads: bool, reply: Reply[T]) -> dict[str, Any]:
    """Return a call as plain values; what the embedded model answered is rendered as for a language model, without examples and thought."""
    messages = reply.messages
    if not messages:
        quotes = [quote(passage, CURRENT.get().settings) for passage in reply.passages]
        messages = tuple(prompt.told_with(False, 0, False).render({**slots, **({"passages": quotes} if reads else {})}))
    said = reply.value.model_dump(mode="json")
    return {
        "prompt": prompt.name,
        "question": str(slots.get("question", "")),
        "messages": [{"role": ROLES[message.type], "content": str(message.content)} for message in messages],
        "reply": {name: said[name] for name in asked_for(type(reply.value))},
    }


def current_model(settings: Settings) -> Answerer:
    """Return what answers for the model that the settings name; blocking.

    UsageError for a name that means nothing, ModelError for a model that is not there.
    """
    options = ModelOptions(**{name: getattr(settings, name) for name in ModelOptions.__dataclass_fields__})
    named = settings.model.strip() if isinstance(settings.model, str) else ""
    if named in (EMBEDDED, LARGE):
        return Extractive(settings)
    if named == "auto":
        found = find_best(options)
        return Extractive(settings, notice=found) if isinstance(found, str) else LanguageModel(found)
    return LanguageModel(resolve_model(settings.model, options))
