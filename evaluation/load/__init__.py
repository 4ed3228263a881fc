"""Load a data set: the demo questions, a folder of your own, or an original release.

* "demo", "demo:development", "demo:reporting": the questions that come with ramify; "demo:overview": open ones, about all of its documents;
* a folder with `questions.jsonl` and `corpus.jsonl` (or `.jsonl.gz`), or the file of questions itself;
* the files of MultiHop-RAG (`MultiHopRAG.json` beside `corpus.json`), HotpotQA, 2WikiMultihopQA (and `id_aliases.json` beside it),
  MuSiQue, or a folder that holds one of them; the fields of their records tell them apart.

In a folder of your own a question has `id`, `question`, `answer` ("Unknown" if the documents do not contain it; none with the `type`
"open", for questions without one right answer) and may have `answer_aliases`, `type`, `supporting` (`[{doc_id, title, fact or facts}]`),
`decomposition` and `metadata`. A document has `id`, `title`, `text` and may have `metadata`.

`records` reads the files, `releases` the original releases; `own_questions` are about an index of your own.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from ramify.evaluation.dataset import OPEN, Dataset, Question, ReadQuestion, Support, assemble
from ramify.evaluation.load.records import Record, answer_of, list_of, read_records, text_of
from ramify.evaluation.load.releases import load_hotpot, load_multihop_rag, load_musique
from ramify.nodes.tree import UNKNOWN
from ramify.tools.demo import demo_corpus
from ramify.tools.documents.files import existing_path
from ramify.tools.errors import InputError, UsageError

QUESTIONS = ("questions.jsonl", "questions.jsonl.gz")
CORPUS = ("corpus.jsonl", "corpus.jsonl.gz")
UNANSWERABLE = "unanswerable"
FACT_TYPES = frozenset({"inference_query", "comparison_query", "temporal_query", "null_query"})
"""MultiHop-RAG's question types: its passages count by the gold sentences they contain."""
DEMO = "demo"
SPLITS = ("development", "reporting", "overview")
"""Of the demo's questions; do not look at the reporting half while working on what answers them."""


def load_folder(file: Path, records: Sequence[Record], retrieval_only: bool) -> Dataset:
    """Load the questions of a file and the corpus beside it."""
    corpus = first_of(file.parent, CORPUS)
    if corpus is None:
        raise InputError(f"there is no corpus beside {str(file)!r}", f"put {' or '.join(CORPUS)} there")
    read = [ReadQuestion(record.place, question_of(record, retrieval_only)) for record in records]
    known = all(question.type in FACT_TYPES and all(support.facts for support in question.supporting) for _, question in read)
    inferred = sum(question.metadata.get("type_origin") == "inferred" for _, question in read)
    told = [f"The type of {inferred} of {len(read)} questions was inferred by a rule."] if inferred else []
    return assemble(file.parent.name, read, corpus, hits_by="fact" if known else "document", caveats=told)


def load_demo(name: str) -> Dataset:
    """Load all demo questions, or those of a split."""
    split = name.removeprefix(DEMO).removeprefix(":")
    if split not in ("", *SPLITS):
        raise UsageError(f"the demo questions have no split {split!r}", f"choose {' or '.join(f'{DEMO}:{one}' for one in SPLITS)}")
    corpus = demo_corpus()
    file = "overview.jsonl" if split == "overview" else "questions.jsonl"
    read = [ReadQuestion(record.place, question_of(record)) for record in read_records(corpus.with_name(file))]
    wanted = [one for one in read if not split or one.question.metadata.get("split", split) == split]
    return assemble("-".join(filter(None, (DEMO, split))), wanted, corpus)


def first_of(folder: Path, names: Sequence[str]) -> Path | None:
    """Return the first of some files that the folder has."""
    return next((folder / name for name in names if (folder / name).is_file()), None)


