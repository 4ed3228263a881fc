"""Global search over a hierarchy: the summaries of its groups in batches, and passages cited for what they say."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import ramify.graphs as graphs
from plugins.kinds.tests.hierarchy.manual import build_index_with_groups, open_groups
from ramify.graphs import Result
from ramify.graphs.tool import research_tool
from ramify.kinds.hierarchy.index import HierarchyIndex
from ramify.studio.drawing.phrases import kind_of
from ramify.tools.errors import UsageError
from tests.fakes import FakeModel
from tests.river import but, model
from tests.tools.index.manual import WORDS, records

THEMES = "What are the main themes?"
ONE_EACH = {"level": 0, "batch_tokens": 100}
TEXTS = " ".join(record["text"] for record in records())


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> HierarchyIndex:
    folder = tmp_path_factory.mktemp("manual") / "index"
    build_index_with_groups(folder)
    return open_groups(folder)


def asked(index: Any, chat: FakeModel | str | None = None, **options: Any) -> Result:
    return graphs.ask(THEMES, "global", model=chat or model(), index=index, **{**ONE_EACH, **options})


def by_group(**statements: str) -> FakeModel:
    """Make a model that finds a batch helpful where a group's name stands in it, and says of it what is told."""

    def mapped(slots: Mapping[str, Any]) -> Any:
        said = next((statements[name] for text in slots["passages"] for name in statements if name in text["title"]), "")
        return {"points": [f"80 | 1 | {said}"] if said else []}

    return but(map_report=mapped)


def test_every_group_is_read_under_its_name(index: HierarchyIndex) -> None:
    result = asked(index, chat := model())
    assert sorted(id for branch in result.tree.values() for id in branch.evidence) == [f"summary {number}" for number in range(4)]
    assert {text["title"] for slots in chat.asked("map_report") for text in slots["passages"]} == set(WORDS)
    assert (result.answer, kind_of(result.tree["0.0"])) == ("Seine", "1 summary")


def test_only_passages_below_the_summaries_that_help_are_cited(index: HierarchyIndex) -> None:
    result = asked(index, by_group(Kiln="Kilns are fired with care."))
    assert result.citations
    for citation in result.citations:
        [document] = index.get_by_ids([citation.id])
        assert document.metadata["chapter"] == "Kiln"
        assert citation.quote in document.page_content


def test_the_embedded_model_quotes_under_the_names_of_the_groups(index: HierarchyIndex) -> None:
    result = asked(index, "extractive", level="auto", batch_tokens=None)
    lines = result.answer.splitlines()
    assert len(lines) >= 3
    for line in lines:
        group, _, said = line.partition(": ")
        assert group.partition(" > ")[0] in WORDS
        assert said.partition(" [")[0] in TEXTS
    assert any("each under the name of its group" in notice for notice in result.notices)
    assert not any("communit" in notice or "report" in notice for notice in result.notices)


def test_a_sentence_that_a_page_breaks_is_quoted_all_the_same(tmp_path: Path) -> None:
    build_index_with_groups(tmp_path / "index", [{**record, "text": record["text"].replace(" and ", "\nand ")} for record in records()])
    result = asked(open_groups(tmp_path / "index"), "extractive", level="auto", batch_tokens=None)
    assert result.citations
    assert all(citation.quote in result.answer for citation in result.citations)
    assert any(" and " in citation.quote for citation in result.citations)
    assert all(citation.quote for citation in result.citations)


def test_levels_are_those_of_the_trees_and_the_largest_group_is_the_first(tmp_path: Path) -> None:
    build_index_with_groups(tmp_path / "index", [*records(5, ("Bellows",)), *records(120, ("Kiln",))])
    index = open_groups(tmp_path / "index")
    assert [report.title for report in index.reports.reports(0)] == ["Kiln", "Bellows"]
    counts = [level.communities for level in index.reports.levels]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0] == 2
    deepest = asked(index, level=len(counts) - 1)
    assert sum(len(branch.evidence) for branch in deepest.tree.values()) == counts[-1]
    said = [notice for notice in asked(index, level="auto", max_batches=2).notices if "are read" in notice]
    assert [notice.partition(":")[0] for notice in said] == ["the summaries of level 0 are read"]


def test_a_level_that_there_is_not_and_a_filter_are_refused(index: HierarchyIndex) -> None:
    with pytest.raises(UsageError, match=r"level 9.* 0 to "):
        asked(index, level=9)
    with pytest.raises(UsageError, match="over=passages"):
        asked(index, filter={"chapter": "Kiln"})
    assert asked(index, over="passages", filter={"chapter": "Kiln"}, batch_tokens=None).answer == "Seine"


def test_a_tool_asks_them_too(index: HierarchyIndex) -> None:
    tool = research_tool("global", model=model(), index=index, **ONE_EACH)
    call = {"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": THEMES}}
    said = tool.invoke(call)
    assert "Seine" in said.content
    assert {citation["id"] for citation in said.artifact["citations"]} <= set(index.ids())


def test_a_passage_whose_id_looks_like_a_summary_s_is_cited_all_the_same(tmp_path: Path) -> None:
    from ramify.tools.index import Index
    from tests.tools.fakes import WordEncoder

    index = Index.from_texts(["Ships sail at dawn."], WordEncoder(), path=tmp_path / "index", ids=["community plan"])
    assert [citation.id for citation in asked(index, level="auto", over="passages").citations] == ["community plan"]
