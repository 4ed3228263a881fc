"""What a model thought before it wrote its reply: where that ends, and whether there was any."""

import re

from langchain_core.messages import AIMessage

from ramify.tools.models.confidence import spelled

OPENED, CLOSED = "<think>", "</think>"
BEGUN = ("{", "`")
"""How a reply begins that has no thought before it: as an object, or as a fence around one."""
BEFORE = re.compile(rf"\s*+(?![{{`]).*?{CLOSED}", re.DOTALL)
KEPT = "reasoning_content"
"""Where LangChain's clients keep a thought that came apart from the reply."""
UNWRITTEN = 16
"""Tokens, or characters of them, that a server may tell of beside those of the text: marks of the end."""


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


def _hidden(raw: AIMessage) -> bool:
    """Tell whether the server wrote more than the text: tokens that spell more, or more of them than the text has bytes."""
    if raw.tool_calls or raw.invalid_tool_calls:
        return False
    text, told = raw.text, raw.usage_metadata
    counted = told["output_tokens"] if told else 0
    return counted > len(text.encode("utf-8", "surrogatepass")) + UNWRITTEN or spelled(raw) > len(text) + UNWRITTEN
