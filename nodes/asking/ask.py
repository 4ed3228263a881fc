"""The only entry point for model calls: `ask` finds the model that the settings name and calls it."""

import asyncio
from contextvars import ContextVar
from typing import Any

from ramify.embedded.answerer import Extractive
from ramify.nodes.asking.answerer import Answerer, OnText, Reply, T
from ramify.nodes.asking.budget import CURRENT
from ramify.nodes.asking.language_model import LanguageModel, to_quote
from ramify.nodes.settings import EMBEDDED, LARGE, Settings
from ramify.nodes.tree import Passage
from ramify.prompts.lenient_types import reply_fields
from ramify.prompts.prompt import Prompt
from ramify.tools.models import ModelOptions, find_best, resolve_model

__all__ = ["CALLS", "Answerer", "Reply", "ask", "current_model"]

ROLES = {"system": "system", "human": "user", "ai": "assistant"}
CALLS: ContextVar[list[dict[str, Any]] | None] = ContextVar("ramify_calls", default=None)
"""If set, each call is appended to it: the prompt's name, the question, the messages and the reply."""


async def ask(
    prompt: Prompt[T], passages: tuple[Passage, ...] | None = None, field: str = "answer", on_text: OnText | None = None, **slots: Any
) -> Reply[T]:
    """Call the model with one prompt; the confidence is that of the reply's `field`, whose text is streamed to `on_text`.

    BudgetError if the budget does not allow the call, MalformedError if no valid reply came, ModelError if there is no model.
    """
    model = await asyncio.to_thread(current_model, CURRENT.get().settings)
    reply = await model.answer(prompt, slots, passages, field, on_text)
    if (calls := CALLS.get()) is not None:
        calls.append(_call_record(prompt, slots, passages is not None, reply))
    return reply


def _call_record(prompt: Prompt[T], slots: dict[str, Any], reads: bool, reply: Reply[T]) -> dict[str, Any]:
    """Return a call as JSON values; for the embedded model the prompt is rendered without examples and thought."""
    messages = reply.messages
    if not messages:
        quotes = [to_quote(passage, CURRENT.get().settings) for passage in reply.passages]
        messages = tuple(prompt.with_options(False, 0, False).render({**slots, **({"passages": quotes} if reads else {})}))
    said = reply.value.model_dump(mode="json")
    return {
        "prompt": prompt.name,
        "question": str(slots.get("question", "")),
        "messages": [{"role": ROLES[message.type], "content": str(message.content)} for message in messages],
        "reply": {name: said[name] for name in reply_fields(type(reply.value))},
    }


def current_model(settings: Settings) -> Answerer:
    """Return the answerer of the model that the settings name; blocking.

    UsageError for an unknown name, ModelError for a model that is not available.
    """
    options = ModelOptions(**{name: getattr(settings, name) for name in ModelOptions.__dataclass_fields__})
    named = settings.model.strip() if isinstance(settings.model, str) else ""
    if named in (EMBEDDED, LARGE):
        return Extractive(settings)
    if named == "auto":
        found = find_best(options)
        return Extractive(settings, notice=found) if isinstance(found, str) else LanguageModel(found)
    return LanguageModel(resolve_model(settings.model, options))
