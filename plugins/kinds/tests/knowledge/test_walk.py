"""Search along the graph: what it adds to the plain search, and unchanged scores, filters and the flat view."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from plugins.kinds.tests.knowledge.valley import VALLEY, build_structure, open_graph
from ramify.kinds.knowledge.index import GraphIndex, WalkSearch
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import View
from tests.tools.fakes import WordEncoder

QUESTION = "Who drew the stone arch that crosses the water below the mill?"
ARCH = "The stone arch that crosses the water below the mill was drawn by Ada Lantz."
BEES = "Born near Tolvey; kept bees, sang, died aged ninety."
QUERIES = [QUESTION, "Nell Garvey", "harbour", "What was built at Drumlow?", ""]


def filler(number: int) -> Document:
    text = f"The water below arch {number} is cold, and the stone of the mill is grey. Piet Corrow{chr(97 + number)} lives in Vane."
    return Document(text, id=f"filler-{number}", metadata={"title": f"Notebook {number}", "place": "mill", "source": f"{number}.txt"})


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walk") / "plain"
    documents = [
        Document(ARCH, id="arch", metadata={"title": "Old Marrow", "place": "mill", "source": "arch.txt"}),
        Document(BEES, id="lantz", metadata={"title": "Ada Lantz", "place": "hall", "source": "lantz.txt"}),
        *(
            Document(text, id=title, metadata={"title": title, "place": "valley", "source": title})
            for title, text in VALLEY.items()
            if title != "Ada Lantz"
        ),
        *(filler(number) for number in range(20)),
    ]
    texts = [document.page_content for document in documents]
    Index.from_texts(
        texts,
        WordEncoder(),
        [document.metadata for document in documents],
        ids=[str(document.id) for document in documents],
        path=folder,
    )
    return folder


@pytest.fixture(scope="module")
def graph(plain: Path) -> GraphIndex:
    folder = Path(shutil.copytree(plain, plain.parent / "graph"))
    build_structure(folder)
    return open_graph(folder)


def ids(index: Index, query: str, k: int = 3, **how: Any) -> list[str]:
    return [hit.id for hit in index.search([query], k, **how)[0]]


def hits(index: Index, queries: Sequence[str] = QUERIES, **how: Any) -> list[list[tuple[str, float, float]]]:
    return [[(hit.id, hit.score, hit.value) for hit in passages] for passages in index.search(queries, 8, **how)]


class TestFlat:
    @pytest.mark.parametrize(
        "how",
        [
            {}, {"hybrid": False}, {"dense": False}, {"mmr": 0.5}, {"fetch_k": 30, "mmr": 0.7}, {"per_section": 1},
            {"filter": {"place": "mill"}}, {"filter": {"place": ["hall", "valley"]}, "mmr": 0.3},
        ],
        ids=str,
    )  # fmt: skip
    def test_is_the_plain_index_hit_by_hit(self, plain: Path, graph: GraphIndex, how: dict[str, Any]) -> None:
        assert hits(graph, view="flat", **how) == hits(Index.open(plain, WordEncoder()), view="flat", **how)

    def test_auto_of_a_plain_index_is_the_same(self, plain: Path) -> None:
        index = Index.open(plain, WordEncoder())
        assert hits(index, view="auto") == hits(index, view="flat")

    def test_is_what_langchain_s_own_methods_give(self, plain: Path, graph: GraphIndex) -> None:
        index = Index.open(plain, WordEncoder())
        vector = graph.embeddings.embed_query(QUESTION)
        for method, given in (("similarity_search", QUESTION), ("similarity_search_by_vector", vector)):
            ours, theirs = (getattr(store, method)(given, k=5) for store in (graph, index))
            assert [document.id for document in ours] == [document.id for document in theirs]


class TestAlongNames:
    def test_finds_passages_titled_with_a_name_of_the_nearest_passage_without_shared_words(self, graph: GraphIndex) -> None:
        assert not set(QUESTION.lower().rstrip("?").split()) & set(BEES.lower().split())
        assert ids(graph, QUESTION, view="flat", k=1) == ["arch"]
        assert "lantz" not in ids(graph, QUESTION, view="flat", k=6)
        assert "lantz" in ids(graph, QUESTION)

    def test_finds_passages_titled_with_a_name_of_the_question(self, graph: GraphIndex) -> None:
        assert "lantz" in ids(graph, "Where did Ada Lantz learn the stone trade of the mill and the water?", 3)

    def test_follows_a_relation_to_what_does_not_mention_the_name_of_the_question(self, graph: GraphIndex) -> None:
        """Hollin Bridge was designed by Ada Lantz: her page says nothing of it."""
        assert ("ada lantz", "hollin bridge") in graph.reports.graph().edges
        assert "lantz" in ids(graph, "Hollin Bridge", 5, options={"seeds": 0})
        assert "lantz" not in ids(graph, "Hollin Bridge", 5, options={"seeds": 0, "relations": 0})

    def test_follows_as_many_relations_as_there_are_hops(self, graph: GraphIndex) -> None:
        """Nell Garvey was a sailor from Drumlow, where the Oskel reaches the sea."""
        near, far = (ids(graph, "Nell Garvey", 12, options={"seeds": 0, "mentions": 0, "relations": 5, "hops": hops}) for hops in (1, 2))
        assert far.index("Oskel") < near.index("Oskel")

    def test_a_more_frequent_relation_ranks_higher(self, graph: GraphIndex) -> None:
        edges = graph.reports.graph().edges
        assert edges["drumlow", "selby works"].times > edges["selby works", "skerry light"].times
        ranked = ids(graph, "Selby Works", 8, options={"seeds": 0, "mentions": 0, "relations": 5})
        assert ranked.index("Drumlow") < ranked.index("Skerry Light")

    def test_keeps_the_nearest_first(self, graph: GraphIndex) -> None:
        assert ids(graph, QUESTION)[0] == "arch"

    def test_scores_are_cosines(self, graph: GraphIndex) -> None:
        cosines = {hit.id: hit.score for hit in graph.search([QUESTION], 500, view="flat")[0]}
        passages = graph.search([QUESTION], 8)[0]
        assert [hit.score for hit in passages] == [pytest.approx(cosines[hit.id], abs=1e-6) for hit in passages]
        assert [hit.score for hit in passages] != sorted((hit.score for hit in passages), reverse=True), "names have a say in the order"

    def test_without_seeds_and_names_it_is_the_plain_order(self, graph: GraphIndex) -> None:
        assert hits(graph, [QUESTION], options={"seeds": 0}) == hits(graph, [QUESTION], view="flat")

    def test_the_batch_finds_what_its_queries_find_alone(self, graph: GraphIndex) -> None:
        assert hits(graph) == [hits(graph, [query])[0] for query in QUERIES]

    def test_hits_come_once_and_as_many_as_there_are(self, graph: GraphIndex) -> None:
        ranked = ids(graph, QUESTION, 500)
        assert len(ranked) == len(set(ranked)) == len(graph)

    def test_passages_added_since_are_found_as_well(self, graph: GraphIndex, tmp_path: Path) -> None:
        index = open_graph(Path(shutil.copytree(graph.folder, tmp_path / "copy")))
        index.add_texts(["The Lapwing II was launched at dusk."], ids=["launch"])
        assert "launch" in ids(index, "launched at dusk", 5)


class TestFilter:
    @pytest.mark.parametrize("where", [{"place": "mill"}, {"place": ["valley", "hall"]}, {"source": "arch.txt"}])
    def test_stays_exact(self, graph: GraphIndex, where: dict[str, Any]) -> None:
        allowed = {hit.id for hit in graph.search([""], 500, filter=where, view="flat")[0]}
        assert set(ids(graph, QUESTION, 500, filter=where)) == allowed

    def test_leads_through_what_it_leaves_out_of_the_hits(self, graph: GraphIndex) -> None:
        assert "arch" not in ids(graph, QUESTION, 50, filter={"place": "hall"})
        assert ids(graph, QUESTION, 50, filter={"place": "hall"}) == ["lantz"]


class TestOptions:
    @pytest.mark.parametrize("view", ["auto", "flat"])
    @pytest.mark.parametrize("options", [{"seed": 3}, {"seeds": -1}, {"seeds": "many"}, {"damping": 2}, {"muted": 0}])
    def test_unknown_and_invalid_options_are_rejected_with_the_valid_ones(
        self, graph: GraphIndex, options: dict[str, Any], view: View
    ) -> None:
        with pytest.raises(UsageError, match=f"search.{next(iter(options))}=.* is not valid") as caught:
            graph.search([QUESTION], options=options, view=view)
        assert "\n" not in str(caught.value)
        assert ", ".join(WalkSearch.model_fields) in caught.value.remedy

    def test_a_plain_index_has_none(self, plain: Path) -> None:
        with pytest.raises(UsageError, match=r"search\.seeds is not an option of an index of kind 'passages' — .*--kind graph"):
            Index.open(plain, WordEncoder()).search([QUESTION], options={"seeds": 3})

    def test_an_unknown_view_is_rejected(self, graph: GraphIndex) -> None:
        with pytest.raises(UsageError, match=r"'graph' — .*auto, flat"):
            graph.search([QUESTION], view="graph")  # type: ignore[arg-type]  # the mistake under test

    def test_a_name_in_too_many_passages_is_muted(self, graph: GraphIndex) -> None:
        """Vane is in all twenty fillers: only where that does not matter does its own passage come up."""
        query = "What is grey where Piet Corrowc lives?"
        assert len(graph.reports.graph().names["vane"].passages) > 20
        assert "Vane" not in ids(graph, query, 3, view="flat")
        assert "Vane" in ids(graph, query, 3, options={"muted": 1.0})
        assert "Vane" not in ids(graph, query, 3, options={"muted": 0.01})

    def test_with_no_weight_for_names_only_the_plain_ranking_counts(self, graph: GraphIndex) -> None:
        flat = ids(graph, QUESTION, 8, view="flat")
        assert ids(graph, QUESTION, 8, options={"titles": 0, "relations": 0, "mentions": 0}) == flat
