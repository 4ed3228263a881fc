"""Data sets: one's own folder, the demo, and that gold ids are those of an index."""

import gzip
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from plugins.lab.tests.load.sample_sets import SAMPLES
from ramify.lab.dataset import Dataset
from ramify.lab.load import load_dataset
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.index.passage_store import document_id
from tests.embeddings import WordEmbeddings

EVERY = ["own", "hotpotqa/hotpot_dev_distractor_v1.json", "2wikimultihopqa", "musique/musique_ans_v1.0_dev.jsonl", "multihop_rag"]


def test_your_own_folder_is_loaded(tmp_path: Path) -> None:
    own = load_dataset(SAMPLES / "own", tmp_path)
    assert (own.name, own.hits_by, own.documents) == ("own", "document", (SAMPLES / "own" / "corpus.jsonl",))
    bridge, single, founder = own.questions
    assert bridge.golds == ("Ebbing", "the town of Ebbing")
    assert bridge.gold_documents == ("arl", "morrow")
    assert bridge.gold_facts == ("It rises on Mount Tarn and flows into Lake Morrow.", "The town of Ebbing lies on its shore.")
    assert bridge.metadata["hops"] == 2
    assert bridge.metadata["decomposition"]["steps"]
    assert single.gold_facts == ()
    assert [question.unanswerable for question in own.questions] == [False, False, True]
    assert founder.type == "none"
    assert not own.caveats
    assert not list(tmp_path.iterdir()), "nothing is converted, nothing is written"


def test_the_file_of_questions_loads_its_folder_and_both_may_be_gzipped(tmp_path: Path) -> None:
    for name in ("questions", "corpus"):
        packed = tmp_path / "own" / f"{name}.jsonl.gz"
        packed.parent.mkdir(exist_ok=True)
        packed.write_bytes(gzip.compress((SAMPLES / "own" / f"{name}.jsonl").read_bytes()))
    plain = load_dataset(SAMPLES / "own" / "questions.jsonl", tmp_path)
    assert load_dataset(tmp_path / "own", tmp_path).questions == plain.questions == load_dataset(SAMPLES / "own", tmp_path).questions


def test_the_hash_follows_questions_and_documents(tmp_path: Path) -> None:
    copy = shutil.copytree(SAMPLES / "own", tmp_path / "own")
    first = load_dataset(copy, tmp_path).sha256
    assert first == load_dataset(SAMPLES / "own", tmp_path).sha256
    for file in (copy / "questions.jsonl", copy / "corpus.jsonl"):
        before = file.read_text(encoding="utf-8")
        file.write_text(before.replace("Ebbing", "Elbing"), encoding="utf-8")
        assert load_dataset(copy, tmp_path).sha256 != first
        file.write_text(before, encoding="utf-8")
    assert load_dataset(copy, tmp_path).sha256 == first


def test_the_demo_has_two_halves(tmp_path: Path) -> None:
    every, development, reporting = (load_dataset(name, tmp_path) for name in ("demo", "demo:development", "demo:reporting"))
    assert {question.id for question in every.questions} == {asked.id for half in (development, reporting) for asked in half.questions}
    assert len(development.questions) == len(reporting.questions) == 30
    assert development.name == "demo-development"
    assert len({dataset.sha256 for dataset in (every, development, reporting)}) == 3
    with pytest.raises(UsageError, match=r"no split 'held-out' — choose demo:development or demo:reporting"):
        load_dataset("demo:held-out", tmp_path)


@pytest.mark.parametrize("sample", EVERY)
def test_gold_documents_are_those_that_an_index_of_the_corpus_names(sample: str, tmp_path: Path) -> None:
    dataset = load_dataset(SAMPLES / sample, tmp_path / "work")
    assert set(passages_by_document(dataset, tmp_path / "index")) >= {
        gold for question in dataset.questions for gold in question.gold_documents
    }


def test_a_passage_of_a_split_document_has_the_id_of_its_document(tmp_path: Path) -> None:
    dataset = load_dataset(SAMPLES / "multihop_rag", tmp_path / "work")
    passages = passages_by_document(dataset, tmp_path / "index")
    assert max(passages.values()) > 1, "no document was long enough to be split"


def passages_by_document(dataset: Dataset, folder: Path) -> dict[str, int]:
    """Index the documents of a data set, and count the passages found of each."""
    Index.build(list(dataset.documents), folder, WordEmbeddings(), chunk_tokens=20, overlap=0)
    [hits] = Index.open(folder, WordEmbeddings()).search(["Ebbing"], k=100, mmr=None)
    documents = [document_id(hit.id) for hit in hits]
    assert len(set(documents)) == sum(1 for _ in dataset.documents[0].open(encoding="utf-8")), "not all documents were found"
    return {document: documents.count(document) for document in documents}


def test_limitations_are_reported_as_caveats(tmp_path: Path) -> None:
    records = [{"id": "d1", "text": "One.", "metadata": {"text_status": "PARTIAL: an excerpt"}}, {"id": "d2", "text": "Two."}]
    inferred_type = {"metadata": {"type_origin": "inferred"}}
    questions = [
        {"id": "1", "question": "One?", "answer": "one", **inferred_type, "supporting": [{"doc_id": "d1"}, {"doc_id": None}]},
        {"id": "2", "question": "Two?", "answer": "two", "supporting": [{"doc_id": "d2"}]},
        {"id": "3", "question": "Three?", "answer": "", "type": "unanswerable"},
    ]
    write_records(tmp_path / "corpus.jsonl", records)
    write_records(tmp_path / "questions.jsonl", questions)
    dataset = load_dataset(tmp_path, tmp_path)
    partial, inferred, unknown = dataset.caveats
    assert partial.startswith("1 of 2 documents hold only a part of their text")
    assert inferred == "The type of 1 of 3 questions was inferred by a rule."
    assert unknown.startswith("The gold documents of 1 of 2 answerable questions are not known")
    assert dataset.questions[0].supporting == (), "one gold document is not known, so it cannot be told whether all were found"
    assert dataset.questions[2].unanswerable


def write_records(file: Path, records: Sequence[object]) -> Path:
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return file
