"""Material from reading comprehension: SQuAD's spans and unanswerable questions, COVID-QA's long papers."""

from collections.abc import Iterator

from ramify.tools.reader.reading import in_context
from training.example import Example, likeliest, occurrences, seeded
from training.lookalike import Lookalikes
from training.source import Document, Folder, gold

_WINDOW = 700


def squad(folder: Folder) -> Iterator[Example]:
    """Give each question with its paragraph, and with another of the same article that does not hold the answer."""
    lookalikes: dict[str | None, Lookalikes] = {}
    for title in {document.title for document in folder.documents.values()}:
        lookalikes[title] = Lookalikes(document for document in folder.documents.values() if document.title == title)
    for item in folder.questions:
        document, question = gold(folder, item)[0], item["question"]
        answers = [item["answer"], *item["answer_aliases"]] if item["type"] == "span" else []
        yield from _asked("squad", question, document, answers)
        choose = seeded(item["id"])
        if answers and (other := lookalikes[document.title].of(question, answers, {document.id}, choose)):
            yield Example("squad_other", other.id, question, in_context(other.title, other.text), "none")


def _asked(source: str, question: str, document: Document, answers: list[str]) -> Iterator[Example]:
    context = in_context(document.title, document.text)
    if not answers:
        yield Example(source, document.id, question, context, "none")
        return
    spans = []
    for answer in dict.fromkeys(answers):
        if found := list(occurrences(answer, context)):
            spans.append(likeliest(question, context, found))
    if spans:
        yield Example(source, document.id, question, context, "span", tuple(spans))


def papers(folder: Folder) -> Iterator[Example]:
    """Cut a window out of a paper around each answer."""
    for item in folder.questions:
        document, start = gold(folder, item)[0], item["answers"][0]["start"]
        answer = item["answers"][0]["text"]
        if start < 0 or len(answer) > 200:
            continue
        first = max(0, start - seeded(item["id"]).randrange(100, _WINDOW - 100))
        window = document.text[first : max(first + _WINDOW * 2, start + len(answer))]
        begin = start - first
        yield Example("papers", document.id, item["question"], window, "span", ((begin, begin + len(answer)),))
