"""Load a data set: the demo questions, your own folder, or an original release.

* "demo", "demo:development", "demo:reporting": the questions that come with ramify; "demo:overview": open ones, about all of its documents;
* a folder with `questions.jsonl` and `corpus.jsonl` (or `.jsonl.gz`), or the file of questions itself;
* the files of MultiHop-RAG (`MultiHopRAG.json` beside `corpus.json`), HotpotQA, 2WikiMultihopQA (and `id_aliases.json` beside it),
  MuSiQue, or a folder with one of them; the format is detected from the fields of the records.

In your own folder a question has `id`, `question`, `answer` ("Unknown" if the documents do not contain it; none with the `type`
"open", for questions without one right answer) and may have `answer_aliases`, `type`, `supporting` (`[{doc_id, title, fact or facts}]`),
`decomposition` and `metadata`. A document has `id`, `title`, `text` and may have `metadata`.

`records` reads the files, `releases` the original releases; `own_questions` loads questions about your own index.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from ramify.lab.dataset import OPEN_TYPE, Dataset, Question, ReadQuestion, Support, make_dataset
from ramify.lab.load.records import Record, optional_list, read_records, required_answer, required_text
from ramify.lab.load.releases import load_hotpot, load_multihop_rag, load_musique
from ramify.nodes.tree import UNKNOWN
from ramify.tools.demo import demo_corpus
from ramify.tools.documents.files import existing_path
from ramify.tools.errors import InputError, UsageError

QUESTION_FILES = ("questions.jsonl", "questions.jsonl.gz")
CORPUS_FILES = ("corpus.jsonl", "corpus.jsonl.gz")
UNANSWERABLE_TYPE = "unanswerable"
FACT_TYPES = frozenset({"inference_query", "comparison_query", "temporal_query", "null_query"})
"""MultiHop-RAG's question types: its passages count by the gold sentences they contain."""
DEMO_DATASET = "demo"
DEMO_SPLITS = ("development", "reporting", "overview")
"""Splits of the demo questions; do not inspect the reporting half during development."""


def load_folder(file: Path, records: Sequence[Record], retrieval_only: bool) -> Dataset:
    """Load the questions of a file and the corpus beside it."""
    corpus = find_file(file.parent, CORPUS_FILES)
    if corpus is None:
        raise InputError(f"there is no corpus beside {str(file)!r}", f"put {' or '.join(CORPUS_FILES)} there")
    read = [ReadQuestion(record.place, parse_question(record, retrieval_only)) for record in records]
    by_facts = all(question.type in FACT_TYPES and all(support.facts for support in question.supporting) for _, question in read)
    inferred = sum(question.metadata.get("type_origin") == "inferred" for _, question in read)
    caveats = [f"The type of {inferred} of {len(read)} questions was inferred by a rule."] if inferred else []
    return make_dataset(file.parent.name, read, corpus, hits_by="fact" if by_facts else "document", caveats=caveats)


def load_demo(name: str) -> Dataset:
    """Load all demo questions, or those of a split."""
    split = name.removeprefix(DEMO_DATASET).removeprefix(":")
    if split not in ("", *DEMO_SPLITS):
        raise UsageError(
            f"the demo questions have no split {split!r}", f"choose {' or '.join(f'{DEMO_DATASET}:{half}' for half in DEMO_SPLITS)}"
        )
    corpus = demo_corpus()
    file = "overview.jsonl" if split == "overview" else "questions.jsonl"
    read = [ReadQuestion(record.place, parse_question(record)) for record in read_records(corpus.with_name(file))]
    selected = [item for item in read if not split or item.question.metadata.get("split", split) == split]
    return make_dataset("-".join(filter(None, (DEMO_DATASET, split))), selected, corpus)


def find_file(folder: Path, names: Sequence[str]) -> Path | None:
    """Return the first of the named files that exists in the folder; None if none does."""
    return next((folder / name for name in names if (folder / name).is_file()), None)


def parse_question(record: Record, retrieval_only: bool = False) -> Question:
    """Return the question of a record."""
    metadata = record.value.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InputError(f"{record.place} has metadata {metadata!r:.80}", "give it as an object")
    decomposition = record.value.get("decomposition")
    return Question(
        id=required_text(record, "id"),
        question=required_text(record, "question"),
        answer=_gold_answer(record, retrieval_only),
        aliases=tuple(map(str, optional_list(record, "answer_aliases"))),
        type=str(record.value.get("type") or ""),
        supporting=_gold_documents(record),
        metadata={**metadata, "decomposition": decomposition} if decomposition else metadata,
    )


