"""Answers that no gold decides on: judged in pairs, in both orders, each verdict kept; and what is counted without a judge."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.few_lines import make_line, read_table, write_run
from plugins.lab.tests.small_data_set import TOWNS, make_model, make_options, write_data
from ramify.lab.judging import VERDICTS_FILE, AnswerPair, answer_text, judge_pairs, sides_without_text
from ramify.lab.load import load_dataset
from ramify.lab.prompts.prefer import CRITERIA
from ramify.lab.report import compare_runs, compare_runs_page, write_report
from ramify.lab.results.measures import read_run_pair
from ramify.lab.run import execute
from ramify.lab.task import Row
from ramify.tools.errors import UsageError
from tests.fakes import FakeModel

FULL, BRIEF = "Bridges, mills and a railway were built. Ships were built at Drumlow.", "Bridges."
QUESTIONS = 6
NAMED = "hotpotqa: global and naive"


def open_run(folder: Path, strategy: str, answer: str, cited: int) -> Path:
    """Write a run on open questions: no answer to them has a score."""
    unscored = dict.fromkeys(("em", "f1", "containment", "official"))
    citations = [{"id": f"p{place}", "source": f"{place}.md", "text": "", "cited": True} for place in range(cited)]
    said = {"gold": "", "error": None, "answer": answer, "explanation": "", "citations": citations, "tree": [], "abstained": False}
    rows = [make_line(number, strategy, question=f"What was built? {number}", **unscored, **said) for number in range(QUESTIONS)]
    return write_run(folder, *rows)


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    return open_run(tmp_path / "a", "global", FULL, 3), open_run(tmp_path / "b", "naive", BRIEF, 1)


def said(choose: Any) -> FakeModel:
    """Make a judge that chooses between the two texts that it is shown."""

    def reply(prompt: str, slots: Mapping[str, Any]) -> Any:
        assert prompt == "prefer"
        choice = choose(*(passage["text"] for passage in slots["passages"]))
        return choice if isinstance(choice, str) and len(choice) > 3 else {**dict.fromkeys(CRITERIA, choice), "reasons": "So it is."}

    return FakeModel(replies=reply)


def longer(first: str, second: str) -> str:
    return "1" if len(first) > len(second) else "2"


def judged(runs: tuple[Path, Path], chat: FakeModel, repeats: int = 5, **options: Any) -> list[Row]:
    return judge_pairs(read_run_pair(*runs).answers, {"model": chat, **options}, runs[0] / VERDICTS_FILE, repeats)


class TestJudge:
    def test_preferences_are_counted_in_either_order(self, runs: tuple[Path, Path]) -> None:
        rows = read_table(compare_runs(*runs, judged(runs, said(longer))), f"{NAMED}, judged by FakeModel")
        assert [row[0] for row in rows[1:]] == list(CRITERIA)
        assert {tuple(row[1:5]) for row in rows[1:]} == {(str(QUESTIONS), "100 %", "0 %", "0 %")}
        assert {row[5] for row in rows[1:]} == {"100 % (100 to 100)"}, "six questions are too few for a mark after the correction"

    def test_both_orders_come_by_turns(self, runs: tuple[Path, Path]) -> None:
        judged(runs, chat := said(longer), repeats=4)
        first = [slots["passages"][0]["text"].startswith("Bridges, mills") for slots in chat.asked("prefer")]
        assert (first.count(True), first.count(False)) == (2 * QUESTIONS, 2 * QUESTIONS)

    def test_each_side_is_first_about_equally_often(self) -> None:
        first = [AnswerPair({"id": f"q{number}"}, {}, 0, "").first for number in range(400)]
        assert 160 < first.count("A") < 240

    def test_position_bias_is_detected(self, runs: tuple[Path, Path]) -> None:
        report = compare_runs(*runs, judged(runs, said(lambda first, second: "1"), repeats=4))
        assert {row[5] for row in read_table(report, f"{NAMED}, judged by FakeModel")[1:]} == {"50 % (50 to 50)"}
        assert "Of its verdicts for one side, 100 % were for what stood first." in report

    def test_a_tie_is_half_a_win(self, runs: tuple[Path, Path]) -> None:
        row = read_table(compare_runs(*runs, judged(runs, said(lambda first, second: "tie"))), f"{NAMED}, judged by FakeModel")[1]
        assert row[2:6] == ["0 %", "0 %", "100 %", "50 % (50 to 50)"]

    def test_it_is_shown_the_sources(self, runs: tuple[Path, Path]) -> None:
        [(answer, _), *_] = read_run_pair(*runs).answers
        assert answer_text(answer).splitlines() == [FULL, "Sources: 0.md, 1.md, 2.md"]

    def test_it_is_shown_what_a_reader_gets(self, runs: tuple[Path, Path]) -> None:
        """A short answer stands in its sentences, or before them; its sentences have their citations."""
        said_in_full = "Bridges were built there [1]. They still stand [2]."
        assert answer_text({"answer": "Bridges", "text": said_in_full}) == said_in_full
        assert answer_text({"answer": "Yes", "text": said_in_full}) == f"Yes\n{said_in_full}"
        assert answer_text({"answer": "1911", "text": ""}) == "1911"

    def test_a_run_without_sentences_beside_one_that_has_them_is_named(self) -> None:
        full, short = ({"strategy": name, "answer": "x", "text": text} for name, text in (("global", "It is x."), ("naive", "")))
        assert sides_without_text([(full, short)]) == ["naive"]
        assert sides_without_text([(short, short)]) == sides_without_text([(full, full)]) == []

    def test_the_embedded_model_is_none(self, runs: tuple[Path, Path]) -> None:
        with pytest.raises(UsageError, match=r"cannot judge answers — name a language model"):
            judge_pairs(read_run_pair(*runs).answers, {"model": "extractive"}, runs[0] / VERDICTS_FILE)

    def test_long_answers_are_truncated_and_small_windows_reported(self, runs: tuple[Path, Path]) -> None:
        rows = judged(runs, said(longer), repeats=1, passage_tokens=20, context_tokens=50, num_ctx=1000)
        assert all(row["error"] is None for row in rows), "they are cut"
        rows = judged(runs, said(longer), repeats=2, num_ctx=512)[1::2]
        assert all("does not fit" in row["error"] or "do not fit" in row["error"] for row in rows)


class TestKept:
    def test_each_verdict_is_a_line_and_requested_once(self, runs: tuple[Path, Path]) -> None:
        first = judged(runs, said(longer))
        lines = [json.loads(text) for text in (runs[0] / VERDICTS_FILE).read_text().splitlines()]
        assert sorted(row["key"] for row in first) == sorted(row["key"] for row in lines)
        assert {(row["a"], row["b"], row["judge"]) for row in lines} == {("global", "naive", "FakeModel")}
        again = judged(runs, chat := said(lambda first, second: "tie"))
        assert (again, chat.calls) == (first, [])

    def test_more_repeats_ask_for_those_alone(self, runs: tuple[Path, Path]) -> None:
        judged(runs, said(longer), repeats=2)
        judged(runs, chat := said(longer), repeats=5)
        assert len(chat.calls) == 3 * QUESTIONS

    def test_the_same_answers_of_another_strategy_are_not_judged_again_and_counted_for_it(
        self, runs: tuple[Path, Path], tmp_path: Path
    ) -> None:
        judged(runs, said(longer), repeats=1)
        others = runs[0], open_run(tmp_path / "c", "prune", BRIEF, 1)
        rows = judged(others, chat := said(longer), repeats=1)
        assert chat.calls == []
        assert read_table(compare_runs(*others, rows), "hotpotqa: global and prune, judged by FakeModel")[1][1] == str(QUESTIONS)

    def test_an_incomplete_line_of_a_killed_run_is_requested_again(self, runs: tuple[Path, Path]) -> None:
        judged(runs, said(longer), repeats=1)
        file = runs[0] / VERDICTS_FILE
        file.write_bytes(file.read_bytes()[:-20])
        judged(runs, chat := said(longer), repeats=1)
        assert len(chat.calls) == 1

    def test_verdicts_beyond_the_budget_are_reported_as_failed(self, runs: tuple[Path, Path]) -> None:
        report = compare_runs(*runs, judged(runs, said(longer), repeats=1, max_calls=4))
        assert "2 of 6 verdicts failed and are not counted; the same command requests them again" in report
        assert len(judged(runs, chat := said(longer), repeats=1)) == QUESTIONS
        assert len(chat.calls) == 2

    @pytest.mark.parametrize("reply", ["no JSON at all", '{"reasons": "So."}', '{"comprehensiveness": "3", "diversity": "1"}'])
    def test_a_malformed_verdict_is_not_counted(self, runs: tuple[Path, Path], reply: str) -> None:
        rows = judged(runs, said(lambda first, second: reply), repeats=2)
        assert all("malformed" in row["error"] for row in rows)
        assert not (runs[0] / VERDICTS_FILE).read_text()
        assert f"{NAMED}: none of 12 requested verdicts succeeded" in compare_runs(*runs, rows)


class TestOpenQuestions:
    def test_without_a_judge_what_they_rest_on_is_counted_and_called_a_proxy(self, runs: tuple[Path, Path]) -> None:
        report = compare_runs(*runs)
        counted = {row[0]: row[1:4] for row in read_table(report, f"{NAMED}: proxies")[1:]}
        assert counted["documents cited"] == ["6", "3.0", "1.0"]
        assert counted["distinct sentences"] == ["6", "2.0", "1.0"]
        assert "Proxies, counted without a judge" in report
        assert "A less B\n" not in report

    def test_the_page_has_the_same_content(self, runs: tuple[Path, Path]) -> None:
        page = compare_runs_page(*runs, judged(runs, said(longer), repeats=1))
        assert "judged by FakeModel" in page
        assert "comprehensiveness" in page

    def test_a_run_on_them_scores_no_answer_and_fails_none(self, tmp_path: Path, cache: None) -> None:
        asked = [{"id": town, "question": f"What of {town}?", "type": "open"} for town in TOWNS]
        rows = execute(
            make_options(write_data(tmp_path / "data", asked), tmp_path / "run", make_model(lambda question: "Rome" in question))
        )
        assert {row["em"] for row in rows} == {None}
        assert [row["id"] for row in rows if row["error"]] == ["Rome"]
        write_report(tmp_path / "run")
        report = (tmp_path / "run" / "report.md").read_text()
        assert "6 of 6 questions are open: no answer to them is right or wrong." in report
        assert "EM" not in report
        assert "At a glance" not in report

    def test_the_demo_s_are_of_five_users_with_five_tasks_each(self, tmp_path: Path) -> None:
        data = load_dataset("demo:overview", tmp_path)
        asked = Counter((question.metadata["user"], question.metadata["task"]) for question in data.questions)
        assert (len(asked), set(asked.values()), len({user for user, _ in asked})) == (25, {5}, 5)
        assert len({question.question for question in data.questions}) == 125
