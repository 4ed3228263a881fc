"""Global search: reports in batches, each answered and weighed, the useless dropped, the rest made one answer that cites documents."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import ramify.graphs as graphs
from plugins.kinds.tests.knowledge.valley import VALLEY
from ramify.graphs import Result
from ramify.kinds.knowledge.index import GraphIndex
from ramify.tools.index import Index
from tests.fakes import FakeModel
from tests.river import but, model
from tests.tools.fakes import WordEncoder

THEMES = "What are the main themes?"


REPORTS = {0: 4, 1: 8, 2: 10}
"""Reports of each level of the valley; a batch of the least tokens holds one."""


ONE_EACH = {"batch_tokens": 100}


def partial(score: Any, point: str = "The valley has bridges.", reports: str = "1") -> Mapping[str, Any]:
    return {"points": [f"{score} | {reports} | {point}"]}


def by_name(**replies: Any) -> FakeModel:
    """Make a model that says of a batch what is told of a name in it, else that it does not help."""

    def mapped(slots: Mapping[str, Any]) -> Any:
        text = " ".join(report["title"] + report["text"] for report in slots["passages"])
        return next((reply for name, reply in replies.items() if name in text), {"points": []})

    return but(map_report=mapped)


def asked(index: Any, chat: FakeModel | str | None = None, question: str = THEMES, **options: Any) -> Result:
    return graphs.ask(question, "global", model=chat or model(), index=index, **{"level": 0, **ONE_EACH, **options})


def batches(result: Result) -> list[Any]:
    return [branch for branch in result.tree.values() if branch.kind == "batch"]


class TestTree:
    def test_is_a_split_root_with_a_batch_a_child(self, index: GraphIndex) -> None:
        result = asked(index)
        assert result.tree["0"].status == "split"
        assert list(result.tree) == ["0", "0.0", "0.1", "0.2", "0.3"]
        assert {branch.question for branch in batches(result)} == {THEMES}
        assert sorted(id for branch in batches(result) for id in branch.evidence) == [f"community {number}" for number in range(4)]

    def test_a_score_is_the_helpfulness(self, index: GraphIndex) -> None:
        result = asked(index, by_name(Kells=partial(80), Oskel=partial(25)))
        scores = {branch.evidence[0]: (branch.status, branch.score) for branch in batches(result)}
        assert scores["community 2"] == ("leaf", 0.8)
        assert {score for _, score in scores.values()} == {0.8, 0.25, 0.0}

    def test_of_score_0_is_pruned_with_a_note_and_not_reduced(self, index: GraphIndex) -> None:
        result = asked(index, chat := by_name(Kells=partial(80, "There were mines.")))
        pruned = [branch for branch in batches(result) if branch.status == "pruned"]
        assert len(pruned) == 3
        assert {(branch.score, branch.note) for branch in pruned} == {(0.0, "score 0: nothing in it helps")}
        [reduced] = chat.asked("reduce")
        assert [part["text"] for part in reduced["passages"]] == ["There were mines."]

    @pytest.mark.parametrize("reply", [{"points": []}, {"points": ["0 | 1 | There were mines."]}, {"points": [""]}, {"points": None}])
    def test_one_without_a_point_that_helps_is_pruned(self, index: GraphIndex, reply: Any) -> None:
        result = asked(index, but(map_report=reply))
        assert {(branch.status, branch.score) for branch in batches(result)} == {("pruned", 0.0)}

    def test_a_point_that_cannot_be_read_is_counted_beside_those_that_can(self, index: GraphIndex) -> None:
        result = asked(index, by_name(Kells={"points": ["There were mines.", "80% | report 1 | Mines were dug | and closed."]}))
        [batch] = [branch for branch in batches(result) if branch.status == "leaf"]
        assert (batch.answer, batch.score, batch.note) == ("Mines were dug | and closed.", 0.8, "1 of 2 points could not be read")

    @pytest.mark.parametrize(
        "reply",
        ["no JSON", {}, {"points": ["There were mines."]}, {"points": [{"score": 80}]}, {"points": ["much | 1 | There were mines."]}],
    )
    def test_a_malformed_one_fails_and_is_never_0_and_the_others_go_on(self, index: GraphIndex, reply: Any) -> None:
        result = asked(index, by_name(Kells=reply, Oskel=partial(60), Lisk=partial(40)))
        [failed] = [branch for branch in batches(result) if branch.status == "failed"]
        assert (failed.score, failed.answer) == (None, None)
        assert "'map_report' is malformed" in failed.note
        assert (result.answer, result.stopped_by) == ("Seine", "finished")

    def test_the_same_is_asked_and_found_twice(self, index: GraphIndex) -> None:
        chats = [by_name(Kells=partial(80), Oskel=partial(25)) for _ in range(2)]
        one, other = (asked(index, chat) for chat in chats)
        assert (one.tree, one.answer, one.citations) == (other.tree, other.answer, other.citations)
        assert [branch.evidence for branch in batches(asked(index, seed=5))] != [branch.evidence for branch in batches(one)]


class TestReduce:
    def test_is_given_the_points_of_all_batches_by_their_score_and_none_of_score_0(self, index: GraphIndex) -> None:
        mines = {"points": ["30 | 1 | mines", "0 | 1 | moss", "70 | 1 | ore"]}
        asked(index, chat := by_name(Kells=mines, Drumlow=partial(90, "ships"), Lisk=partial(55, "songs")))
        [reduced] = chat.asked("reduce")
        assert [part["title"] for part in reduced["passages"]] == [f"helpfulness {score}" for score in (90, 70, 55, 30)]
        assert [part["text"] for part in reduced["passages"]] == ["ships", "ore", "songs", "mines"]
        assert not any("moss" in str(slots) for slots in chat.asked("reduce"))

    def test_nothing_that_helps_is_unknown(self, index: GraphIndex) -> None:
        result = asked(index, chat := by_name())
        assert (result.answer, result.citations, chat.asked("reduce")) == ("Unknown", [], [])
        assert result.explanation == "nothing that was read helps to answer the question"

    def test_unknown_is_unknown(self, index: GraphIndex) -> None:
        assert asked(index, but(reduce={"answer": "Unknown", "points": [], "confidence": 0.9, "citations": []})).answer == "Unknown"

    def test_its_sentences_cite_the_passages_that_their_points_rest_on(self, index: GraphIndex) -> None:
        result = asked(index, but(reduce={"answer": "Two things [1]. Nobody knows the third [7].", "confidence": 0.9, "citations": [1]}))
        first, second = result.sentences
        assert (first.text, second.citations) == ("Two things.", ())
        assert set(first.citations) <= set(range(1, len(result.citations) + 1))
        assert first.citations
        assert result.answer == result.text

    def test_where_it_fails_the_most_helpful_points_are_the_answer(self, index: GraphIndex) -> None:
        def mapped(slots: Mapping[str, Any]) -> Any:
            return partial(80, "mines") if "Kells" in str(slots["passages"]) else partial(20)

        result = asked(index, but(map_report=mapped, reduce="?"))
        assert result.answer.splitlines() == ["mines", *["The valley has bridges."] * 3]
        assert any("the most helpful points are the answer" in notice for notice in result.notices)

    def test_citations_are_passages_with_what_they_say_and_no_reports(self, index: GraphIndex) -> None:
        result = asked(index)
        assert result.citations
        for citation in result.citations:
            assert citation.id in index.ids()
            assert citation.quote in citation.text
            assert citation.quote in " ".join(VALLEY.values())
            assert citation.source.endswith(".md")
        assert len({citation.id for citation in result.citations}) == len(result.citations)

    @pytest.mark.parametrize("over", ["reports", "passages"])
    def test_each_quoted_line_has_the_number_of_its_passage_and_each_citation_a_line(self, index: GraphIndex, over: str) -> None:
        result = asked(index, "extractive", level=2, over=over, batch_tokens=None)
        marks = [{int(number) for number in re.findall(r"\[(\d+)\]", line)} for line in result.answer.splitlines()]
        assert len(marks) > 3
        assert all(marks)
        assert set.union(*marks) == set(range(1, len(result.citations) + 1))
        under = {"reports": "the names of its community", "passages": "the title of its document"}[over]
        assert any(f"quoted from the documents, each under {under}" in notice for notice in result.notices)

    @pytest.mark.parametrize("used", [1, 2])
    def test_an_answer_cites_only_what_the_points_it_uses_rest_on(self, index: GraphIndex, used: int) -> None:
        def mapped(slots: Mapping[str, Any]) -> Any:
            at = {name: n for n, report in enumerate(slots["passages"], 1) for name in ("Kells", "Drumlow") if name in report["title"]}
            return {"points": [f"80 | {at['Kells']} | There were mines.", f"60 | {at['Drumlow']} | There were ships."]}

        reduced = {"answer": "There were some.", "points": [], "confidence": 0.9, "citations": [used]}
        result = asked(index, but(map_report=mapped, reduce=reduced), batch_tokens=None)
        [batch] = batches(result)
        assert len(batch.evidence) == 4, "all reports are in one batch"
        [number] = batch.points[used - 1].cited
        [report] = index.reports.by_ids([number.removeprefix("community ")])
        assert {citation.id for citation in result.citations} <= set(report.passages)
        assert result.citations
        assert all(citation.cited for citation in result.citations)

    def test_what_a_point_without_reports_rests_on_was_only_shown(self, index: GraphIndex) -> None:
        result = asked(index, by_name(Kells=partial(80, reports="none")))
        assert result.citations
        assert not any(citation.cited for citation in result.citations)
        assert {citation.source for citation in result.citations} <= {"mount-brannoch.md", "ivor-kells.md"}


def bounds(chat: FakeModel, field: str) -> dict[str, Any]:
    """Return the schema of a field in a reply that was asked for."""
    [found] = [fields[field] for schema in chat.schemas if field in (fields := schema.model_json_schema()["properties"])]
    return dict(found)


class TestRoom:
    @pytest.mark.parametrize(("num_predict", "points", "chars"), [(1024, 14, 2688), (4096, 59, 11_904), (300, 5, 1000)])
    def test_points_and_answer_are_as_long_as_the_reply_may_be(self, index: GraphIndex, num_predict: int, points: int, chars: int) -> None:
        asked(index, chat := model(), num_predict=num_predict, num_ctx=32_768)
        assert bounds(chat, "points")["maxItems"] == points
        assert bounds(chat, "answer")["maxLength"] == chars

    def test_more_than_five_points_and_a_thousand_characters_reach_the_answer(self, index: GraphIndex) -> None:
        said = [f"{score} | 1 | Mine {score} was dug." for score in range(60, 72)]
        answer = " ".join(f"Mine {score} was dug and, after many years, closed for ever and flooded [1]." for score in range(30))
        result = asked(index, chat := but(map_report={"points": said}, reduce={"answer": answer}), level=2, batch_tokens=None)
        [reduced] = chat.asked("reduce")
        assert len(reduced["passages"]) == len(said)
        assert len(result.sentences) == 30
        assert "Mine 29 was dug" in result.answer

    def test_a_larger_window_has_larger_batches_that_are_read_whole(self, tmp_path: Path) -> None:
        long = " ".join(f"The {number}th ship sailed from Vane." for number in range(90))
        ships = Index.from_texts([f"{long} Ship {number}." for number in range(20)], WordEncoder(), path=tmp_path / "ships")
        calls = {}
        for num_ctx in (8192, 32_768):
            result = asked(ships, chat := model(), over="passages", level="auto", batch_tokens=None, num_ctx=num_ctx)
            calls[num_ctx] = len(batches(result))
            assert sum(len(slots["passages"]) for slots in chat.asked("map_report")) == len(ships)
            assert not any("did not fit" in branch.note for branch in batches(result))
        assert calls[32_768] == 1 < calls[8192]


class TestBudgets:
    @pytest.mark.parametrize("calls", [1, 2, 3, 5, 9])
    def test_of_calls_hold_and_the_last_is_reserved(self, index: GraphIndex, calls: int) -> None:
        result = asked(index, chat := model(), max_calls=calls)
        assert result.usage.llm_calls == len(chat.calls) == min(calls, 5 if calls > 1 else 0)
        assert (result.stopped_by == "calls") == (calls < 5)
        assert len(chat.asked("reduce")) == (calls > 1)
        assert result.answer == ("Seine" if calls > 1 else "Unknown")
