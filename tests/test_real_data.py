"""Real documents and questions: indexed, asked with every strategy. Found through RAMIFY_DATA."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.tools import plugins
from ramify.tools.index import Index
from ramify.tools.index.passage_store import document_id

DATA = os.environ.get("RAMIFY_DATA")
SET = Path(DATA or ".") / "2wikimultihopqa"
QUESTIONS, OTHERS = 6, 120

pytestmark = pytest.mark.skipif(not DATA or not SET.exists(), reason="RAMIFY_DATA names no folder with 2wikimultihopqa in it")


def _read(name: str) -> list[dict[str, Any]]:
    with gzip.open(SET / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """Index the gold paragraphs of a few questions among others, straight from the gzipped records, with a graph beside them."""
    questions = _read("questions.jsonl.gz")[:QUESTIONS]
    gold = {fact["doc_id"] for question in questions for fact in question["supporting"]}
    corpus = _read("corpus.jsonl.gz")
    kept = [record for record in corpus if record["id"] in gold] + [record for record in corpus if record["id"] not in gold][:OTHERS]
    folder = tmp_path_factory.mktemp("real")
    with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in kept)
    built = Index.build([folder / "corpus.jsonl.gz"], folder / "index")
    assert built.documents == len(kept)
    plugins.load("ramify.kinds", "graph").build(folder / "index")
    return folder / "index", questions


@pytest.mark.parametrize("strategy", list(graphs.STRATEGIES))
def test_every_strategy_answers_real_questions_with_sources(strategy: str, asked: tuple[Path, list[dict[str, Any]]]) -> None:
    index, questions = asked
    for question in questions[:2] if strategy == "iterative" else questions:  # which reads a hundred passages for each
        result = graphs.ask(question["question"], strategy, model="extractive", index=str(index))
        assert result.stopped_by in {"finished", "rounds"}
        assert result.answer == "Unknown" or result.citations
        assert (result.usage.retrievals == 0) == (strategy == "closed-book")


def test_sub_questions_find_more_of_the_gold_paragraphs_than_the_question_alone(asked: tuple[Path, list[dict[str, Any]]]) -> None:
    index, questions = asked
    assert _found("prune", index, questions) > _found("naive", index, questions)


def _found(strategy: str, index: Path, questions: list[dict[str, Any]]) -> int:
    results = [graphs.ask(question["question"], strategy, model="extractive", index=str(index)) for question in questions]
    gold = [{fact["doc_id"] for fact in question["supporting"]} for question in questions]
    return sum(len(ids & {document_id(key) for key in result.passages}) for ids, result in zip(gold, results, strict=True))
