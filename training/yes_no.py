"""Material for yes, no and neither: BoolQ, CondaQA, StrategyQA, PubMedQA."""

from collections.abc import Iterator
from typing import Final

from ramify.tools.reader.reading import in_context
from training.example import Example, Kind, seeded
from training.lookalike import Lookalikes
from training.source import Folder, gold

_KINDS: Final[dict[str, Kind]] = {"yes": "yes", "no": "no", "don't know": "none", "maybe": "none"}
_LONGEST = 1600


def yes_no(folder: Folder, unrelated: float = 0.25) -> Iterator[Example]:
    """Give each question with its passage or its facts, and some with a passage that says nothing about it."""
    lookalikes = Lookalikes(folder.documents.values())
    for item in folder.questions:
        kind = _KINDS.get(item["answer"].casefold())
        documents = gold(folder, item)
        if kind is None or not documents:
            continue
        question = _question(item["question"])
        context = " ".join(in_context(document.title, document.text) for document in documents)
        if folder.name.startswith("strategyqa"):
            context = in_context(documents[0].title, " ".join(document.text for document in documents))
        yield Example(folder.name, documents[0].id, question, context[:_LONGEST], kind)
        choose = seeded(item["id"])
        if choose.random() < unrelated and (other := lookalikes.of(question, [], {document.id for document in documents}, choose)):
            yield Example(folder.name + "_other", other.id, question, in_context(other.title, other.text)[:_LONGEST], "none")


def _question(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip("? ") + "?"
