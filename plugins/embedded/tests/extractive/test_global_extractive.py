"""Global search with the embedded model: verbatim sentences of the documents with their sources."""

import re
from typing import Any

import pytest

import ramify.graphs as graphs
from plugins.kinds.tests.knowledge.valley import SMALL, VALLEY, build_index_with_graph, open_graph
from ramify.embedded.extractive.overviews import map_report
from ramify.graphs import Result
from ramify.kinds.knowledge.index import GraphIndex


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> GraphIndex:
    folder = tmp_path_factory.mktemp("valley") / "index"
    build_index_with_graph(folder, **SMALL)
    return open_graph(folder)


def asked(index: GraphIndex, question: str = "What are the main themes?", **options: Any) -> Result:
    return graphs.ask(question, "global", model="extractive", index=index, **options)


def test_themes_are_sentences_of_the_documents_with_their_sources(index: GraphIndex) -> None:
    result = asked(index)
    assert any("quoted from the documents, each under the names of its community" in notice for notice in result.notices)
    lines = [re.fullmatch(r"(?P<names>.+?): (?P<said>.+?)(?P<marks> (\[\d+\])+)", line) for line in result.answer.splitlines()]
    assert len(lines) >= 3
    for line in lines:
        assert line is not None, result.answer
        numbers = [int(number) for number in re.findall(r"\d+", line["marks"])]
        assert all(line["said"] in VALLEY[result.citations[number - 1].title] for number in numbers)


def test_themes_exclude_statements_about_documents() -> None:
    reports = [
        {"title": "Colophon", "source": "community 9", "text": "These documents and their main themes are summarised in this collection."},
        {"title": "Vane, Oskel", "source": "community 0", "text": "Vane is a market town on the river Oskel."},
    ]
    quoted = map_report({"question": "What are the main themes of these documents?", "passages": reports})["quotes"]
    assert quoted[0].endswith("| 2 | Vane, Oskel: Vane is a market town on the river Oskel.")


def test_something_particular_is_found(index: GraphIndex) -> None:
    result = asked(index, "Who founded the Kells Company?")
    assert "Ivor Kells was a miner who founded the Kells Company." in result.answer
    assert "ivor-kells.md" in [citation.source for citation in result.citations]


def test_another_language_is_unknown(index: GraphIndex) -> None:
    result = asked(index, "이 문서들의 주요 주제는 무엇입니까?")
    assert (result.answer, result.citations) == ("Unknown", [])
    assert any("does not look like English" in notice for notice in result.notices)


def test_it_answers_the_same_twice(index: GraphIndex) -> None:
    one, other = (asked(index, level=1) for _ in range(2))
    assert (one.answer, one.tree, one.citations) == (other.answer, other.tree, other.citations)
