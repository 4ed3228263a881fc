"""The releases that are converted, each by one function: reading comprehension, multi-hop questions, yes and no."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from plugins.embedded.training.convert.folder import Gathered, Line, fingerprint, given, parts, read_object, texts
from ramify.lab.dataset import Question
from ramify.lab.load import Loader
from ramify.lab.load.records import Record, malformed_field_error, read_records, required_text
from ramify.lab.load.releases import load_hotpot, load_musique
from ramify.tools.errors import InputError

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
                question = asked.setdefault(given(record, "id", str), _Asked(record, document))
                question.answers |= dict.fromkeys(_answers(record, gathered.documents[question.document]["text"]))
                question.versions.append(version)
    for identity, question in asked.items():
        _ask_merged(gathered, identity, question, versions=question.versions)
    return gathered


def covidqa_200423(files: Sequence[Path]) -> Gathered:
    """Read COVID-QA: whole papers without titles, and an answer to every question."""
    gathered = Gathered()
    for file in files:
        for article in parts(read_object(file), "data"):
            for record, document in _questions(gathered, "covidqa", article, None):
                answers = dict.fromkeys(_answers(record, gathered.documents[document]["text"]))
                if not answers:
                    raise malformed_field_error(record, "answers", _ANSWERS)
                _ask_merged(gathered, f"covidqa-{given(record, 'id', int)}", _Asked(record, document, answers))
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
    return min((match.start() for match in re.finditer(re.escape(answer), text)), key=lambda place: abs(place - start), default=-1)


def _ask_merged(gathered: Gathered, identity: str, asked: _Asked, **metadata: object) -> None:
    said = [*dict.fromkeys(text for text, _ in asked.answers)]
    gathered.ask(
        asked.record,
        identity,
        given(asked.record, "question", str).strip(),
        said[0] if said else "",
        "span" if said else "unanswerable",
        [gathered.support(asked.document)],
        answer_aliases=said[1:],
        answers=[{"text": text, "start": start} for text, start in asked.answers],
        metadata=metadata,
    )


def hotpotqa_train(files: Sequence[Path]) -> Gathered:
    """Read HotpotQA with its distractors."""
    gathered = Gathered()
    for record, question in _read(gathered, "hpq", files, load_hotpot):
        _ask_hops(gathered, record, question, given(record, "type", str))
    return gathered


def wikimultihopqa_train(files: Sequence[Path]) -> Gathered:
    """Read 2WikiMultihopQA, with the sub-questions (`qa_pairs`) that MIGRES added to some of it."""
    gathered = Gathered()
    for record, question in _read(gathered, "2wk", files, load_hotpot):
        steps = [{field: required_text(pair, field) for field in ("question", "answer")} for pair in _optional(record, "qa_pairs")]
        decomposition = {"steps": steps} if steps else None
        _ask_hops(gathered, record, question, given(record, "type", str), decomposition=decomposition, evidences=_evidences(record))
    return gathered


def musique_train(files: Sequence[Path]) -> Gathered:
    """Read MuSiQue's answerable questions with their single hops."""
    gathered = Gathered()
    for record, question in _read(gathered, "msq", files, load_musique):
        _ask_hops(gathered, record, question, question.type, decomposition={"steps": [*_hops(record)]})
    return gathered


def _read(gathered: Gathered, prefix: str, files: Sequence[Path], loader: Loader) -> Iterator[tuple[Record, Question]]:
    """Give records with the questions that an evaluation makes of them, and take their paragraphs in."""
    for file in files:
        records = [record for record in read_records(file) if record.value.get("answerable", True)]
        with TemporaryDirectory() as work:
            dataset = loader(file, records, Path(work))
            ids = {
                line["id"]: gathered.document(_identity(prefix, line["title"], line["text"]), line["title"], line["text"])
                for line in (paragraph.value for paragraph in read_records(dataset.documents[0]))
            }
        for record, question in zip(records, dataset.questions, strict=True):
            supporting = (item.model_copy(update={"doc_id": ids.get(item.doc_id, item.doc_id)}) for item in question.supporting)
            yield record, question.model_copy(update={"supporting": tuple(supporting)})


def _identity(prefix: str, title: str, text: str) -> str:
    """Make an id that two releases of a paragraph share, whatever their spaces and signs."""
    plain = (re.sub(r"\W+", " ", unicodedata.normalize("NFKC", part).lower()).strip() for part in (title, text))
    return f"{prefix}-{fingerprint('|'.join(plain))}"


