"""The groups of passages: by metadata, by similarity if metadata are missing, and by both for outliers."""

from pathlib import Path

import pytest

from plugins.kinds.tests.hierarchy.manual import build_index_with_groups, group_names, read_content
from ramify.tools.errors import UsageError
from tests.tools.index.manual import WORDS, Record, change_records, records

STRANGE = "Jupiter is orbited by Europa under heavy ice. Its ocean never saw daylight. Probes measured salt plumes above Europa."


def ids_of(folder: Path) -> list[str]:
    return [str(id) for id in read_content(folder).ids]


def id_of(folder: Path, record: str) -> str:
    return next(id for id in ids_of(folder) if id.endswith(record))


def test_the_groups_are_the_values_of_the_field(tmp_path: Path) -> None:
    done = build_index_with_groups(tmp_path / "index")
    content = read_content(tmp_path / "index")
    assert [group.name for group in content.groups] == sorted(WORDS)
    assert (done.groups, done.ungrouped, done.assigned) == (4, 0, 0)
    assert {edge.weight for edge in content.edges if edge.kind == "primary"} == {1.0}


def test_several_fields_make_compound_groups_and_case_makes_no_difference(tmp_path: Path) -> None:
    given = change_records(records(), {"p1-1": {"chapter": "BELLOWS"}, "p1-2": {"chapter": "bellows "}})
    build_index_with_groups(tmp_path / "index", given, by=("chapter", "tool"))
    assert [group.name for group in read_content(tmp_path / "index").groups][:2] == ["Bellows / tool 0", "Bellows / tool 1"]
    assert len(read_content(tmp_path / "index").groups) == 8


def test_a_passage_without_its_metadata_goes_to_the_group_that_it_reads_like(tmp_path: Path) -> None:
    done = build_index_with_groups(tmp_path / "index", change_records(records(), {"p2-3": None, "p3-9": None}))
    assert done.assigned == 2
    for record, chapter in (("p2-3", "Loom"), ("p3-9", "Kiln")):
        assert group_names(tmp_path / "index", id_of(tmp_path / "index", record), "soft")[0] == chapter


def test_a_passage_like_none_of_the_groups_is_in_none(tmp_path: Path) -> None:
    strange = {"id": "europa", "title": "Europa", "text": STRANGE, "metadata": {}}
    done = build_index_with_groups(tmp_path / "index", [*records(), strange])
    assert done.ungrouped == 1
    assert group_names(tmp_path / "index", id_of(tmp_path / "index", "europa"), "pool") == ["without a group"]
    assert group_names(tmp_path / "index", id_of(tmp_path / "index", "europa"), "novel"), "what novelty refuses is kept for comparing"


def test_passages_of_no_group_that_belong_together_found_groups(tmp_path: Path) -> None:
    other = [{**record, "metadata": {}} for record in records(24, ("Kiln", "Press"))]
    done = build_index_with_groups(tmp_path / "index", [*records(chapters=("Bellows", "Loom")), *other])
    content = read_content(tmp_path / "index")
    founded = [number for number, group in enumerate(content.groups) if group.kind == "founded"]
    assert done.new_groups == len(founded) == 2
    for number in founded:
        texts = {content.ids[edge.leaf].rpartition("p")[2][0] for edge in content.edges if edge.group == number}
        assert len(texts) == 1, "a founded group holds one of the two chapters"


def test_one_topic_that_no_group_has_founds_a_group(tmp_path: Path) -> None:
    other = [{**record, "metadata": {}} for record in records(12, ("Kiln",))]
    done = build_index_with_groups(tmp_path / "index", [*records(chapters=("Bellows", "Loom", "Press")), *other])
    assert (done.new_groups, done.ungrouped) == (1, 0)


