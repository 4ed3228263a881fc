"""What a hierarchy would cost: worked out from a few summaries, with nothing written."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plugins.kinds.tests.hierarchy.manual import build_groups
from ramify.kinds.building import build_hierarchy
from ramify.kinds.cost import PILOT_SUMMARIES, HierarchyEstimate, estimate_hierarchy
from ramify.kinds.hierarchy.leaves import read_leaves
from ramify.kinds.knowledge.elements import read_pieces
from ramify.studio.cli import run
from ramify.tools.errors import UsageError
from ramify.tools.index.manifest import PASSAGES
from tests.fakes import FakeModel
from tests.tools.fakes import WordEncoder
from tests.tools.index.manual import build_index, change_records, records, write


def planned(folder: Path, by: list[str] | None, encoded: bool = True, **options: Any) -> HierarchyEstimate:
    leaves = read_leaves(folder / PASSAGES, encoded)
    return estimate_hierarchy(leaves, read_pieces(folder / PASSAGES), WordEncoder(), options, by, folder.parent / "spare.sqlite")


def model() -> FakeModel:
    """Make a model that says what the first passages say."""

    def reply(prompt: str, slots: Mapping[str, Any]) -> Any:
        return {"sentences": [str(text).split(". ")[0].rstrip(".") + "." for text in slots["material"][:3]]}

    return FakeModel(replies=reply)


def test_quoting_calls_nothing_and_the_build_lies_within(tmp_path: Path) -> None:
    folder = build_index(tmp_path / "index", records(40))
    plan = planned(folder, ["chapter"])
    groups, summaries = plan.stages
    assert (groups.name, groups.todo) == ("groups", "4 of 160 passages")
    assert (summaries.name, summaries.calls, summaries.tokens) == ("summaries", (0, 0), (0, 0))
    assert summaries.seconds[1] >= summaries.seconds[0] > 0
    low, high = map(int, re.findall(r"\d+", summaries.todo))
    assert low <= build_groups(folder).nodes <= high


def test_a_model_is_asked_for_a_few_and_the_build_s_calls_lie_within(tmp_path: Path) -> None:
    folder = build_index(tmp_path / "index", records(5))
    plan = planned(folder, ["chapter"], model=(fake := model()), shots=0)
    assert 0 < len(fake.calls) <= PILOT_SUMMARIES
    low, high = plan.stages[-1].calls
    _, usage = build_hierarchy(folder, {"model": model(), "shots": 0}, ["chapter"], embedding=WordEncoder())
    assert low <= usage.llm_calls <= high
    assert plan.stages[-1].tokens[0] > 0


def test_of_passages_that_are_not_encoded_it_lists_what_could_be_chosen(tmp_path: Path) -> None:
    folder = build_index(tmp_path / "index", records())
    assert planned(folder, None).fields == (("chapter",),)
    plan = planned(folder, None, encoded=False)
    assert {("chapter",), ("tool",), ("chapter", "tool")} <= set(plan.fields)
    assert [stage.name for stage in plan.stages] == ["encoding", "groups", "summaries"]
    assert plan.stages[1].todo == "2 to 8 of 64 passages"


def test_where_no_passage_has_the_metadata_of_some_there_is_the_pool(tmp_path: Path) -> None:
    given = change_records(records(), {f"p1-{place}": None for place in range(1, 17)})
    assert planned(build_index(tmp_path / "index", given), ["chapter"]).stages[0].todo == "3 of 64 passages"


def test_fields_that_do_not_serve_are_refused(tmp_path: Path) -> None:
    folder = build_index(tmp_path / "index", records(5))
    with pytest.raises(UsageError, match=r"'colour' — .*chapter"):
        planned(folder, ["colour"])


@pytest.mark.parametrize("by", [(), ("--group-by", "chapter")])
def test_it_is_printed_and_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str], by: tuple[str, ...]) -> None:
    file = write(tmp_path / "documents", records(5))
    assert run(["index", str(file), "--out", str(tmp_path / "index"), "--kind", "hierarchy", "--estimate", *by]) == 0
    said = capsys.readouterr()
    assert "passages would be grouped by" in said.err
    assert ("--group-by names others" in said.err) == (not by)
    assert re.search(r"^encoding +20 passages", said.out, re.MULTILINE)
    assert re.search(r"^summaries +.*quoted +0 +0 ", said.out, re.MULTILINE)
    assert [path.name for path in tmp_path.iterdir()] == ["documents"]


def test_of_an_index_that_is_there_its_own_fields_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = write(tmp_path / "documents", records(5)), str(tmp_path / "index")
    assert run(["index", str(file), "--out", out, "--kind", "hierarchy", "--group-by", "tool"]) == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "index").iterdir()}
    capsys.readouterr()
    assert run(["index", "--out", out, "--kind", "hierarchy", "--estimate"]) == 0
    assert "passages would be grouped by tool" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in (tmp_path / "index").iterdir()} == before