def _ask_hops(gathered: Gathered, record: Record, question: Question, kind: str, **more: Any) -> None:
    supporting = [gathered.support(item.doc_id, item.facts) for item in question.supporting]
    gathered.ask(record, question.id, question.question, question.answer, kind, supporting, answer_aliases=[*question.aliases], **more)


def _evidences(record: Record) -> list[list[str]]:
    value = record.value.get("evidences")
    if isinstance(value, list) and all(map(_is_triple, value)):
        return value
    raise malformed_field_error(record, "evidences", "a list of [subject, relation, object]")


def _is_triple(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(isinstance(part, str) for part in value)


def _optional(record: Record, field: str) -> Iterator[Record]:
    return parts(record, field) if field in record.value else iter(())


def _hops(record: Record) -> Iterator[Line]:
    """Give the single hops, each with the paragraph that answers it."""
    paragraphs = {given(part, "idx", int): part for part in parts(record, "paragraphs")}
    for step in parts(record, "question_decomposition"):
        paragraph = paragraphs.get(given(step, "paragraph_support_idx", int))
        if paragraph is None:
            raise malformed_field_error(step, "paragraph_support_idx", "the idx of one of its paragraphs")
        identity = _identity("msq", str(paragraph.value.get("title") or ""), given(paragraph, "paragraph_text", str))
        yield {"question": required_text(step, "question"), "answer": required_text(step, "answer"), "doc_id": identity}


_YES_NO = ("yes", "no", "don't know")


def boolq_dev(files: Sequence[Path]) -> Gathered:
    """Read BoolQ: a question, a passage and its title, true or false."""
    gathered = Gathered()
    for number, record in enumerate(record for file in files for record in read_records(file)):
        text = given(record, "passage", str)
        document = gathered.document(f"boolq-{fingerprint(text)}", given(record, "title", str), text)
        answer = "yes" if given(record, "answer", bool) else "no"
        gathered.ask(
            record, f"boolq-dev-{number}", given(record, "question", str), answer, "yes_no", [gathered.support(document)]
        )  # the release has no ids but the order
    return gathered


def condaqa_dev_test(files: Sequence[Path]) -> Gathered:
    """Read CondaQA: a passage about a negation, as it was or edited, and a question about what follows from it."""
    gathered = Gathered()
    for record in (record for file in files for record in read_records(file)):
        text, question, label = given(record, "sentence1", str), given(record, "sentence2", str), required_text(record, "label")
        document = gathered.document(f"conda-{fingerprint(text)}", None, text, cue=record.value.get("original cue"))
        answer = label.casefold() if label.casefold() in _YES_NO else label
        identity = f"conda-{fingerprint(f'{text}|{question}')}"
        gathered.ask(record, identity, question.strip(), answer, "yes_no_dontknow", [gathered.support(document)])
    return gathered


def strategyqa(files: Sequence[Path]) -> Gathered:
    """Read StrategyQA: the facts that an answer rests on are its documents."""
    gathered = Gathered()
    for record in (record for file in files for record in read_records(file)):
        identity, term = f"sqa-{given(record, 'qid', str)}", given(record, "term", str)
        supporting = []
        for number, fact in enumerate(texts(record, "facts")):
            document = gathered.document(f"{identity}-{number}", term, fact, description=record.value.get("description"))
            supporting.append(gathered.support(document, [fact]))
        gathered.ask(
            record,
            identity,
            given(record, "question", str),
            "yes" if given(record, "answer", bool) else "no",
            "yes_no",
            supporting,
            decomposition={"steps": [{"question": step} for step in texts(record, "decomposition")]},
        )
    return gathered


def pubmedqa_labelled(files: Sequence[Path]) -> Gathered:
    """Read PubMedQA: abstracts without their conclusion, which a title asks for."""
    gathered = Gathered()
    for file in files:
        for number, value in read_object(file).value.items():
            if not isinstance(value, dict):
                raise InputError(f"{number!r} of {str(file)!r} is {value!r:.80}, not a record", "give the file as released")
            record = Record(f"{number!r} of {str(file)!r}", value)
            question, text = given(record, "QUESTION", str), "\n".join(texts(record, "CONTEXTS"))
            document = gathered.document(f"pmq-{number}", question, text, year=value.get("YEAR"), labels=value.get("LABELS"))
            answer = given(record, "final_decision", str)
            gathered.ask(record, f"pmq-q{number}", question, answer, "yes_no_maybe", [gathered.support(document)])
    return gathered
