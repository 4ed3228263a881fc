"""A branch of a conversation's last answer is edited or dropped, and the question runs on from there."""

from typing import Any

from plugins.serve.tests.conftest import BORN, Running, Serve, read_events

SAXOPHONE = "Who is the inventor of the saxophone?"


def edit(server: Running, thread: str, token: str = "", **body: Any) -> list[tuple[str, Any]]:
    reply = server.call("POST", f"/threads/{thread}/edit", token=token, json=body)
    assert reply.status_code == 200, reply.text
    return list(read_events(iter(reply.text.splitlines())))


def begun(server: Running, **given: Any) -> tuple[str, dict[str, Any]]:
    """Ask in a new conversation; return its name, and the result."""
    events = server.ask(BORN, thread="new", **given)
    return events[0][1]["thread"], events[-1][1]


def test_an_edited_branch_changes_what_hangs_on_it_and_the_conversation(serve: Serve) -> None:
    server = serve()
    thread, before = begun(server)
    assert before["answer"] == "Budapest"
    events = edit(server, thread, branch="0.0", question=SAXOPHONE)
    assert events[0] == ("accepted", {"id": events[0][1]["id"], "thread": thread})
    assert ("remarks", "") in [(name, data.get("understood")) for name, data in events]
    result = dict(events)["result"]
    tree = {branch["path"]: branch for branch in result["tree"]}
    assert (tree["0.0"]["question"], tree["0.0"]["answer"]) == (SAXOPHONE, "Adolphe Sax")
    assert "Adolphe Sax" in tree["0.1"]["question"]
    assert result["answer"] == "Dinant"
    [turn] = server.call("GET", f"/threads/{thread}").json()["turns"]
    assert (turn["asked"], turn["result"]["answer"]) == (BORN, "Dinant")


def test_a_dropped_branch_is_pruned(serve: Serve) -> None:
    server = serve()
    thread, _ = begun(server)
    result = dict(edit(server, thread, branch="0.0"))["result"]
    tree = {branch["path"]: branch for branch in result["tree"]}
    assert (tree["0.0"]["status"], tree["0.0"]["note"]) == ("pruned", "dropped by the user")
    assert result["answer"] != "Budapest"


def test_what_cannot_be_edited_is_refused(serve: Serve) -> None:
    server = serve(tokens=["ada:ada-has-a-secret", "ben:ben-has-another"])
    ada, ben = "ada-has-a-secret", "ben-has-another"
    thread, before = begun(server, token=ada)
    body = {"branch": "0.0", "question": SAXOPHONE}
    assert server.call("POST", f"/threads/{thread}/edit", token=ben, json=body).status_code == 404
    assert server.call("POST", "/threads/other/edit", token=ada, json=body).status_code == 404
    for wrong in ({"question": " "}, {"settings": {"index": "/etc"}}, {"collection": "other"}, {"strategy": "tor"}):
        assert server.call("POST", f"/threads/{thread}/edit", token=ada, json={**body, **wrong}).status_code == 400
    kind, error = edit(server, thread, ada, branch="0.9")[-1]
    assert (kind, error["kind"]) == ("error", "usage")
    [turn] = server.call("GET", f"/threads/{thread}", token=ada).json()["turns"]
    assert turn["result"]["answer"] == before["answer"]
