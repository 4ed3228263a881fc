"""Building a graph by rules: independent of order, repaired, and errors in one line."""

import json
import random
from pathlib import Path

import pytest

from plugins.kinds.tests.knowledge.valley import SMALL, VALLEY, build_structure, dump, graph_file, open_graph, write
from ramify.kinds.building import build_graph
from ramify.kinds.knowledge.communities import community_levels
from ramify.kinds.knowledge.graph_file import GRAPH
from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from ramify.tools.index.manifest import MANIFEST, find_damage, read_index_manifest
from tests.faults import fault
from tests.tools.damage import damaged
from tests.tools.fakes import WordEncoder


class TestContent:
    def test_names_have_their_sentence_passages_and_degree(self, built: Path) -> None:
        graph = graph_file(built).graph()
        garvey = graph.names["nell garvey"]
        assert garvey.name == "Nell Garvey"
        assert garvey.description.text == "The crew of the Lapwing were saved by Nell Garvey."
        assert garvey.passages == ("harrow-point.md#harrow-point", "skerry-light.md#skerry-light")
        assert garvey.degree == sum("nell garvey" in pair for pair in graph.edges)

    def test_what_a_sentence_has_together_is_connected_by_it(self, built: Path) -> None:
        edge = graph_file(built).graph().edges["oskel company", "piet corrow"]
        assert (edge.times, edge.description.passage) == (1, "vane.md#vane")
        assert edge.description.text == "The market of Vane was founded by Piet Corrow and the Oskel Company."

    def test_every_level_has_every_connected_name_once_and_a_report_for_each_community(self, built: Path) -> None:
        reports = graph_file(built)
        partition, names = reports.partition(), sorted(reports.graph().names)
        levels = community_levels(partition)
        assert len(levels) == len(reports.levels) > 1
        for number, ids in enumerate(levels):
            assert sorted(key for id in ids for key in partition[id].members) == names
            assert [report.community for report in reports.reports(number)] == sorted(ids, key=list(partition).index)

    def test_reports_are_sentences_of_the_passages_they_name(self, built: Path) -> None:
        index = open_graph(built)
        for report in graph_file(built).all_reports().values():
            assert report.made_by == "extractive"
            assert report.findings
            for finding in report.findings:
                for document in index.get_by_ids(finding.passages):
                    assert finding.text in document.page_content

    def test_its_kind_and_checksum_are_recorded(self, built: Path) -> None:
        manifest = read_index_manifest(built / MANIFEST)
        assert manifest is not None
        assert (manifest.kind, find_damage(manifest, built)) == ("graph", None)
        assert set(manifest.sha256) == {"graph.sqlite", "passages.sqlite", "slots.npy", "vectors.faiss"}

    def test_units_and_gleanings_mean_nothing_to_the_rules(self, copy: Path) -> None:
        before = dump(copy)
        build_structure(copy, recluster=True, **SMALL, unit_tokens=2400, gleanings=3)
        assert dump(copy) == before

    def test_by_pmi_it_has_other_weights_and_the_same_names(self, copy: Path) -> None:
        before = graph_file(copy).partition()
        build_structure(copy, **SMALL, weights="pmi")
        after = graph_file(copy).partition()
        assert after != before
        assert {key for community in after.values() for key in community.members} == {
            key for community in before.values() for key in community.members
        }


class TestOrder:
    def test_of_files_changes_nothing(self, built: Path, tmp_path: Path) -> None:
        folder = write(tmp_path / "documents")
        files = sorted(folder.iterdir())
        random.Random(7).shuffle(files)
        Index.build(files, tmp_path / "index", WordEncoder())
        build_structure(tmp_path / "index", **SMALL)
        assert dump(tmp_path / "index") == dump(built)

    def test_of_folders_changes_nothing(self, built: Path, tmp_path: Path) -> None:
        titles = list(VALLEY)
        one = write(tmp_path / "one", {title: VALLEY[title] for title in titles[::2]})
        other = write(tmp_path / "other", {title: VALLEY[title] for title in titles[1::2]})
        for name, order in (("forth", (one, other)), ("back", (other, one))):
            for folder in order:
                Index.build([folder], tmp_path / name, WordEncoder())
            build_structure(tmp_path / name, **SMALL)
            assert dump(tmp_path / name) == dump(built)

    def test_of_records_changes_nothing(self, tmp_path: Path) -> None:
        records = [json.dumps({"id": title, "title": title, "text": text}) + "\n" for title, text in VALLEY.items()]
        for name, lines in (("forth", records), ("back", records[::-1])):
            (tmp_path / name).mkdir()
            (tmp_path / name / "records.jsonl").write_text("".join(lines), encoding="utf-8")
            Index.build([tmp_path / name], tmp_path / name / "index", WordEncoder())
            build_structure(tmp_path / name / "index")
        assert dump(tmp_path / "forth" / "index") == dump(tmp_path / "back" / "index")


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("water is wet and the sky is blue, as everybody knows by now", "connected names .* 1 passages"),
            ("오스켈 강은 산에서 시작하여 바다로 흐른다. 이 강에는 다리가 셋 있고, 첫째 다리는 돌로 지었다.", "do not look like English"),
        ],
    )
    def test_what_has_no_names_or_is_not_english_in_one_line(self, tmp_path: Path, text: str, message: str) -> None:
        (tmp_path / "note.txt").write_text(text, encoding="utf-8")
        Index.build([tmp_path / "note.txt"], tmp_path / "index", WordEncoder())
        with pytest.raises(IndexingError, match=message) as caught:
            build_structure(tmp_path / "index")
        assert "\n" not in str(caught.value)
        assert "--model" in caught.value.remedy
        assert len(Index.open(tmp_path / "index", WordEncoder())) == 1, "the index is as it was"

    def test_a_folder_without_an_index_in_one_line(self, tmp_path: Path) -> None:
        with pytest.raises(IndexingError, match="there is no index in"):
            build_graph(tmp_path / "nowhere")


class TestDamage:
    @fault(
        "index",
        "graph missing, cut, changed or overwritten",
        sees="one error that names the command to repair it",
        kept="all passages, and the same graph after that command",
        code=1,
    )
    @pytest.mark.parametrize("damage", ["missing", "empty", "cut", "flipped", "rubbish", "changed"])
    def test_is_one_clear_error_and_repaired_by_building_again(self, copy: Path, damage: str) -> None:
        content = dump(copy)
        (copy / GRAPH).unlink()
        if damage != "missing":
            (copy / GRAPH).write_bytes(damaged(content, b"Copper was found on Mount", b"Silver was found on Mount")[damage])
        with pytest.raises(IndexingError, match=r"damaged: graph.sqlite is (missing|damaged).* — run `ramify index PATH… --out .*` again"):
            open_graph(copy)
        Index.build([copy.parent / "index-documents"], copy, WordEncoder())
        build_structure(copy, **SMALL)
        assert dump(copy) == content
