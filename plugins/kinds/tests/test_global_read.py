"""What global search reads: reports, passages, and how much of them."""

import re
from pathlib import Path

import pytest

from plugins.kinds.tests.knowledge.valley import VALLEY
from plugins.kinds.tests.test_global import REPORTS, asked, batches
from ramify.graphs.strategies import max_calls
from ramify.kinds.knowledge.index import GraphIndex
from ramify.nodes.settings import GlobalSettings
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from tests.river import model, river
from tests.tools.fakes import WordEncoder


class TestWhatIsRead:
    @pytest.mark.parametrize("level", REPORTS)
    def test_a_level(self, index: GraphIndex, level: int) -> None:
        read = [id for branch in batches(asked(index, level=level)) for id in branch.evidence]
        assert sorted(read) == sorted(f"community {report.community}" for report in index.reports.reports(level))

    @pytest.mark.parametrize("level", [3, 99, -1])
    def test_a_level_that_there_is_not_is_refused_with_those_that_there_are(self, index: GraphIndex, level: int) -> None:
        with pytest.raises(UsageError, match=rf"there is no level {level}: the graph has levels 0 to 2 — .*level=auto"):
            asked(index, level=level)

    @pytest.mark.parametrize(("most", "level"), [(16, 2), (10, 2), (9, 1), (8, 1), (7, 0), (4, 0)])
    def test_by_default_the_deepest_whose_batches_are_not_too_many(self, index: GraphIndex, most: int, level: int) -> None:
        result = asked(index, level="auto", max_batches=most)
        assert len(batches(result)) == REPORTS[level]
        said = f"the reports of level {level} are read: those of level {level + 1} are more than max_batches={most}"
        assert (said in result.notices) == (level < 2)

    def test_of_a_root_level_that_is_too_large_a_part_and_it_says_so(self, index: GraphIndex) -> None:
        result = asked(index, level="auto", max_batches=3)
        assert len(batches(result)) == 3
        assert any(notice.startswith("3 of 4 batches of the reports of level 0 are read") for notice in result.notices)

    def test_of_a_level_that_is_asked_for_no_more_than_max_batches(self, index: GraphIndex) -> None:
        result = asked(index, chat := model(), level=2, max_batches=3)
        most = max_calls("global", GlobalSettings(model=chat, index=index, level=2, max_batches=3))
        assert most is not None
        assert len(chat.calls) == most.calls == 4
        assert any(notice.startswith("3 of 10 batches of the reports of level 2 are read") for notice in result.notices)

    def test_batches_are_filled(self, index: GraphIndex) -> None:
        assert len(batches(asked(index, level=2, batch_tokens=None))) == 1
        assert 1 < len(batches(asked(index, level=2, batch_tokens=250))) < 10

    def test_all_passages_where_they_are_asked_for(self, index: GraphIndex) -> None:
        result = asked(index, over="passages", level="auto")
        assert sorted(id for branch in batches(result) for id in branch.evidence) == sorted(index.ids())
        assert {citation.id for citation in result.citations} <= set(index.ids())
        some = asked(index, over="passages", level="auto", max_batches=2)
        assert any(
            re.match(r"2 of \d+ batches of all passages are read, a random sample limited by max_batches", said) for said in some.notices
        )

    def test_passages_that_pass_a_filter(self, index: GraphIndex) -> None:
        result = asked(index, over="passages", filter={"source": "vane.md"})
        assert [branch.evidence for branch in batches(result)] == [("vane.md#vane",)]
        with pytest.raises(UsageError, match=r"reports cannot be filtered.* over=passages"):
            asked(index, filter={"source": "vane.md"})

    def test_the_passages_of_a_search_without_a_call_for_each_batch(self, index: GraphIndex) -> None:
        question = "Who founded the Kells Company?"
        result = asked(index, chat := model(), question, over="search", batch_tokens=250)
        [reduced] = chat.asked("reduce")
        assert [name for name, _ in chat.calls] == ["reduce"]
        [batch] = batches(result)
        found = index.search([question], 100, view="flat")[0]
        assert batch.evidence == tuple(passage.id for passage in found[: len(batch.evidence)]), "the best, by rank"
        assert 1 < len(batch.evidence) < len(index)
        texts = [part["text"] for part in reduced["passages"]]
        assert {text.partition(": ")[2] for text in texts} == {VALLEY[text.partition(": ")[0]] for text in texts}
        assert {citation.id for citation in result.citations} <= set(batch.evidence)
        assert (most := max_calls("global", GlobalSettings(over="search", max_batches=1000))) is not None
        assert most.calls == 2
        whole = batches(asked(index, model(), question, over="search", batch_tokens=None))
        assert [set(branch.evidence) for branch in whole] == [set(index.ids())], "as many as the window has room for"

    def test_the_embedded_model_quotes_sentences_of_what_a_search_finds(self, index: GraphIndex) -> None:
        result = asked(index, "extractive", "Who founded the Kells Company?", over="search", batch_tokens=None)
        assert "founded the Kells Company" in result.answer.splitlines()[0]
        assert all(line.partition(": ")[2].partition(" [")[0] in " ".join(VALLEY.values()) for line in result.answer.splitlines())

    def test_a_search_of_a_store_of_another_make(self) -> None:
        result = asked(river(), chat := model(), over="search", batch_tokens=None)
        assert ([name for name, _ in chat.calls], len(batches(result)[0].evidence)) == (["reduce"], 4)

    def test_an_index_without_a_graph_is_refused_with_the_command_that_makes_one(self, tmp_path: Path) -> None:
        plain = Index.from_texts(list(VALLEY.values()), WordEncoder(), path=tmp_path / "plain")
        with pytest.raises(UsageError, match=r"has no reports — .*`ramify index --kind graph --out .*plain`.*over=passages"):
            asked(plain)
        assert asked(plain, over="passages").answer == "Seine"

    def test_a_store_of_another_make_is_searched(self) -> None:
        result = asked(river(), level="auto", batch_tokens=None)
        assert (result.answer, len(batches(result)[0].evidence)) == ("Seine", 4)
        assert [notice for notice in result.notices if "the index has no reports" in notice and "(4 passages)" in notice]
