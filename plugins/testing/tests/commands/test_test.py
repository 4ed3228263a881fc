"""ramify test: what it asks again, what it says of a change, its exit codes and its files."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from plugins.testing.tests.conftest import BIRTHS, BORN, HOTEL, PEOPLE, POLICY, Corpus
from ramify.graphs.ratings import Rated
from ramify.testing.expectations import load_expectations
from ramify.testing.running import TestRun
from ramify.testing.stored_results import ResultsFile
from tests.studio.conftest import Ramify

BOTH = f"""
tests:
- question: {HOTEL}
  contains: 90 euros
- question: {BORN}
  answer: Uppsala
  note: two hops
"""


def statuses(outcome: Any) -> list[str]:
    return [test["status"] for test in json.loads(outcome.out)["tests"]]


@pytest.fixture
def passing(corpus: Corpus, run_tests: Callable[..., Any]) -> Callable[..., Any]:
    """Tests that have passed once."""
    corpus.expect(BOTH)
    assert run_tests().code == 0
    return run_tests


def test_what_nothing_touched_is_not_asked_again(corpus: Corpus, passing: Callable[..., Any]) -> None:
    again = passing("--json")
    assert statuses(again) == ["unchanged", "unchanged"]
    assert again.code == 0
    assert statuses(passing("--json", "--all")) == ["passed", "passed"]
    assert statuses(passing("--json", "--set", "k=4")) == ["passed", "passed"], "another setting can have another answer"


def test_a_change_names_the_hop_that_flipped_and_its_sentence(corpus: Corpus, passing: Callable[..., Any]) -> None:
    corpus.write(**{"people.md": PEOPLE.replace("Anna Lindgren", "Jonas Weber")})
    changed = passing("--json")
    assert changed.code == 1
    test = json.loads(changed.out)["tests"][1]
    assert (test["status"], test["answer_before"], test["answer"]) == ("failed", "Uppsala", "Graz")
    assert test["changed_hop"]["before"]["answer"] == "Anna Lindgren"
    assert test["changed_hop"]["after"]["answer"] == "Jonas Weber"
    assert any("people.md" in line and "Anna Lindgren" in line and "Jonas Weber" in line for line in test["details"])
    assert statuses(passing("--json"))[1] == "failed", "it is not forgotten where it is not asked again"
    corpus.write(**{"people.md": PEOPLE})
    assert statuses(passing("--json")) != ["failed", "failed"]
    assert passing().code == 0


def test_a_sentence_that_is_gone_is_said_to_be(corpus: Corpus, passing: Callable[..., Any]) -> None:
    corpus.write(**{"policy.md": "# Insurance\n\nAll are insured.\n"})
    [test, _] = json.loads(passing("--json").out)["tests"]
    assert any("90 euros" in line and line.endswith("→ gone") for line in test["details"]), test["details"]


def test_the_same_answer_from_another_sentence_is_no_failure_and_is_said(corpus: Corpus, passing: Callable[..., Any]) -> None:
    corpus.write(**{"policy.md": POLICY.replace("A hotel room may cost up to", "For a hotel room one may pay as much as")})
    moved = passing()
    assert moved.code == 0
    assert "MOVED" in moved.out
    assert "as much as 90 euros" in moved.out


def test_another_expectation_is_judged_without_asking(corpus: Corpus, passing: Callable[..., Any]) -> None:
    corpus.expect(BOTH.replace("answer: Uppsala", "answer: Graz"))
    judged = passing("--json")
    assert [(test["status"], test["asked"]) for test in json.loads(judged.out)["tests"]] == [("unchanged", 0), ("failed", 0)]
    assert judged.code == 1


def test_a_selection_runs_alone(corpus: Corpus, passing: Callable[..., Any]) -> None:
    assert statuses(passing("--json", "-k", "TWO HOPS")) == ["unchanged"]
    assert passing("-k", "no such question").code == 2
    corpus.write(**{"births.md": BIRTHS.replace("Uppsala", "Lund")})
    assert passing().code == 1
    assert statuses(passing("--json", "--last-failed")) == ["failed"]


def test_reports_have_what_changed(corpus: Corpus, passing: Callable[..., Any], tmp_path: Path) -> None:
    corpus.write(**{"births.md": BIRTHS.replace("Uppsala", "Lund & Co")})
    assert passing("--junit", tmp_path / "junit.xml", "--html", tmp_path / "page.html").code == 1
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert "Lund" in "".join(suite.itertext())
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Lund &amp; Co" in page
    assert "Lund & Co" not in page


def test_repeated_questions_pass_if_enough_answers_hold(corpus: Corpus, run_tests: Callable[..., Any]) -> None:
    corpus.expect(BOTH.replace("tests:", "repeat: 2\ntests:"))
    asked = json.loads(run_tests("--json").out)["tests"]
    assert [test["asked"] for test in asked] == [2, 2]
    assert statuses(run_tests("--json")) == ["unchanged", "unchanged"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--schema"], 0), (["no such file.yaml"], 2), (["a.yaml", "b.yaml"], 2), (["add"], 2), (["add", "Q?", "--from-run", "nowhere"], 2)],
)
def test_wrong_use_is_told_apart_from_failures(arguments: list[str], code: int, ramify: Ramify) -> None:
    assert ramify("test", *arguments).code == code


def test_a_setting_that_does_not_exist_is_wrong_use(corpus: Corpus, run_tests: Callable[..., Any]) -> None:
    corpus.expect(f"tests:\n- question: {HOTEL}\n  answer: a\n  settings: {{kk: 3}}")
    assert run_tests().code == 2


def test_a_model_that_cannot_be_reached_is_an_error_of_the_test(corpus: Corpus, nowhere: str, ramify: Ramify) -> None:
    corpus.expect(BOTH)
    command = ("test", corpus.tests, "--index", corpus.index, "--model", "ollama:llama3.1:8b", "--json")
    failed = ramify(*command)
    assert failed.code == 1
    assert statuses(failed) == ["error", "error"]
    assert len(statuses(ramify(*command, "--last-failed"))) == 2


def test_results_of_another_version_are_refused(corpus: Corpus, passing: Callable[..., Any]) -> None:
    corpus.results.write_text('{"format": "another"}', encoding="utf-8")
    assert passing().code == 2


def test_an_accepted_answer_is_added(
    corpus: Corpus, ramify: Ramify, run_tests: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def add(answer: str) -> Any:
        monkeypatch.setattr("typer.confirm", lambda *_, **__: answer == "y")
        return ramify("test", "add", BORN, "--file", corpus.tests, "--index", corpus.index, "--model", "extractive")

    assert add("n").code == 0
    assert not corpus.tests.exists()
    assert "Uppsala" in add("y").out
    assert "Uppsala" in corpus.tests.read_text(encoding="utf-8")
    assert run_tests().code == 0


def test_what_the_command_line_says_is_added_with_the_answer(corpus: Corpus, ramify: Ramify, run_tests: Callable[..., Any]) -> None:
    how = ["--set", "k=2", "--filter", "source=policy.md", "--strategy", "naive"]
    assert ramify("test", "add", HOTEL, "--yes", "--file", corpus.tests, "--index", corpus.index, "--model", "extractive", *how).code == 0
    [test] = load_expectations(corpus.tests).tests
    assert (test.strategy, test.settings, test.filter) == ("naive", {"k": 2}, {"source": "policy.md"})
    assert run_tests().code == 0


def test_a_test_of_its_own_goes_before_the_command_line_and_that_before_the_file(corpus: Corpus) -> None:
    corpus.expect(f"filter: {{source: births.md}}\ntests:\n- question: {HOTEL}\n  answer: a\n  filter: {{title: A}}")
    read = load_expectations(corpus.tests)
    read = read.model_copy(update={"settings": {"k": 2, "final_k": 3}})
    run = TestRun(read, ResultsFile(corpus.tests), {"k": 4, "filter": {"source": "policy.md"}, "model": "extractive"}, "naive")
    _, _, settings = asyncio.run(run.how(read.tests[0]))
    assert (settings.k, settings.final_k, settings.filter) == (4, 3, {"source": "policy.md", "title": "A"})


def test_answers_rated_up_are_added(corpus: Corpus, ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    rated = [Rated("t", "A?", "a", "up", ()), Rated("t", "B?", "b", "down", ()), Rated("t", "C?", "Unknown", "up", ())]
    monkeypatch.setattr("ramify.testing.adding.rated_answers", lambda where: rated)
    assert ramify("test", "add", "--from-chat", corpus.folder, "--file", corpus.tests).code == 0
    added = load_expectations(corpus.tests).tests
    assert [(test.question, test.answer, test.unknown) for test in added] == [
        ("A?", ["a"], False),
        ("C?", [], True),
    ]


def test_right_answers_of_a_run_are_added(corpus: Corpus, ramify: Ramify, tmp_path: Path) -> None:
    rows = [
        {"question": "A?", "answer": "a", "em": 1.0},
        {"question": "B?", "answer": "b", "em": 0.0},
        {"question": "A?", "answer": "A", "em": 1.0},
    ]
    (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert ramify("test", "add", "--from-run", tmp_path, "--file", corpus.tests).code == 0
    assert corpus.tests.read_text(encoding="utf-8").count("question:") == 1
