"""The only entry point for model calls: `ask` finds the model that the settings name and calls it."""

import asyncio
from contextvars import ContextVar
from functools import cache
from typing import Any

from ramify.nodes.asking.answerer import SMALL, Answerer, OnText, Reply, T
from ramify.nodes.asking.budget import CALL_CONTEXT
from ramify.nodes.asking.language_model import LanguageModel, to_quote
from ramify.nodes.settings import AUTO, EMBEDDED, Settings, Splitter, SplitterSettings, is_embedded
from ramify.nodes.tree import Passage
from ramify.prompts.lenient_types import reply_fields
from ramify.prompts.prompt import Prompt
from ramify.tools import plugins
from ramify.tools.errors import ModelError
from ramify.tools.models import ModelOptions, find_best, resolve_model
from ramify.tools.models.gguf import GGUF, check_adapter, find_gguf
from ramify.tools.models.named import FALLBACK_NOTICE

__all__ = [
    "CALLS",
    "Answerer",
    "Reply",
    "answerer_class",
    "ask",
    "ask_writer",
    "chosen_splitter",
    "current_model",
    "embedded_writer",
    "is_small",
]

ROLES = {"system": "system", "human": "user", "ai": "assistant"}
CALLS: ContextVar[list[dict[str, Any]] | None] = ContextVar("ramify_calls", default=None)
"""If set, each call is appended to it: the prompt's name, the question, the messages and the reply."""


async def ask(
    prompt: Prompt[T], passages: tuple[Passage, ...] | None = None, field: str = "answer", on_text: OnText | None = None, **slots: Any
) -> Reply[T]:
    """Call the model with one prompt; the confidence is that of the reply's `field`, whose text is streamed to `on_text`.

    BudgetError if the budget does not allow the call, MalformedError if no valid reply came, ModelError if there is no model.
    """
    model = await asyncio.to_thread(current_model, CALL_CONTEXT.get().settings)
    reply = await model.answer(prompt, slots, passages, field, on_text)
    if (calls := CALLS.get()) is not None:
        calls.append(_call_record(prompt, slots, passages is not None, reply))
    return reply


def _call_record(prompt: Prompt[T], slots: dict[str, Any], reads: bool, reply: Reply[T]) -> dict[str, Any]:
    """Return a call as JSON values; for the embedded model the prompt is rendered without examples and thought."""
    messages = reply.messages
    if not messages:
        quotes = [to_quote(passage, CALL_CONTEXT.get().settings) for passage in reply.passages]
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
    notice = ""
    if named == AUTO:
        best = find_best(options)
        if not isinstance(best, str):
            return LanguageModel(best, settings.think)
        named, notice = EMBEDDED, best
    if (kind := answerer_class(named)) is not LanguageModel:
        check_adapter(settings.adapter, named)
        return kind(settings, notice)  # type: ignore[call-arg]  # so made by a plug-in
    if is_embedded(named):
        reason, _, remedy = notice.partition(f": {FALLBACK_NOTICE} — ")
        what = f"the model {EMBEDDED!r} is not installed"
        remedy = remedy or "name a language model, such as ollama:llama3.1:8b"
        raise ModelError(f"{reason}, and {what}" if reason else what, f"{remedy}; or reinstall ramify-rag, which has {EMBEDDED}")
    return LanguageModel(resolve_model(settings.model, options), settings.think)


def embedded_writer() -> type[Answerer]:
    """Return the class of the embedded model, whose writer splits and whose arithmetic combines; ModelError if it is not installed."""
    if not (kind := answerer_class(EMBEDDED)).splits:
        raise ModelError(
            f"the model {EMBEDDED!r}, which splitter=embedded needs, is not installed", "set splitter=model, or reinstall ramify-rag"
        )
    return kind


async def ask_writer(prompt: Prompt[T], **slots: Any) -> Reply[T] | None:
    """Return the embedded model's reply to a prompt without passages, by no call that counts; None for a question it cannot read.

    ModelError if it is not installed.
    """
    value = await asyncio.to_thread(embedded_writer().compute, prompt, slots)
    return None if value is None else Reply(value, getattr(value, "confidence", 1.0), "reader", ())


def is_small(settings: Settings) -> bool:
    """Return whether the settings' model is a small language model, a GGUF file by its header, without loading it; blocking.

    UsageError for an unknown name, ModelError for a model that is not available.
    """
    name = settings.model.strip() if isinstance(settings.model, str) else ""
    if name.startswith(GGUF):
        return find_gguf(name.removeprefix(GGUF))[1].parameters < SMALL
    return current_model(settings).is_small


def chosen_splitter(settings: SplitterSettings) -> Splitter:
    """Return what splits a question: what is set, or for `auto` the embedded writer where the model is small; blocking."""
    if settings.splitter != AUTO:
        return settings.splitter
    return "embedded" if is_small(settings) and answerer_class(EMBEDDED).splits else "model"


@cache
def answerer_class(name: str) -> type[Answerer]:
    """Return the class of the model with a name: that of a plug-in (`ramify.models`), else that of language models.

    PluginError if the plug-in cannot be imported.
    """
    kind = name.strip().partition(":")[0]
    answerer: type[Answerer] = plugins.load("ramify.models", kind) if kind in plugins.names("ramify.models") else LanguageModel
    return answerer
