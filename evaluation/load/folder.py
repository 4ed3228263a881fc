"""A folder of one's own: `questions.jsonl` and `corpus.jsonl`, or gzipped; the questions that come with ramify are in the same form.

A question has `id`, `question`, `answer` ("Unknown" where the documents do not tell; none with the `type` "open", to which there is no one
right answer) and may have `answer_aliases`, `type`, `supporting` (`[{doc_id, title, fact or facts}]`), `decomposition` and `metadata`.
A document has `id`, `title`, `text` and may have `metadata`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ramify.evaluation.dataset import Dataset, Question, Support
from ramify.evaluation.load.assemble import Read, answer_of, assemble, list_of, text_of
from ramify.evaluation.load.records import Record, read_records
from ramify.nodes.tree import UNKNOWN
from ramify.tools.demo import demo_corpus
from ramify.tools.errors import InputError, UsageError

QUESTIONS = ("questions.jsonl", "questions.jsonl.gz")
CORPUS = ("corpus.jsonl", "corpus.jsonl.gz")
UNANSWERABLE, OPEN = "unanswerable", "open"
FACT_TYPES = frozenset({"inference_query", "comparison_query", "temporal_query", "null_query"})
"""MultiHop-RAG's types of questions: its passages count by the gold sentences they hold."""
_SHAPE = "give it as a list of {doc_id, title, fact or facts}"
DEMO = "demo"
SPLITS = ("development", "reporting", "overview")
"""Of the demo's questions; the half for reporting stays unseen while working on what answers them."""


def load_folder(file: Path, records: Sequence[Record], retrieval_only: bool) -> Dataset:
    """Load the questions of a file, with the corpus beside it."""
    corpus = first_of(file.parent, CORPUS)
    if corpus is None:
        raise InputError(f"there is no corpus beside {str(file)!r}", f"put {' or '.join(CORPUS)} there")
    read = [Read(record.place, question_of(record, retrieval_only)) for record in records]
    known = all(question.type in FACT_TYPES and all(support.facts for support in question.supporting) for _, question in read)
    inferred = sum(question.metadata.get("type_origin") == "inferred" for _, question in read)
    told = [f"The type of {inferred} of {len(read)} questions was inferred by a rule."] if inferred else []
    return assemble(file.parent.name, read, corpus, hits_by="fact" if known else "document", caveats=(*told, *_about_open(read)))


def load_demo(name: str) -> Dataset:
    """Load the demo questions: all, or those of a split."""
    split = name.removeprefix(DEMO).removeprefix(":")
    if split not in ("", *SPLITS):
        raise UsageError(f"the demo questions have no split {split!r}", f"choose {' or '.join(f'{DEMO}:{one}' for one in SPLITS)}")
    corpus = demo_corpus()
    file = "overview.jsonl" if split == "overview" else "questions.jsonl"
    read = [Read(record.place, question_of(record)) for record in read_records(corpus.with_name(file))]
    wanted = [one for one in read if not split or one.question.metadata.get("split", split) == split]
    return assemble("-".join(filter(None, (DEMO, split))), wanted, corpus, caveats=_about_open(wanted))


def first_of(folder: Path, names: Sequence[str]) -> Path | None:
    """Find the first of some files in a folder."""
    return next((folder / name for name in names if (folder / name).is_file()), None)


def question_of(record: Record, retrieval_only: bool = False) -> Question:
    """Make a question of a record."""
    value = record.value
    return Question(
        id=text_of(record, "id"),
        question=text_of(record, "question"),
        answer=_answer(record, retrieval_only),
        aliases=tuple(map(str, list_of(record, "answer_aliases"))),
        type=str(value.get("type") or ""),
        supporting=_supporting(record),
        metadata=_metadata(record),
    )


def _metadata(record: Record) -> dict[str, Any]:
    """Keep what else a question carries, its decomposition among it."""
    metadata = record.value.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InputError(f"{record.place} has metadata {metadata!r:.80}", "give it as an object")
    decomposition = record.value.get("decomposition")
    return {**metadata, "decomposition": decomposition} if decomposition else metadata


def _answer(record: Record, retrieval_only: bool) -> str:
    value = record.value
    if not value.get("answer"):
        if value.get("type") == UNANSWERABLE:
            return UNKNOWN
        if value.get("type") == OPEN or (retrieval_only and value.get("supporting")):
            return ""
    return answer_of(record)


def _supporting(record: Record) -> tuple[Support, ...]:
    """Give the gold documents: none where one of them is not known, because what is found could not be told from all."""
    given = list_of(record, "supporting")
    if not all(isinstance(one, dict) and "doc_id" in one for one in given):
        raise InputError(f"{record.place} has supporting {given!r:.80}", _SHAPE)
    if any(one["doc_id"] is None for one in given):
        return ()
    return tuple(Support(doc_id=str(one["doc_id"]), title=str(one.get("title") or ""), facts=_facts(one)) for one in given)


def _facts(support: dict[str, Any]) -> tuple[str, ...]:
    facts = support.get("facts") or [support.get("fact")]
    if not isinstance(facts, list):
        facts = [facts]
    return tuple(str(fact) for fact in facts if fact)


def _about_open(read: Sequence[Read]) -> list[str]:
    """Say how many questions have no gold answer, and how their answers are compared."""
    count = sum(question.type == OPEN for _, question in read)
    told = f"{count} of {len(read)} questions are open: no answer to them is right or wrong."
    return [f"{told} Two runs are compared on them by `ramify compare RUN_A RUN_B --judge MODEL`."] * bool(count)
