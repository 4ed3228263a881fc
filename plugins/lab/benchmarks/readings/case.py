"""A question that the reader is measured on, with the passages it is to be read from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from plugins.embedded.training.example import Example, assign_part
from plugins.embedded.training.source import Folder, supporting_documents
from ramify.embedded.reader.reading import PassageText


@dataclass(frozen=True)
class Case:
    """A question, its passages, and its answers: none where it cannot be answered from them."""

    question: str
    passages: tuple[PassageText, ...]
    answers: tuple[str, ...]


def quote(title: str | None, text: str) -> PassageText:
    return PassageText(title=title or "", source="", text=text)


def question_case(folder: Folder, item: dict[str, Any]) -> Case:
    """Return a question as it is worded, with all its gold passages."""
    passages = tuple(quote(document.title, document.text) for document in supporting_documents(folder, item))
    answers = () if item["type"] == "unanswerable" else (item["answer"], *item["answer_aliases"])
    return Case(item["question"], passages, answers)


def held_out_questions(folder: Folder) -> Iterator[dict[str, Any]]:
    """Return the questions about documents that no example of the training was made from."""
    for item in folder.questions:
        documents = supporting_documents(folder, item)
        if documents and all(assign_part(document.id) == "measure" for document in documents):
            yield item


def example_case(example: Example) -> Case:
    """Return an example of the training material as a case."""
    return Case(example.question, (quote("", example.context),), tuple(example.context[start:end] for start, end in example.spans))
