"""News articles with their sources, of which some are missing: grouped, searched, asked. Found through RAMIFY_DATA."""

import gzip
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ramify.graphs as graphs
from ramify.kinds.building import build_hierarchy
from ramify.kinds.hierarchy.build import HierarchyBuild
from ramify.tools.index import Index
from ramify.tools.index.passage_store import document_id
from ramify.tools.search.searcher import open_index

DATA = os.environ.get("RAMIFY_DATA")
SET = Path(DATA or ".") / "multihop_rag"
QUESTIONS, SOURCELESS, OTHERS = 12, 6, 10
"""Questions about any articles, questions about one whose source is missing, and articles beside those that they are about."""

pytestmark = [
    pytest.mark.skipif(not DATA or not SET.exists(), reason="RAMIFY_DATA names no folder with multihop_rag in it"),
]


class News(NamedTuple):
    """An index of articles grouped by their source, the questions about them, and the articles whose source is not known."""

    folder: Path
    made: HierarchyBuild
    questions: list[dict[str, Any]]
    sourceless: frozenset[str]

    def found(self, **options: Any) -> list[set[str]]:
        """Give the gold articles among the first ten passages of each question."""
        asked = [question["question"] for question in self.questions]
        hits = open_index(str(self.folder)).search(asked, 10, **options)
        ids = [{document_id(hit.id) for hit in own} for own in hits]
        return [own & {fact["doc_id"] for fact in question["supporting"]} for own, question in zip(ids, self.questions, strict=True)]


def _read(name: str) -> list[dict[str, Any]]:
    with gzip.open(SET / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> News:
    corpus = _read("corpus.jsonl.gz")
    sourceless = frozenset(record["id"] for record in corpus if not record["metadata"].get("source"))
    answerable = [question for question in _read("questions.jsonl.gz") if question["supporting"]]
    about = [question for question in answerable if any(fact["doc_id"] in sourceless for fact in question["supporting"])]
    questions = list({question["id"]: question for question in (*answerable[:QUESTIONS], *about[:SOURCELESS])}.values())
    gold = {fact["doc_id"] for question in questions for fact in question["supporting"]}
    kept = [record for record in corpus if record["id"] in gold] + [record for record in corpus if record["id"] not in gold][:OTHERS]
    folder = tmp_path_factory.mktemp("news")
    with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in kept)
    Index.build([folder / "corpus.jsonl.gz"], folder / "index")
    made, _ = build_hierarchy(folder / "index", {}, ["record_source"])
    return News(folder / "index", made, questions, sourceless.intersection(record["id"] for record in kept))


def test_articles_without_a_source_are_given_to_those_that_they_read_like(news: News) -> None:
    assert news.sourceless
    assert news.made.assigned + news.made.ungrouped + news.made.new_groups >= len(news.sourceless) // 2


def test_recall_among_the_first_ten_hardly_changes(news: News) -> None:
    assert sum(map(len, news.found())) >= 0.95 * sum(map(len, news.found(view="flat")))


def test_an_article_whose_source_is_missing_is_still_found(news: News) -> None:
    hard = sum(len(own & news.sourceless) for own in news.found(options={"members": "primary", "fallback": 0}))
    soft = sum(len(own & news.sourceless) for own in news.found())
    assert (hard, soft) == (0, soft)
    assert soft > 0


@pytest.mark.parametrize("strategy", list(graphs.STRATEGIES))
def test_every_strategy_answers_with_sources(strategy: str, news: News) -> None:
    for question in news.questions[:1]:
        result = graphs.ask(question["question"], strategy, model="extractive", index=str(news.folder))
        assert result.stopped_by in {"finished", "rounds"}
        assert result.answer == "Unknown" or result.citations
