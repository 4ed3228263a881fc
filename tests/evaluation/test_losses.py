"""What counts as lost: a mishap on the way to an answer, and nothing that would come out the same again."""

from typing import Any

import pytest

from ramify.evaluation.task import ErrorTracker
from ramify.graphs import ask
from ramify.tools.errors import ModelError, ReplyError
from tests.fakes import FakeModel
from tests.river import QUESTION, replies, river

CUT = OSError("the wire was cut")


def lost(strategy: str, mute: str = "", babble: str = "", error: Exception = CUT, **options: Any) -> str | None:
    """Tell why the river question counts as failed where the model breaks at one prompt, or gives no JSON at another."""

    def reply(prompt: str, slots: Any) -> Any:
        if prompt == mute:
            raise error
        return "no JSON at all" if prompt == babble else replies(prompt, slots)

    losses = ErrorTracker()
    return losses.failure(ask(QUESTION, strategy, losses, model=FakeModel(replies=reply), index=river(), **options))


@pytest.mark.parametrize("prompt", ["decompose", "answer", "judge"])
def test_a_tree_with_a_branch_lost_to_an_error_counts_as_failed(prompt: str) -> None:
    assert lost("tor") is None
    assert "the wire was cut" in str(lost("tor", mute=prompt))


def test_a_malformed_reply_counts_as_failed_only_without_an_answer() -> None:
    assert lost("tor", babble="judge") is None
    assert "malformed" in str(lost("naive", babble="answer"))
    assert lost("prune", babble="decide") is None  # its last call has answered


def test_the_message_of_an_error_does_not_decide() -> None:
    assert "is malformed" in str(lost("tor", mute="judge", error=OSError("the header is malformed")))


@pytest.mark.parametrize("prompt", ["plan", "filter", "compress"])
def test_an_error_of_a_call_on_the_whole_question_counts_as_failed(prompt: str) -> None:
    late = ReplyError("no reply within 9 s", "raise timeout")
    assert lost("iterative") is None
    assert "no reply within" in str(lost("iterative", mute=prompt, error=late))


def test_a_malformed_reply_to_a_call_on_the_whole_question_is_not_an_error() -> None:
    assert lost("iterative", babble="plan") is None
    assert "malformed" in str(lost("iterative", babble="compress"))  # there is no answer then


def test_a_model_error_counts_as_failed() -> None:
    assert "the key is refused" in str(lost("tor", mute="answer", error=ModelError("the key is refused", "set it")))


def test_a_budget_is_no_failure() -> None:
    assert lost("tor", max_calls=2) is None
