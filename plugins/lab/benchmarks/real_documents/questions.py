"""The questions: what was asked, the answers that count, and the quotes of the manuals they rest on."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

Type = Literal["fact", "two_hops", "three_hops", "yes_no", "how_to", "list_all", "unanswerable"]
Split = Literal["development", "reporting"]
TYPES: tuple[Type, ...] = ("fact", "two_hops", "three_hops", "yes_no", "how_to", "list_all", "unanswerable")
SPLITS: tuple[Split, ...] = ("development", "reporting")
FILE = Path(__file__).with_name("questions.jsonl")


class Quote(BaseModel):
    """A few words of a manual, as they stand in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    source: str
    quote: str


class Question(BaseModel):
    """A question with its answers; `items` are those of a list, `quotes` what is needed to answer, one a hop."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    question: str
    answer: str
    aliases: tuple[str, ...]
    items: tuple[str, ...] = ()
    type: Type
    manual: str
    quotes: tuple[Quote, ...]
    split: Split

    @property
    def answers(self) -> tuple[str, ...]:
        """Return every wording that counts."""
        return (self.answer, *self.aliases)


def load(splits: Sequence[Split] = SPLITS, file: Path = FILE) -> list[Question]:
    """Read the questions of some splits, in their order."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [question for question in map(_question, lines) if question.split in splits]


def _question(line: str) -> Question:
    return Question.model_validate(json.loads(line))