def _gold_answer(record: Record, retrieval_only: bool) -> str:
    value = record.value
    if not value.get("answer"):
        if value.get("type") == UNANSWERABLE_TYPE:
            return UNKNOWN
        if value.get("type") == OPEN_TYPE or (retrieval_only and value.get("supporting")):
            return ""
    return required_answer(record)


def _gold_documents(record: Record) -> tuple[Support, ...]:
    """Return the gold documents; empty if one of them is unknown, because retrieval cannot be scored then."""
    entries = optional_list(record, "supporting")
    if not all(isinstance(item, dict) and "doc_id" in item for item in entries):
        raise InputError(f"{record.place} has supporting {entries!r:.80}", "give it as a list of {doc_id, title, fact or facts}")
    if any(item["doc_id"] is None for item in entries):
        return ()
    documents = []
    for entry in entries:
        facts = entry.get("facts") or [entry.get("fact")]
        texts = tuple(str(fact) for fact in (facts if isinstance(facts, list) else [facts]) if fact)
        documents.append(Support(doc_id=str(entry["doc_id"]), title=str(entry.get("title") or ""), facts=texts))
    return tuple(documents)


__all__ = ["load_dataset"]

Loader = Callable[[Path, list[Record], Path], Dataset]

RELEASE_LOADERS: dict[str, tuple[frozenset[str], Loader]] = {
    "MultiHop-RAG": (frozenset({"query", "evidence_list"}), load_multihop_rag),
    "HotpotQA or 2WikiMultihopQA": (frozenset({"question", "context", "supporting_facts"}), load_hotpot),
    "MuSiQue": (frozenset({"question", "paragraphs"}), load_musique),
}
"""The fields that identify a release, and its loader."""


def load_dataset(path: str | Path, work: Path, *, retrieval_only: bool = False) -> Dataset:
    """Load a data set; a corpus that has to be assembled is written into the folder `work`.

    `retrieval_only` accepts questions without a gold answer if their gold documents are known.
    UsageError or InputError if the data set is unknown or invalid.
    """
    if str(path) == DEMO_DATASET or str(path).startswith(f"{DEMO_DATASET}:"):
        return load_demo(str(path))
    location = existing_path(path).resolve()
    file = _find_question_file(location) if location.is_dir() else location
    records = read_records(file)
    fields = records[0].value.keys()
    for needed, loader in RELEASE_LOADERS.values():
        if needed <= fields:
            return loader(file, records, work)
    if {"id", "question"} <= fields and ("answer" in fields or records[0].value.get("type") == OPEN_TYPE):
        return load_folder(file, records, retrieval_only)
    known_formats = "; ".join(f"{name}: {', '.join(sorted(needed))}" for name, (needed, _) in RELEASE_LOADERS.items())
    what = f"{str(file)!r} is not in a known format: its records have the fields {', '.join(sorted(fields)) or 'none'}"
    raise InputError(what, f"give records with id, question and answer, or an original release ({known_formats}), with the gold answers")


def _find_question_file(folder: Path) -> Path:
    """Return the file of questions in a folder: by its name, else the only file of records."""
    if questions := find_file(folder, QUESTION_FILES):
        return questions
    others = {*CORPUS_FILES, "corpus.json", "id_aliases.json"}
    candidates = [
        file for file in sorted(folder.iterdir()) if file.name.removesuffix(".gz").endswith((".json", ".jsonl")) and file.name not in others
    ]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise InputError(
            f"{str(folder)!r} holds {len(candidates)} files of records ({', '.join(file.name for file in candidates)})",
            "name one of them",
        )
    raise InputError(
        f"there are no questions in {str(folder)!r}",
        f"give a folder with {' or '.join(QUESTION_FILES)}, or the file of an original release; for documents of your own, `ramify index "
        f"{folder.name} --out INDEX`, let `ramify questions INDEX --out questions.jsonl` propose some, and `ramify eval --index INDEX "
        "--questions questions.jsonl`",
    )
