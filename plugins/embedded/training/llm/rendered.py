"""An example as a language model reads and writes it: the messages of a prompt, and the JSON of its reply."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from plugins.embedded.training.writing.written import fold
from ramify.nodes.asking.ask import ROLES
from ramify.nodes.asking.language_model import to_quotes
from ramify.nodes.settings import Settings
from ramify.prompts.lenient_types import SENTENCE_CHARS, reply_fields
from ramify.prompts.prompt import Example, Prompt
from ramify.tools.passage import Passage
from ramify.tools.quoting import truncate_line

SETTINGS: Final = Settings()
"""The defaults, which a small model gets: with a thought, with worked examples."""


@dataclass(frozen=True)
class Asked:
    """One call of a prompt: its slots and passages, and the reply that is right."""

    prompt: Prompt[Any]
    source: str
    kind: str
    """What the reply does, so that kinds are balanced."""
    groups: tuple[str, ...]
    """The question and the documents, by which it is dealt to training or kept out."""
    slots: Mapping[str, Any]
    reply: BaseModel
    thought: str = ""
    passages: tuple[Passage, ...] | None = None
    """Those shown, no more than a call shows."""
    text: str | None = None
    """The answer in sentences, if it is asked for (`style=full`)."""

    @property
    def question(self) -> str:
        """Return the words of the question."""
        return fold(str(self.slots["question"]))


def render(asked: Asked, settings: Settings = SETTINGS) -> dict[str, Any]:
    """Return an example as JSON values: its messages as a model with log probabilities of fewer than 4 billion parameters gets them."""
    prompt: Prompt[BaseModel] = asked.prompt.with_options(settings.thought, settings.shots, text=asked.text is not None, stated=False)
    slots = dict(asked.slots)
    if asked.passages is not None:
        slots["passages"] = list(to_quotes(asked.passages, settings).values())
    messages = [{"role": ROLES[message.type], "content": str(message.content)} for message in prompt.render(slots)]
    reply = Example(slots, asked.reply, asked.thought, asked.text or "").reply_json(reply_fields(prompt.reply))
    return {
        "prompt": prompt.name,
        "source": asked.source,
        "kind": asked.kind,
        "messages": messages,
        "reply": json.dumps(reply, ensure_ascii=False),
    }


def sentence(text: str) -> str:
    """Return a text as one sentence of a thought, as long as a reply may have it."""
    return truncate_line(f"{text[:1].upper()}{text[1:].rstrip('.')}.", SENTENCE_CHARS)
