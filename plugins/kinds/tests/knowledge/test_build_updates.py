"""Updates of a graph: communities are kept, few reports are rewritten, deleted content is removed."""

from pathlib import Path
from typing import Any

import pytest

from plugins.kinds.tests.knowledge.valley import (
    SMALL,
    VALLEY,
    build_index_with_graph,
    build_structure,
    dump,
    graph_file,
    open_graph,
    rewrite_documents,
    rows,
    update_all,
)
from ramify.kinds.knowledge.build import MAX_NEW_EDGE_SHARE
from ramify.kinds.knowledge.graph_file import GRAPH
from ramify.tools.index import Index
from ramify.tools.index.manifest import MANIFEST, read_index_manifest
from ramify.tools.index.publication import drop_structure
from tests.tools.fakes import WordEncoder

MARROW = {"Marrow Fair": "The Marrow Fair is held in Lisk each spring. Orla Finch opened the Marrow Fair with Ben Adair."}


class TestUpdates:
    def test_a_second_run_makes_no_report_and_the_same_file(self, copy: Path) -> None:
        before = dump(copy)
        again = build_structure(copy, **SMALL)
        assert (again.rewritten, again.new_edges) == (0, 0.0)
        assert dump(copy) == before

    def test_another_document_leaves_communities_as_they_were_and_most_reports(self, copy: Path) -> None:
        before, reports = graph_file(copy).partition(), graph_file(copy).all_reports()
        update_all(copy, {**VALLEY, **MARROW})
        result = build_structure(copy, **SMALL)
        after = graph_file(copy).partition()
        home = {"marrow fair"} | {key for community in before.values() for key in community.members}
        assert {id: set(community.members) - {"marrow fair"} for id, community in after.items()} == {
            id: set(community.members) for id, community in before.items()
        }
        assert {key for community in after.values() for key in community.members} == home
        same = [id for id, report in graph_file(copy).all_reports().items() if report == reports[id]]
        assert len(same) == result.communities - result.rewritten >= 0.6 * result.communities
        assert 0 < result.new_edges < MAX_NEW_EDGE_SHARE

    def test_content_of_a_deleted_document_is_removed(self, copy: Path) -> None:
        update_all(copy, {title: text for title, text in VALLEY.items() if title != "Ivor Kells"})
        build_structure(copy, **SMALL)
        graph = graph_file(copy).graph()
        assert "thea kells" not in graph.names
        assert graph.names["ivor kells"].passages == ("mount-brannoch.md#mount-brannoch",)
        assert ("kells company", "oskel company") not in graph.edges
        assert all(
            "ivor-kells.md" not in finding.passages[0] for report in graph_file(copy).all_reports().values() for finding in report.findings
        )

    def test_what_came_and_went_again_leaves_nothing_behind_but_the_count(self, copy: Path) -> None:
        before = rows(copy, "SELECT key FROM names"), graph_file(copy).all_reports()
        update_all(copy, {**VALLEY, **MARROW})
        build_structure(copy, **SMALL)
        update_all(copy, VALLEY)
        build_structure(copy, **SMALL)
        assert (rows(copy, "SELECT key FROM names"), graph_file(copy).all_reports()) == before

    def test_new_edges_are_counted_until_repartitioning(self, copy: Path) -> None:
        shares = []
        for number in range(3):
            more = {f"Marrow Fair {n}": f"Marrow Fair {n} is a fair that Sela Worth {n} opened in Lisk." for n in range(number + 1)}
            update_all(copy, {**VALLEY, **more})
            shares.append(build_structure(copy, **SMALL).new_edges)
        assert shares == sorted(shares)
        assert shares[0] > 0
        assert build_structure(copy, **SMALL).new_edges == shares[-1]
        assert build_structure(copy, recluster=True, **SMALL).new_edges == 0

    def test_repartitioned_they_equal_those_of_a_new_index(self, copy: Path, tmp_path: Path) -> None:
        update_all(copy, {**VALLEY, **MARROW})
        build_structure(copy, **SMALL)
        build_structure(copy, recluster=True, **SMALL)
        build_index_with_graph(tmp_path / "new", {**VALLEY, **MARROW}, **SMALL)
        assert dump(copy) == dump(tmp_path / "new")

    def test_another_size_repartitions(self, copy: Path) -> None:
        assert build_structure(copy, max_cluster_size=50).levels == 1

    def test_passages_are_not_encoded_again(self, copy: Path) -> None:
        before = (copy / "vectors.faiss").read_bytes(), (copy / "passages.sqlite").read_bytes()
        build_structure(copy, recluster=True)
        assert ((copy / "vectors.faiss").read_bytes(), (copy / "passages.sqlite").read_bytes()) == before

    def test_it_can_be_taken_away(self, copy: Path) -> None:
        drop_structure(copy)
        assert not (copy / GRAPH).exists()
        assert Index.open(copy, WordEncoder()).manifest.kind == "passages"


class TestOpenIndex:
    def test_an_update_of_the_passages_keeps_the_kind(self, copy: Path) -> None:
        update_all(copy, {**VALLEY, **MARROW})
        index = open_graph(copy)
        assert index.manifest.kind == "graph"
        assert "marrow-fair.md#marrow-fair" in {hit.id for hit in index.search(["Marrow Fair"], 5)[0]}

    def test_texts_can_be_added_and_deleted_between_searches(self, copy: Path) -> None:
        index = open_graph(copy)
        query = "Who was the keeper of the lighthouse on Harrow Point?"
        index.search([query], 5)
        [fresh] = index.add_texts(["The Marrow Fair is held in Lisk."], ids=["fair"])
        index.delete(["ada-lantz.md#ada-lantz", "vane.md#vane"])
        assert index.manifest.kind == "graph"
        assert fresh in index.ids()
        for text in (query, "Marrow Fair", "Oskel Company"):
            shown, anew = (_shown(how.search([text], 20)[0]) for how in (index, open_graph(copy)))
            assert shown == anew

    def test_plain_ramify_index_keeps_the_kind_and_brings_the_graph_up_to_date(self, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from ramify.studio.commands.index import index_command

        monkeypatch.setattr("ramify.tools.index.index.load_encoder", lambda name: WordEncoder())
        documents = rewrite_documents(copy, {**VALLEY, **MARROW})
        index_command(copy, [documents])
        assert read_index_manifest(copy / MANIFEST).kind == "graph"  # type: ignore[union-attr]  # it is there
        assert "marrow fair" in graph_file(copy).graph().names
        index_command(copy, [documents], kind="passages")
        assert not (copy / GRAPH).exists()


def _shown(hits: Any) -> list[tuple[str, float]]:
    return [(hit.id, round(hit.score, 6)) for hit in hits]
