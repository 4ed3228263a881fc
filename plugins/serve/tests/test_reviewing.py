"""A person in the loop: what a question proposes is told, waits, and goes on as the person who asked decides."""

from collections.abc import Iterator
from typing import Any

import pytest

from plugins.serve.tests.conftest import BORN, Running, Serve, wait_until
from ramify.tools.errors import UsageError

SPLITS: dict[str, Any] = {"thread": "pens", "strategy": "tor", "settings": {"ask_first": "splits"}}
SOLARIS = "In which year was the director of Solaris born?"
SAXOPHONE = "Who is the inventor of the saxophone?"
APPROVE: dict[str, Any] = {"decisions": [{"type": "approve"}]}
ADA, BEN = "ada-has-a-secret", "ben-has-another"


def edit(**args: str) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": "split_question", "args": args}}


def proposed(events: Iterator[tuple[str, Any]]) -> dict[str, Any]:
    """Return what is proposed next."""
    return next(data for name, data in events if name == "review")


def decide(server: Running, *decisions: Any, thread: str = "pens", token: str = "", **given: Any) -> int:
    return server.call("POST", f"/threads/{thread}/decisions", token, json={"decisions": list(decisions), **given}).status_code


def test_a_split_waits_until_it_is_approved(serve: Serve) -> None:
    server = serve()
    with server.stream(BORN, **SPLITS) as events:
        request = proposed(events)
        [action], [config] = request["action_requests"], request["review_configs"]
        assert (action["name"], list(action["args"])) == ("split_question", ["first", "second"])
        assert BORN in action["description"]
        assert config == {"action_name": "split_question", "allowed_decisions": ["approve", "edit", "reject"]}
        assert server.call("POST", "/threads/pens/decisions", json={**APPROVE, "id": request["id"]}).json() == {"decided": "pens"}
        result = dict(events)["result"]
    assert (result["answer"], len(result["tree"])) == ("Budapest", 3)
    assert server.call("GET", "/threads/pens").json()["turns"][0]["result"]["answer"] == "Budapest"


def test_an_edited_split_is_asked(serve: Serve) -> None:
    server = serve()
    with server.stream(BORN, **SPLITS) as events:
        proposed(events)
        assert decide(server, edit(first=SAXOPHONE)) == 200
        result = dict(events)["result"]
    assert {branch["path"]: branch["question"] for branch in result["tree"]}["0.0"] == SAXOPHONE


def test_a_rejected_split_is_not_made(serve: Serve) -> None:
    server = serve()
    with server.stream(BORN, **SPLITS) as events:
        proposed(events)
        assert decide(server, {"type": "reject", "message": "it is one fact"}) == 200
        [root] = dict(events)["result"]["tree"]
    assert "rejected by a person: it is one fact" in root["note"]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ([{"type": "approve"}, {"type": "approve"}], "2 decisions were given for 1 actions"),
        ([{"type": "perhaps"}], "list of decisions"),
        ([edit(third="Who?")], "split_question has no argument 'third'"),
    ],
)
def test_decisions_that_do_not_fit_are_asked_for_again(serve: Serve, wrong: list[Any], expected: str) -> None:
    server = serve()
    with server.stream(BORN, **SPLITS) as events:
        first = proposed(events)
        assert decide(server, *wrong) == 200
        again = proposed(events)
        assert expected in again["action_requests"][0]["description"]
        assert decide(server, {"type": "approve"}, id=first["id"]) == 404, "it was decided on the one before"
        assert decide(server, {"type": "approve"}, id=again["id"]) == 200
        assert dict(events)["result"]["answer"] == "Budapest"


def test_only_who_asked_decides_and_only_on_what_waits(serve: Serve) -> None:
    server = serve(tokens=[f"ada:{ADA}", f"ben:{BEN}"])
    assert decide(server, {"type": "approve"}, token=ADA) == 404
    with server.stream(BORN, ADA, **SPLITS) as events:
        proposed(events)
        assert decide(server, {"type": "approve"}, token=BEN) == 404
        assert decide(server, {"type": "approve"}, token=ADA, thread="other") == 404
        assert decide(server, {"type": "approve"}) == 401
        assert decide(server, token=ADA) == 400
        assert decide(server, {"type": "approve"}, token=ADA) == 200
        assert dict(events)["result"]["answer"] == "Budapest"
    assert decide(server, {"type": "approve"}, token=ADA) == 404


def test_a_client_that_disconnects_ends_the_wait_and_the_conversation_continues(serve: Serve) -> None:
    server = serve()
    with server.stream(BORN, **SPLITS) as events:
        proposed(events)
    wait_until(lambda: server.service.questions.count == 0)
    assert decide(server, {"type": "approve"}) == 404
    assert server.ask(BORN, thread="pens", strategy="tor")[-1][1]["answer"] == "Budapest"


def test_a_question_that_waits_for_a_person_is_stopped(serve: Serve) -> None:
    server = serve()
    with server.stream(BORN, **SPLITS) as events:
        identity = next(events)[1]["id"]
        proposed(events)
        assert server.call("POST", "/stop", json={"id": identity}).json() == {"stopped": True}
        name, data = list(events)[-1]
    assert (name, data["kind"]) == ("error", "stopped")


def test_questions_that_wait_for_a_person_release_their_slots(serve: Serve) -> None:
    server = serve(at_once=1)
    with server.stream(BORN, **SPLITS) as events:
        proposed(events)
        assert server.ask(BORN)[-1][1]["answer"] == "Budapest"
        assert decide(server, {"type": "approve"}) == 200
        assert dict(events)["result"]["answer"] == "Budapest"


def test_what_was_edited_asks_too(serve: Serve) -> None:
    server = serve()
    with server.stream(BORN, **SPLITS) as events:
        proposed(events)
        assert decide(server, {"type": "approve"}) == 200
        assert list(events)[-1][0] == "result"
    with server.sent("/threads/pens/edit", {"branch": "0.0", "question": SOLARIS}) as events:
        assert SOLARIS in proposed(events)["action_requests"][0]["description"]


def test_ask_first_without_a_reviewer_is_rejected(serve: Serve) -> None:
    refused = serve().call("POST", "/ask", json={"question": BORN, "settings": {"ask_first": "splits"}})
    assert "no reviewer here" in refused.json()["error"]["message"]
    assert "a conversation (`thread`)" in refused.json()["error"]["message"]
    with pytest.raises(UsageError, match="no reviewer here"):  # its other interfaces take the settings of the command line
        serve(ask_first="splits")


def test_a_form_can_offer_it(serve: Serve) -> None:
    listed = {strategy["name"]: strategy for strategy in serve().call("GET", "/strategies").json()["strategies"]}
    [setting] = [entry for entry in listed["prune"]["settings"] if entry["name"] == "ask_first"]
    assert setting["schema"]["enum"] == ["splits", "unsure", "never"]
    assert "ask_first" not in {entry["name"] for entry in listed["naive"]["settings"]}
