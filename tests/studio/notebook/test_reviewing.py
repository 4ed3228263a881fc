"""A person in the loop of the notebook's chat: what is proposed is shown with fields and two buttons."""

from typing import Any

from ramify.studio import Chat
from ramify.studio.notebook._chat import ReviewWidget
from tests.river import FIRST_QUESTION_HINT, QUESTION, model, river
from tests.studio.notebook.test_chat import html, over, until

ROME = "What is the capital of Italy?"


async def asked(**options: Any) -> tuple[Chat, ReviewWidget]:
    """Ask in a chat until it shows what is proposed."""
    door = Chat(strategy="tor", index=river(), model=model(), max_depth=1, ask_first="splits", **options)
    door.box.value = QUESTION
    door.send.click()
    await until(lambda: door.turns[0].reviews.children)
    [review] = door.turns[0].reviews.children
    return door, review


async def test_a_split_is_approved_as_it_stands() -> None:
    door, review = await asked()
    assert QUESTION in html(review)
    assert review.fields["first"].value == FIRST_QUESTION_HINT
    review.accept.click()
    await over(door)
    assert "Seine" in html(door.turns[0])
    assert door.turns[0].reviews.children == ()


async def test_a_split_is_edited_in_its_fields() -> None:
    door, review = await asked()
    review.fields["first"].value = ROME
    review.accept.click()
    await over(door)
    assert door.results[0].tree["0.0"].question == ROME


async def test_a_split_is_rejected() -> None:
    door, review = await asked()
    review.refuse.click()
    review.accept.click()
    await over(door)
    assert list(door.results[0].tree) == ["0"]


async def test_stop_ends_a_question_that_waits_for_a_person() -> None:
    door, review = await asked()
    door.stop.click()
    await over(door)
    assert "Stopped after" in html(door.turns[0])
    assert (door.running, door.turns[0].reviews.children) == (None, ())
    review.accept.click()


async def test_what_is_proposed_is_escaped() -> None:
    review = ReviewWidget({"name": "split_question", "args": {}, "description": "Split `<img src=x>`?\nNow."})
    assert "&lt;img src=x&gt;" in html(review)
    assert "<img" not in html(review)
