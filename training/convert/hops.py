"""HotpotQA (Yang et al. 2018), 2WikiMultihopQA (Ho et al. 2020) and MuSiQue (Trivedi et al. 2022), read as for an evaluation."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ramify.evaluation.dataset import Question
from ramify.evaluation.load import Loader
from ramify.evaluation.load.records import Record, malformed, read_records, text_of
from ramify.evaluation.load.releases import load_hotpot, load_musique
from training.convert.folder import Gathered, Line, fingerprint
from training.convert.original import given, parts


def hotpotqa_train(files: Sequence[Path]) -> Gathered:
    """Read HotpotQA with its distractors."""
    gathered = Gathered()
    for record, question in _read(gathered, "hpq", files, load_hotpot):
        _ask(gathered, record, question, given(record, "type", str))
    return gathered


def wikimultihopqa_train(files: Sequence[Path]) -> Gathered:
    """Read 2WikiMultihopQA, with the sub-questions (`qa_pairs`) that MIGRES added to some of it."""
    gathered = Gathered()
    for record, question in _read(gathered, "2wk", files, load_hotpot):
        steps = [{field: text_of(pair, field) for field in ("question", "answer")} for pair in _optional(record, "qa_pairs")]
        decomposition = {"steps": steps} if steps else None
        _ask(gathered, record, question, given(record, "type", str), decomposition=decomposition, evidences=_evidences(record))
    return gathered


def musique_train(files: Sequence[Path]) -> Gathered:
    """Read MuSiQue's answerable questions with their single hops."""
    gathered = Gathered()
    for record, question in _read(gathered, "msq", files, load_musique):
        _ask(gathered, record, question, question.type, decomposition={"steps": [*_hops(record)]})
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


def _ask(gathered: Gathered, record: Record, question: Question, kind: str, **more: Any) -> None:
    supporting = [gathered.support(item.doc_id, item.facts) for item in question.supporting]
    gathered.ask(record, question.id, question.question, question.answer, kind, supporting, answer_aliases=[*question.aliases], **more)


def _evidences(record: Record) -> list[list[str]]:
    value = record.value.get("evidences")
    if isinstance(value, list) and all(map(_is_triple, value)):
        return value
    raise malformed(record, "evidences", "a list of [subject, relation, object]")


def _is_triple(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(isinstance(part, str) for part in value)


def _optional(record: Record, field: str) -> Iterator[Record]:
    return parts(record, field) if field in record.value else iter(())


def _hops(record: Record) -> Iterator[Line]:
    """Give the single hops, each with the paragraph that answers it."""
    paragraphs = {given(part, "idx", int): part for part in parts(record, "paragraphs")}
    for step in parts(record, "question_decomposition"):
        found = paragraphs.get(given(step, "paragraph_support_idx", int))
        if found is None:
            raise malformed(step, "paragraph_support_idx", "the idx of one of its paragraphs")
        identity = _identity("msq", str(found.value.get("title") or ""), given(found, "paragraph_text", str))
        yield {"question": text_of(step, "question"), "answer": text_of(step, "answer"), "doc_id": identity}
