"""A question that the reader is measured on, with the passages it is to be read from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ramify.tools.reader.reading import Quote
from training.example import Example, dealt
from training.source import Folder, gold


@dataclass(frozen=True)
class Case:
    """A question, its passages, and its answers: none where it cannot be answered from them."""

    question: str
    passages: tuple[Quote, ...]
    answers: tuple[str, ...]


def quote(title: str | None, text: str) -> Quote:
    return Quote(title=title or "", source="", text=text)


def question_case(folder: Folder, item: dict[str, Any]) -> Case:
    """Return a question as it is worded, with all its gold passages."""
    passages = tuple(quote(document.title, document.text) for document in gold(folder, item))
    answers = () if item["type"] == "unanswerable" else (item["answer"], *item["answer_aliases"])
    return Case(item["question"], passages, answers)


def held_out_questions(folder: Folder) -> Iterator[dict[str, Any]]:
    """Return the questions about documents that no example of the training was made from."""
    for item in folder.questions:
        documents = gold(folder, item)
        if documents and all(dealt(document.id) == "measure" for document in documents):
            yield item


def example_case(example: Example) -> Case:
    """Return an example of the training material as a case."""
    return Case(example.question, (quote("", example.context),), tuple(example.context[start:end] for start, end in example.spans))
