"""SQuAD (Rajpurkar et al. 2016, 2018) and COVID-QA (Möller et al. 2020), in SQuAD's format."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ramify.evaluation.load.records import Record, malformed
from training.convert.folder import Gathered, fingerprint
from training.convert.original import given, parts, read_object

_ANSWERS = "a list with an answer at least"


@dataclass
class _Asked:
    """A question of one or more versions; its answers are counted from the start of the document."""

    record: Record
    document: str
    answers: dict[tuple[str, int], None] = field(default_factory=dict)
    versions: list[str] = field(default_factory=list)


def squad_dev(files: Sequence[Path]) -> Gathered:
    """Merge SQuAD 1.1, several answers a question, and 2.0, which has half of those questions and unanswerable ones."""
    gathered = Gathered()
    asked: dict[str, _Asked] = {}
    for file in files:
        release = read_object(file)
        version = str(release.value.get("version", "")).removeprefix("v")
        for article in parts(release, "data"):
            title = given(article, "title", str).replace("_", " ")
            for record, document in _questions(gathered, "squad", article, title):
                one = asked.setdefault(given(record, "id", str), _Asked(record, document))
                one.answers |= dict.fromkeys(_answers(record, gathered.documents[one.document]["text"]))
                one.versions.append(version)
    for identity, one in asked.items():
        _ask(gathered, identity, one, versions=one.versions)
    return gathered


def covidqa_200423(files: Sequence[Path]) -> Gathered:
    """Read COVID-QA: whole papers without titles, and an answer to every question."""
    gathered = Gathered()
    for file in files:
        for article in parts(read_object(file), "data"):
            for record, document in _questions(gathered, "covidqa", article, None):
                found = dict.fromkeys(_answers(record, gathered.documents[document]["text"]))
                if not found:
                    raise malformed(record, "answers", _ANSWERS)
                _ask(gathered, f"covidqa-{given(record, 'id', int)}", _Asked(record, document, found))
    return gathered


def _questions(gathered: Gathered, prefix: str, article: Record, title: str | None) -> Iterator[tuple[Record, str]]:
    """Give the questions of an article, each with the id of its paragraph."""
    for paragraph in parts(article, "paragraphs"):
        text = given(paragraph, "context", str)
        document = gathered.document(f"{prefix}-{fingerprint(text)}", title, text)
        for record in parts(paragraph, "qas"):
            yield record, document


def _answers(record: Record, text: str) -> Iterator[tuple[str, int]]:
    for answer in parts(record, "answers"):
        said = given(answer, "text", str)
        yield said, _start(said, given(answer, "answer_start", int), text)


def _start(answer: str, start: int, text: str) -> int:
    """Give where an answer stands: COVID-QA is wrong about it for one in six, so it is looked for around there; -1 if it is nowhere."""
    if start >= 0 and text.startswith(answer, start):
        return start
    return min((found.start() for found in re.finditer(re.escape(answer), text)), key=lambda place: abs(place - start), default=-1)


def _ask(gathered: Gathered, identity: str, one: _Asked, **metadata: object) -> None:
    said = [*dict.fromkeys(text for text, _ in one.answers)]
    gathered.ask(
        one.record,
        identity,
        given(one.record, "question", str).strip(),
        said[0] if said else "",
        "span" if said else "unanswerable",
        [gathered.support(one.document)],
        answer_aliases=said[1:],
        answers=[{"text": text, "start": start} for text, start in one.answers],
        metadata=metadata,
    )
