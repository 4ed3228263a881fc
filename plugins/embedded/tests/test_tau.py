"""tau: the paper's, but for a model that one was calibrated for; and the result says which."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

import ramify.graphs as graphs
from ramify.embedded.extractive import model as extractive
from ramify.embedded.reader.calibration import TAU as CALIBRATED
from ramify.graphs.conditions import above_tau
from ramify.nodes.settings import TAU, PruneSettings
from ramify.nodes.tree import Branch
from ramify.studio.drawing.terminal import print_answer
from tests.fakes import FakeModel
from tests.river import QUESTION, but, river

BETWEEN = (CALIBRATED + TAU) / 2
EXACT = {"rerank": "none"}


def answering(confidence: float) -> FakeModel:
    """Make a model that is as sure of every answer."""
    return but(decide=lambda slots: {"action": "answer", "answer": "Paris", "confidence": confidence, "citations": [1]})


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the embedded model reply as a model of ours does."""

    def stand_in(confidence: float) -> str:
        monkeypatch.setattr(extractive, "reply_to", answering(confidence).replies)
        return "extractive"

    return stand_in


def drawn(result: graphs.Result) -> str:
    file = StringIO()
    print_answer(result, Console(file=file, width=200), tree=True)
    return file.getvalue()


@pytest.mark.parametrize(("confidence", "accepted"), [(TAU - 0.01, False), (TAU + 0.01, True)])
def test_a_language_model_has_the_paper_s(confidence: float, accepted: bool) -> None:
    result = graphs.ask(QUESTION, model=answering(confidence), index=river())
    assert result.to_json()["tau"] == 0.95
    assert (not result.tree["0"].objection) is accepted
    assert ("its confidence is not above tau (0.95)" in drawn(result)) is not accepted


@pytest.mark.parametrize(("confidence", "accepted"), [(CALIBRATED - 0.01, False), (BETWEEN, True)])
def test_the_embedded_model_has_the_calibrated_one(embedded: Any, confidence: float, accepted: bool) -> None:
    result = graphs.ask(QUESTION, model=embedded(confidence), index=river(), **EXACT)
    assert result.to_json()["tau"] == CALIBRATED
    assert (not result.tree["0"].objection) is accepted
    note = f"its confidence is not above tau ({CALIBRATED:g}, calibrated for extractive)"
    assert (note in drawn(result)) is not accepted


def test_the_embedded_model_that_auto_has_found_has_it_too(embedded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    embedded(BETWEEN)
    result = graphs.ask(QUESTION, model="auto", index=river(), **EXACT)
    assert (result.model, result.tau, result.tree["0"].status) == ("extractive", CALIBRATED, "leaf")


def test_one_that_is_set_counts(embedded: Any) -> None:
    result = graphs.ask(QUESTION, model=embedded(BETWEEN), index=river(), tau=0.95, **EXACT)
    assert (result.tau, bool(result.tree["0"].objection)) == (0.95, True)
    assert "not above tau (0.95)" in drawn(result)


@pytest.mark.parametrize("options", [{}, {"joint": False}, {"backtrace": "recursive"}])
def test_a_sibling_s_answer_is_as_sure_for_the_edge_as_for_the_step(embedded: Any, options: dict[str, Any]) -> None:
    result = graphs.ask(QUESTION, model=embedded(BETWEEN), index=river(), **options, **EXACT)
    assert "nothing surer" not in "".join(branch.note for branch in result.tree.values())


def test_each_question_of_a_conversation_has_its_own() -> None:
    talk = graphs.Conversation()
    first = talk.ask(QUESTION, model=answering(0.7), index=river(), tau=0.6)
    second = talk.ask(QUESTION, model=answering(0.7), index=river())
    assert [result.tau for result in (first, second)] == [0.6, 0.95]
    assert [bool(result.tree["0"].objection) for result in (first, second)] == [False, True]


def test_a_strategy_without_such_a_threshold_has_none() -> None:
    assert graphs.ask(QUESTION, "naive", model=answering(0.7), index=river()).to_json()["tau"] is None


def test_before_a_question_is_started_the_paper_s_counts() -> None:
    settings = PruneSettings()
    assert [above_tau.holds({}, Branch(path="0", question="Q", answer="A", confidence=value), settings) for value in (0.95, 0.951)] == [
        False,
        True,
    ]


def test_the_description_of_tau_names_the_calibrated_value() -> None:
    assert f"{CALIBRATED:g}, from its calibration" in str(PruneSettings.model_fields["tau"].description)
