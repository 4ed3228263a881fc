"""One short thought before a model commits itself: it writes from left to right, and what it has weighed it can still heed."""

from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, Field, create_model

from ramify.prompts.lenient_types import THOUGHT, Said, Sentence

T = TypeVar("T", bound=BaseModel)


@cache
def thinking(reply: type[T], of: str) -> type[T]:
    """Ask for a sentence of thought before the fields of a reply, and say what `of`."""
    thought: dict[str, Any] = {THOUGHT: (Sentence, Field(default="", description=f"one short sentence: {of}"))}
    before = create_model("Thought", __base__=Said, **thought)
    thoughtful: Any = create_model(reply.__name__, __base__=(reply, before), __doc__=reply.__doc__)
    return thoughtful  # type: ignore[no-any-return]