def test_a_passage_under_a_false_chapter_is_also_in_the_right_one(tmp_path: Path) -> None:
    done = build_index_with_groups(tmp_path / "index", change_records(records(), {"p4-5": {"chapter": "Loom"}}))
    id = id_of(tmp_path / "index", "p4-5")
    assert done.linked >= 1
    assert group_names(tmp_path / "index", id, "primary") == ["Loom"]
    assert group_names(tmp_path / "index", id, "escape")[0] == "Press"


def test_a_list_of_values_is_in_each_group(tmp_path: Path) -> None:
    build_index_with_groups(tmp_path / "index", change_records(records(), {"p1-4": {"chapter": ["Bellows", "Kiln"]}}))
    content, id = read_content(tmp_path / "index"), id_of(tmp_path / "index", "p1-4")
    assert group_names(tmp_path / "index", id, "primary") == ["Bellows", "Kiln"]
    assert {edge.weight for edge in content.edges if content.ids[edge.leaf] == id and edge.kind == "primary"} == {0.5}


def dated() -> list[Record]:
    """Date the paragraphs, 32 days in two months and 32 in a third, and count hours from 0 to 315."""
    days = [
        f"2026-0{month}-{day:02}T08:00" if month % 2 else f"20260{month}{day:02}_08:00" for month in (1, 2, 3, 4) for day in range(1, 17)
    ]
    return [{**record, "metadata": {"date": day, "hours": 5 * n}} for n, (record, day) in enumerate(zip(records(), days, strict=True))]


def test_dates_and_numbers_are_binned_on_request(tmp_path: Path) -> None:
    build_index_with_groups(tmp_path / "months", dated(), by=("date:month",))
    assert [group.name for group in read_content(tmp_path / "months").groups] == ["2026-01", "2026-02", "2026-03", "2026-04"]
    build_index_with_groups(tmp_path / "hours", dated(), by=("hours:100",))
    assert [group.name for group in read_content(tmp_path / "hours").groups] == ["0 to 100", "100 to 200", "200 to 300", "300 to 400"]
    with pytest.raises(UsageError, match="date makes 64 groups"):
        build_index_with_groups(tmp_path / "days", dated(), by=("date",))


@pytest.mark.parametrize(
    ("by", "what"),
    [
        ("date:week", "'date' cannot be grouped by 'week'"),
        ("chapter:month", "no value of 'chapter' is a date"),
        ("chapter:10", "no value of 'chapter' is a number"),
    ],
)
def test_values_that_cannot_be_put_together_so_are_refused(tmp_path: Path, by: str, what: str) -> None:
    given = [{**record, "metadata": {**record["metadata"], "date": "2026-01-01"}} for record in records()]
    with pytest.raises(UsageError) as error:
        build_index_with_groups(tmp_path / "index", given, (by,))
    assert what in error.value.what


def test_without_a_name_the_field_is_chosen_that_tells_passages_apart(tmp_path: Path) -> None:
    assert build_index_with_groups(tmp_path / "index", by=None).fields == ("chapter",)


@pytest.mark.parametrize(
    ("by", "what"),
    [
        (("colour",), "no document has the metadata 'colour'"),
        (("heading",), "heading makes 61 groups of 64 passages, more than 12"),
        (("maker",), "all documents have the same maker"),
    ],
)
def test_fields_that_do_not_group_are_refused_with_those_that_may(tmp_path: Path, by: tuple[str, ...], what: str) -> None:
    given = change_records(records(), {f"p{n}-{m}": {"maker": "Ritter"} for n in range(1, 5) for m in range(1, 17)})
    with pytest.raises(UsageError) as error:
        build_index_with_groups(tmp_path / "index", given, by)
    assert error.value.what == what
    assert "chapter" in error.value.remedy


def test_without_metadata_there_is_one_tree_over_everything(tmp_path: Path) -> None:
    given = [{**record, "metadata": {"chapter": None}} for record in records()]
    done = build_index_with_groups(tmp_path / "index", given)
    alone = build_index_with_groups(tmp_path / "other", records(), by=("none",))
    assert (done.groups, done.ungrouped) == (1, 64)
    assert (alone.groups, alone.nodes) == (1, done.nodes)