def question_of(record: Record, retrieval_only: bool = False) -> Question:
    """Return the question of a record."""
    metadata = record.value.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InputError(f"{record.place} has metadata {metadata!r:.80}", "give it as an object")
    decomposition = record.value.get("decomposition")
    return Question(
        id=text_of(record, "id"),
        question=text_of(record, "question"),
        answer=_answer(record, retrieval_only),
        aliases=tuple(map(str, list_of(record, "answer_aliases"))),
        type=str(record.value.get("type") or ""),
        supporting=_supporting(record),
        metadata={**metadata, "decomposition": decomposition} if decomposition else metadata,
    )


def _answer(record: Record, retrieval_only: bool) -> str:
    value = record.value
    if not value.get("answer"):
        if value.get("type") == UNANSWERABLE:
            return UNKNOWN
        if value.get("type") == OPEN or (retrieval_only and value.get("supporting")):
            return ""
    return answer_of(record)


def _supporting(record: Record) -> tuple[Support, ...]:
    """Return the gold documents; none if one of them is unknown, because retrieval could not be scored then."""
    given = list_of(record, "supporting")
    if not all(isinstance(one, dict) and "doc_id" in one for one in given):
        raise InputError(f"{record.place} has supporting {given!r:.80}", "give it as a list of {doc_id, title, fact or facts}")
    if any(one["doc_id"] is None for one in given):
        return ()
    found = []
    for one in given:
        facts = one.get("facts") or [one.get("fact")]
        listed = tuple(str(fact) for fact in (facts if isinstance(facts, list) else [facts]) if fact)
        found.append(Support(doc_id=str(one["doc_id"]), title=str(one.get("title") or ""), facts=listed))
    return tuple(found)


__all__ = ["load"]

Loader = Callable[[Path, list[Record], Path], Dataset]

RELEASES: dict[str, tuple[frozenset[str], Loader]] = {
    "MultiHop-RAG": (frozenset({"query", "evidence_list"}), load_multihop_rag),
    "HotpotQA or 2WikiMultihopQA": (frozenset({"question", "context", "supporting_facts"}), load_hotpot),
    "MuSiQue": (frozenset({"question", "paragraphs"}), load_musique),
}
"""The fields that identify a release, and its loader."""


def load(path: str | Path, work: Path, *, retrieval_only: bool = False) -> Dataset:
    """Load a data set; a corpus that has to be assembled is written below `work`.

    `retrieval_only` accepts questions without a gold answer if their gold documents are known.
    UsageError or InputError if it cannot be used.
    """
    if str(path) == DEMO or str(path).startswith(f"{DEMO}:"):
        return load_demo(str(path))
    found = existing_path(path).resolve()
    file = _file_of(found) if found.is_dir() else found
    records = read_records(file)
    fields = records[0].value.keys()
    for needed, loader in RELEASES.values():
        if needed <= fields:
            return loader(file, records, work)
    if {"id", "question"} <= fields and ("answer" in fields or records[0].value.get("type") == OPEN):
        return load_folder(file, records, retrieval_only)
    looked = "; ".join(f"{name}: {', '.join(sorted(needed))}" for name, (needed, _) in RELEASES.items())
    what = f"{str(file)!r} is no data set that is known: its records have the fields {', '.join(sorted(fields)) or 'none'}"
    raise InputError(what, f"give records with id, question and answer, or an original release ({looked}), with the gold answers")


def _file_of(folder: Path) -> Path:
    """Return the file of questions in a folder: by its name, else the only file of records."""
    if questions := first_of(folder, QUESTIONS):
        return questions
    others = {*CORPUS, "corpus.json", "id_aliases.json"}
    found = [
        file for file in sorted(folder.iterdir()) if file.name.removesuffix(".gz").endswith((".json", ".jsonl")) and file.name not in others
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            f"{str(folder)!r} holds {len(found)} files of records ({', '.join(file.name for file in found)})", "name the one you mean"
        )
    raise InputError(
        f"there are no questions in {str(folder)!r}",
        f"give a folder with {' or '.join(QUESTIONS)}, or the file of an original release; for documents of your own, `ramify index "
        f"{folder.name} --out INDEX`, let `ramify questions INDEX --out questions.jsonl` propose some, and `ramify eval --index INDEX "
        "--questions questions.jsonl`",
    )
