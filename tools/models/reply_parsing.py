"""What a model wrote, read as one object of a given type, and apart from it what the model thought before."""

import json
import re
from dataclasses import dataclass

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from ramify.tools.models.confidence import spelled
from ramify.tools.models.json_text import HALF, objects, whole
from ramify.tools.scrub import without_known

CUT_OFF = frozenset({"length", "max_tokens", "MAX_TOKENS"})
LONGEST = 2**17
"""Characters of a reply that is read at all: a good deal more than any model writes in one go."""
TOLD = 8
"""Faults of an object that the model is told of."""
SHOWN = 1000
"""Characters that are kept of a longer one."""
OPENED, CLOSED = "<think>", "</think>"
BEGUN = ("{", "`")
"""How a reply begins that has no thought before it: as an object, or as a fence around one."""
BEFORE = re.compile(rf"\s*+(?![{{`]).*?{CLOSED}", re.DOTALL)
KEPT = "reasoning_content"
"""Where LangChain's clients keep a thought that came apart from the reply."""
MOST_TOKENS = 2**31
"""No prompt or reply has so many; a server that tells of more tells nothing."""
UNWRITTEN = 16
"""Tokens, or characters of them, that a server may tell of beside those of the text: marks of the end."""


@dataclass(frozen=True)
class Structured:
    """A reply as it came, and as the object it was to be, without keys; `error` says why there is none."""

    raw: AIMessage
    parsed: BaseModel | None
    error: str | None
    thought: bool = False
    """Whether the model thought before it wrote, or instead."""
    cut_off: bool = False

    @property
    def bare(self) -> bool:
        """Tell whether the text is an object and nothing else, as far as it goes: so it is where a server holds it to that."""
        text = self.raw.text.strip()
        return text.startswith("{") and (self.cut_off or text.endswith("}"))

    @property
    def remedy(self) -> str:
        """Say what the user can do about a reply that cannot be read."""
        if self.thought and self.cut_off:
            return "raise num_predict and num_ctx, or take a model that does not think"
        return "try a larger model, or raise num_predict"


def read(raw: AIMessage, parsed: object, schema: type[BaseModel]) -> Structured:
    """Take the object that the client parsed, or the one written in the model's tool call or text."""
    if raw.usage_metadata and not all(_is_count(raw.usage_metadata.get(name)) for name in ("input_tokens", "output_tokens")):
        raw = raw.model_copy(update={"usage_metadata": None})
    raw, thought = apart(raw)
    called = [json.dumps(call["args"]) for call in raw.tool_calls] + [call["args"] or "" for call in raw.invalid_tool_calls]
    text = "\n".join(called) if called else raw.text
    if len(text) > LONGEST:
        shown = raw.model_copy(update={"content": text[:SHOWN]})
        return Structured(shown, None, f"it is longer than {LONGEST:,} characters: write less")
    if HALF.search(raw.text):
        raw = raw.model_copy(update={"content": whole(raw.text)})
    cut_off = bool(CUT_OFF & {raw.response_metadata.get(name) for name in ("finish_reason", "done_reason", "stop_reason")})
    if isinstance(parsed, schema) and not cut_off and without_known(text) == text:
        return Structured(raw, parsed, None, thought)
    found, error = parse(whole(text), schema)
    if found is None and cut_off:
        error = "it thought until num_predict: think less" if thought else "it was cut off before its end: write less"
    return Structured(raw, found, error, thought, cut_off)


def parse(text: str, schema: type[BaseModel]) -> tuple[BaseModel | None, str | None]:
    """Read the last object in a text that is one of the schema; fences and words around it do not matter.

    Keys that a server repeats are masked here, before long texts are cut, so that nothing that comes of a reply holds one.
    """
    error = "it is empty" if not text.strip() else "it holds no complete JSON object"
    for _, value in reversed(list(objects(text))):
        try:
            return schema.model_validate(without_known(value)), None
        except ValidationError as invalid:
            error = "; ".join(f"{'.'.join(map(str, told['loc'])) or 'object'}: {told['msg']}" for told in invalid.errors()[:TOLD])
    return None, error


def apart(raw: AIMessage) -> tuple[AIMessage, bool]:
    """Move what the model thought in its text to where LangChain keeps thoughts, and tell whether it thought at all."""
    hidden = _hidden(raw)
    thought, said = parted(raw.text)
    if said != raw.text:
        kept = {**raw.additional_kwargs, KEPT: f"{raw.additional_kwargs.get(KEPT) or ''}{thought}"}
        raw = raw.model_copy(update={"content": said, "additional_kwargs": kept})
    return raw, hidden or bool(raw.additional_kwargs.get(KEPT))


def parted(text: str) -> tuple[str, str]:
    """Part a text into thought and reply; of a thought that does not end nothing is reply."""
    place = 0
    while closed := BEFORE.match(text, place):
        place = closed.end()
    said, opened, unended = text[place:], "", ""
    if not said.lstrip().startswith(BEGUN):
        said, opened, unended = said.partition(OPENED)
    thought = (text[:place] + unended).replace(OPENED, "").replace(CLOSED, "").strip()
    return (thought, said) if place or opened else ("", text)


def text_so_far(written: str, field: str) -> str:
    """Return what an unfinished reply holds of a text field of its object; empty where that has not begun."""
    _, said = parted(written)
    start = said.find("{")
    try:
        told = from_json(said[start:], allow_partial="trailing-strings") if start >= 0 else {}
    except ValueError:
        return ""
    text = told.get(field) if isinstance(told, dict) else None
    return text if isinstance(text, str) else ""


def _is_count(told: object) -> bool:
    """Tell a number of tokens from what a server may send in its place: negative, fractional, a text."""
    return type(told) is int and 0 <= told < MOST_TOKENS


def _hidden(raw: AIMessage) -> bool:
    """Tell whether the server wrote more than the text: tokens that spell more, or more of them than the text has bytes."""
    if raw.tool_calls or raw.invalid_tool_calls:
        return False
    text, told = raw.text, raw.usage_metadata
    counted = told["output_tokens"] if told else 0
    return counted > len(text.encode("utf-8", "surrogatepass")) + UNWRITTEN or spelled(raw) > len(text) + UNWRITTEN
