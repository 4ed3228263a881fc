"""Building a hierarchy: quoted summaries, reproducible files, and incremental updates."""

import shutil
import zlib
from pathlib import Path

import pytest

from plugins.kinds.tests.hierarchy.manual import build_groups, build_index_with_groups, dump, open_groups, read_content
from ramify.kinds.building import build_hierarchy
from ramify.kinds.hierarchy.hierarchy_file import HIERARCHY
from ramify.kinds.hierarchy.router import Router
from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from ramify.tools.index.manifest import MANIFEST, read_index_manifest
from ramify.tools.index.publication import drop_structure
from tests.tools.fakes import WordEncoder
from tests.tools.index.manual import build_index, change_records, records, write


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with a hierarchy."""
    folder = tmp_path_factory.mktemp("manual") / "index"
    build_index_with_groups(folder)
    return folder


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """Copy it."""
    shutil.copytree(built.parent / "index-documents", tmp_path / "index-documents")
    return Path(shutil.copytree(built, tmp_path / "index"))


def updated(folder: Path, given: list[dict[str, object]]) -> None:
    Index.build([write(folder.parent / "index-documents", given)], folder, WordEncoder())


def test_every_group_has_a_tree_up_to_one_root_over_all_its_passages(built: Path) -> None:
    content = read_content(built)
    for group, tree in content.trees.items():
        own = {edge.leaf for edge in content.edges if edge.group == group and edge.kind != "novel"}
        assert set(tree[-1].leaves) == own
        assert tree[-1].title == content.groups[group].name
        assert {leaf for node in tree if not node.children for leaf in node.leaves} == own
        assert all(child < place for place, node in enumerate(tree) for child in node.children)


def test_every_sentence_of_a_summary_is_quoted_from_its_passage(built: Path) -> None:
    content, index = read_content(built), open_groups(built)
    said = [sentence for tree in content.trees.values() for node in tree for sentence in node.summary.sentences]
    assert len(said) >= 3 * len(content.trees)
    for quote in said:
        [passage] = index.get_by_ids([content.ids[quote.leaf]])
        assert quote.text in passage.page_content
    assert {node.summary.support for tree in content.trees.values() for node in tree} == {1.0}


def test_a_group_of_few_has_one_summary_and_no_tree(tmp_path: Path) -> None:
    done = build_index_with_groups(tmp_path / "index", records(5))
    assert (done.groups, done.nodes) == (4, 4)


def test_no_passage_is_encoded_again_and_of_a_cluster_ten_sentences_at_most(tmp_path: Path) -> None:
    """Beside them only the summaries are encoded, and nothing twice, though clusters are made anew in a round of repair."""
    folder, encoder = build_index(tmp_path / "index", records()), WordEncoder()
    made, _ = build_hierarchy(folder, {"repairs": 2}, ["chapter"], embedding=encoder)
    assert 0 < len(encoder.encoded) <= 11 * made.nodes * (1 + made.repairs)
    assert len(encoder.encoded) == len(set(encoder.encoded))
    assert not {hit.text for hit in open_groups(folder).search(["valve"], k=500)[0]} & set(encoder.encoded)


def test_the_same_documents_give_the_same_file_in_whatever_order(built: Path, tmp_path: Path) -> None:
    build_index_with_groups(tmp_path / "index", records()[::-1])
    assert dump(tmp_path / "index") == dump(built)


def test_a_second_run_changes_nothing_and_builds_no_tree(copy: Path) -> None:
    before = dump(copy)
    assert build_groups(copy, None).rebuilt_trees == 0, "by the fields that it has"
    assert dump(copy) == before


def test_a_new_passage_changes_its_group_alone(copy: Path) -> None:
    new = {**records(17)[16], "id": "new"}
    updated(copy, [*records(), new])
    done = build_groups(copy, None)
    assert done.fields == ("chapter",), "by the fields that it had before"
    assert done.rebuilt_trees <= 2, "its group, once more where it was repaired"
    assert any(str(id).endswith("new") for id in read_content(copy).ids)
    assert done.drifted == ()


def test_a_much_changed_group_is_reported_and_rebuilt_on_request(copy: Path) -> None:
    updated(copy, [*records(), *({**record, "id": f"more-{n}"} for n, record in enumerate(records(24)[16:24]))])
    assert "Bellows" in build_groups(copy).drifted
    again = build_groups(copy, rebuild=True)
    assert (again.drifted, again.rebuilt_trees > 0) == ((), True)
    fresh = build_index_with_groups(
        copy.parent / "fresh", [*records(), *({**record, "id": f"more-{n}"} for n, record in enumerate(records(24)[16:24]))]
    )
    assert fresh.nodes == again.nodes
    assert dump(copy) == dump(copy.parent / "fresh")


def test_changed_metadata_move_a_passage_without_encoding_any(tmp_path: Path) -> None:
    build_index_with_groups(tmp_path / "index")
    encoder = WordEncoder()
    changes = change_records(records(), {"p1-3": {"chapter": "Press"}})
    Index.build([write(tmp_path / "index-documents", changes)], tmp_path / "index", encoder)
    assert encoder.encoded == []
    build_groups(tmp_path / "index")
    content = read_content(tmp_path / "index")
    [moved] = [edge for edge in content.edges if content.ids[edge.leaf].endswith("p1-3") and edge.kind == "primary"]
    assert content.groups[moved.group].name == "Press"


def test_until_it_is_brought_up_to_date_an_index_searches_with_what_it_knows(copy: Path) -> None:
    updated(copy, [*records(), {**records()[0], "id": "newest", "text": "The pleat of a brass bellows is folded thrice."}])
    for formula in ("values", "rrf"):
        [hits] = open_groups(copy).search(["Which pleat is folded thrice?"], 3, options={"formula": formula})
        assert hits[0].id.endswith("newest")


def test_the_kind_can_be_taken_away_and_changed(copy: Path) -> None:
    drop_structure(copy)
    assert not (copy / HIERARCHY).exists()
    manifest = read_index_manifest(copy / MANIFEST)
    assert manifest is not None
    assert (manifest.kind, manifest.group_by) == ("passages", [])
    build_groups(copy, ("tool",))
    assert {group.name for group in read_content(copy).groups if group.kind == "metadata"} == {"tool 0", "tool 1"}


def test_an_index_without_passages_is_refused(tmp_path: Path) -> None:
    folder = build_index(tmp_path / "index", records(1, ("Kiln",)))
    index = Index.open(folder, WordEncoder())
    index.delete(index.ids())
    with pytest.raises(IndexingError, match="no passages"):
        build_groups(folder)


def test_steps_that_clusters_tear_apart_are_brought_together(tmp_path: Path) -> None:
    assert build_index_with_groups(tmp_path / "index").repairs == 0, "not asked for"
    torn = {group: diagnosis.measures.step_discontinuity for group, diagnosis in enumerate(read_content(tmp_path / "index").diagnoses)}
    assert max(torn.values()) > 0.2
    build_groups(tmp_path / "index", repairs=2)
    content = read_content(tmp_path / "index")
    repaired = {repair.group for repair in content.repairs} & {group for group, share in torn.items() if share > 0.2}
    assert repaired
    assert all(content.diagnoses[group].measures.step_discontinuity < torn[group] for group in repaired)


def test_steps_stay_together_even_if_too_long_for_one_summary(tmp_path: Path) -> None:
    long = [{**record, "text": " ".join([str(record["text"])] * 6)} for record in records(40, ("Bellows", "Kiln"))]
    build_index_with_groups(tmp_path / "index", long, repairs=2)
    content = read_content(tmp_path / "index")
    assert {repair.what for repair in content.repairs} == {"steps kept together"}
    assert all(len(tree) > 4 for tree in content.trees.values())
    assert max(diagnosis.measures.step_discontinuity for diagnosis in content.diagnoses) < 0.2


def test_groups_that_another_version_has_made_are_refused_until_they_are_made_again(copy: Path) -> None:
    content = zlib.decompress((copy / HIERARCHY).read_bytes())
    (copy / HIERARCHY).write_bytes(zlib.compress(content.replace(b'"edition":"1"', b'"edition":"0"')))
    with pytest.raises(IndexingError, match="made by another version"):
        Router(copy / HIERARCHY, [])


def test_a_file_that_expands_beyond_measure_is_refused(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.kinds.hierarchy.hierarchy_file._MAX_BYTES", 1000)
    with pytest.raises(IndexingError, match=r"hierarchy.zlib' is damaged .* — run `ramify index"):
        Router(copy / HIERARCHY, [])
