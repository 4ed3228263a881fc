"""Load a data set: the demo questions, a folder of one's own, or an original release.

* "demo", "demo:development", "demo:reporting": the questions that come with ramify; "demo:overview": open ones, about all of its documents;
* a folder with `questions.jsonl` and `corpus.jsonl` (or `.jsonl.gz`), or the file of questions itself;
* the files of MultiHop-RAG (`MultiHopRAG.json` beside `corpus.json`), HotpotQA, 2WikiMultihopQA (and `id_aliases.json` beside it),
  MuSiQue, or a folder that holds one of them; they are told apart by what is in them.

A format a file (`folder`, `hotpot`, `musique`, `multihop_rag`); `records` are read, a `pool` of paragraphs is made, `assemble` puts all
together.
"""

from collections.abc import Callable
from pathlib import Path

from ramify.evaluation.dataset import Dataset
from ramify.evaluation.load.folder import CORPUS, DEMO, OPEN, QUESTIONS, first_of, load_demo, load_folder
from ramify.evaluation.load.hotpot import load_hotpot
from ramify.evaluation.load.multihop_rag import load_multihop_rag
from ramify.evaluation.load.musique import load_musique
from ramify.evaluation.load.records import Record, read_records
from ramify.tools.documents.files import existing
from ramify.tools.errors import InputError

__all__ = ["load"]

Loader = Callable[[Path, list[Record], Path], Dataset]

RELEASES: dict[str, tuple[frozenset[str], Loader]] = {
    "MultiHop-RAG": (frozenset({"query", "evidence_list"}), load_multihop_rag),
    "HotpotQA or 2WikiMultihopQA": (frozenset({"question", "context", "supporting_facts"}), load_hotpot),
    "MuSiQue": (frozenset({"question", "paragraphs"}), load_musique),
}
"""The fields that tell a release, and who reads it."""


def load(path: str | Path, work: Path, *, retrieval_only: bool = False) -> Dataset:
    """Load a data set; a corpus that has to be put together first is written below `work`.

    `retrieval_only` also takes questions without a gold answer, provided that their documents are known.
    UsageError or InputError for what cannot be used.
    """
    if str(path) == DEMO or str(path).startswith(f"{DEMO}:"):
        return load_demo(str(path))
    found = existing(path).resolve()
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
    """Find the file of questions in a folder: one of that name, else the only one that a release could be."""
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
        f"there are no questions in {str(folder)!r}", f"give a folder with {' or '.join(QUESTIONS)}, or the file of an original release"
    )
