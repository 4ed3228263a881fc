"""Which errors make a question count as failed: transient ones, and not malformed replies that a model would repeat."""

from typing import Any

import pytest

from ramify.graphs import ask
from ramify.lab.task import ErrorTracker
from ramify.tools.errors import ModelError, ReplyError
from tests.fakes import FakeModel
from tests.river import QUESTION, replies, river

CUT = OSError("the wire was cut")


def failure_of(strategy: str, failing: str = "", malformed: str = "", error: Exception = CUT, **options: Any) -> str | None:
    """Return why the river question counts as failed where the model breaks at one prompt, or gives no JSON at another."""

    def reply(prompt: str, slots: Any) -> Any:
        if prompt == failing:
            raise error
        return "no JSON at all" if prompt == malformed else replies(prompt, slots)

    tracker = ErrorTracker()
    return tracker.failure(ask(QUESTION, strategy, tracker, model=FakeModel(replies=reply), index=river(), **options))


@pytest.mark.parametrize("prompt", ["decompose", "answer", "judge"])
def test_a_tree_with_a_branch_lost_to_an_error_counts_as_failed(prompt: str) -> None:
    assert failure_of("tor") is None
    assert "the wire was cut" in str(failure_of("tor", failing=prompt))


def test_a_malformed_reply_counts_as_failed_only_without_an_answer() -> None:
    assert failure_of("tor", malformed="judge") is None
    assert "malformed" in str(failure_of("naive", malformed="answer"))
    assert failure_of("prune", malformed="decide") is None  # its last call has answered


def test_the_message_of_an_error_does_not_decide() -> None:
    assert "is malformed" in str(failure_of("tor", failing="judge", error=OSError("the header is malformed")))


@pytest.mark.parametrize("prompt", ["plan", "filter", "compress"])
def test_an_error_of_a_call_on_the_whole_question_counts_as_failed(prompt: str) -> None:
    error = ReplyError("no reply within 9 s", "raise timeout")
    assert failure_of("iterative") is None
    assert "no reply within" in str(failure_of("iterative", failing=prompt, error=error))


def test_a_malformed_reply_to_a_call_on_the_whole_question_is_not_an_error() -> None:
    assert failure_of("iterative", malformed="plan") is None
    assert "malformed" in str(failure_of("iterative", malformed="compress"))  # there is no answer then


def test_a_model_error_counts_as_failed() -> None:
    assert "the key is refused" in str(failure_of("tor", failing="answer", error=ModelError("the key is refused", "set it")))


def test_a_budget_is_no_failure() -> None:
    assert failure_of("tor", max_calls=2) is None
