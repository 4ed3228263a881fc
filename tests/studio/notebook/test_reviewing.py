"""A person in the loop of the notebook's chat: what is proposed is shown with fields and two buttons."""

from typing import Any

from ramify.studio import Chat
from ramify.studio.notebook._chat import ReviewWidget
from tests.river import FIRST, QUESTION, model, river
from tests.studio.notebook.test_chat import html, wait_idle, wait_until

ROME = "What is the capital of Italy?"


async def start_review(**options: Any) -> tuple[Chat, ReviewWidget]:
    """Ask in a chat until it shows what is proposed."""
    widget = Chat(strategy="tor", index=river(), model=model(), max_depth=1, ask_first="splits", **options)
    widget.box.value = QUESTION
    widget.send.click()
    await wait_until(lambda: widget.turns[0].reviews.children)
    [review] = widget.turns[0].reviews.children
    return widget, review


async def test_a_split_is_approved_unchanged() -> None:
    widget, review = await start_review()
    assert QUESTION in html(review)
    assert review.fields["first"].value == FIRST
    review.accept.click()
    await wait_idle(widget)
    assert "Seine" in html(widget.turns[0])
    assert widget.turns[0].reviews.children == ()


async def test_a_split_is_edited_in_its_fields() -> None:
    widget, review = await start_review()
    review.fields["first"].value = ROME
    review.accept.click()
    await wait_idle(widget)
    assert widget.results[0].tree["0.0"].question == ROME


async def test_a_split_is_rejected() -> None:
    widget, review = await start_review()
    review.reject.click()
    review.accept.click()
    await wait_idle(widget)
    assert list(widget.results[0].tree) == ["0"]


async def test_stop_ends_a_question_that_waits_for_a_person() -> None:
    widget, review = await start_review()
    widget.stop.click()
    await wait_idle(widget)
    assert "Stopped after" in html(widget.turns[0])
    assert (widget.running, widget.turns[0].reviews.children) == (None, ())
    review.accept.click()


async def test_what_is_proposed_is_escaped() -> None:
    review = ReviewWidget({"name": "split_question", "args": {}, "description": "Split `<img src=x>`?\nNow."})
    assert "&lt;img src=x&gt;" in html(review)
    assert "<img" not in html(review)
