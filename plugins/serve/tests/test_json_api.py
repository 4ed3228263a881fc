"""Our own interface: what there is, questions as events, and what is refused."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from plugins.serve.tests.conftest import BORN, INVENTOR, Serve, running
from ramify.graphs import ask
from ramify.graphs.strategies import STRATEGIES
from tests.faults import fault
from tests.tools.ollama_server import Fail, Ollama


def test_a_question_is_answered_with_events_of_its_tree(serve: Serve) -> None:
    events = serve().ask(BORN)
    names = [name for name, _ in events]
    assert (names[0], names[-1]) == ("accepted", "result")
    assert set(names[1:-2]) == {"tree"}
    assert names[-2] == "remarks"
    branches: dict[str, Any] = {}
    for name, data in events:
        if name == "tree":
            branches |= {branch["path"]: branch for branch in data["branches"]}
    wanted, result = ask(BORN, model="extractive").to_json(), events[-1][1]
    assert {"searching", "deciding"} <= {doing for name, data in events if name == "tree" for doing in data["doing"].values()}
    for known in (wanted, result):
        known.pop("usage")
    for citation in wanted["citations"]:  # clients see no folders of the server
        citation.update(path="", link="")
    assert result == wanted
    assert {path: branch["answer"] for path, branch in branches.items()} == {row["path"]: row["answer"] for row in wanted["tree"]}


def test_a_text_is_streamed_while_it_is_written(serve: Serve, ollama: Ollama) -> None:
    events = serve(model="ollama:llama3.1:8b").ask(INVENTOR, strategy="naive")
    text = "".join(data["delta"] for name, data in events if name == "text")
    result = events[-1][1]
    assert text
    assert text == result["sentences"][0]["text"]


def test_what_there_is_is_listed(serve: Serve, built: Path) -> None:
    server = serve(built, "demo", tau=0.5)
    about = server.call("GET", "/about").json()
    assert about["default"] == {"collection": "index", "strategy": "prune", "model": "extractive"}
    first, second = server.call("GET", "/collections").json()["collections"]
    assert (first["name"], first["path"], first["kind"], first["documents"]) == ("index", "index", "passages", 2)
    assert (second["name"], second["documents"]) == ("demo", 64)
    listed = {strategy["name"]: strategy for strategy in server.call("GET", "/strategies").json()["strategies"]}
    assert listed.keys() == STRATEGIES.keys()
    settings = {setting["name"]: setting for setting in listed["prune"]["settings"]}
    assert settings["tau"]["default"] == 0.5
    assert settings["max_depth"]["schema"] == {"type": "integer", "minimum": 0, "maximum": 10}
    assert settings["backtrace"]["schema"]["enum"] == ["single", "recursive"]
    assert all(setting["description"] for setting in settings.values())
    assert not {"index", "model", "base_url", "adapter"} & settings.keys()


def test_the_collection_that_is_named_is_searched_and_else_the_first(serve: Serve, built: Path) -> None:
    server = serve(built, "demo")
    assert server.ask("Where was Marie Curie born?", strategy="naive")[-1][1]["citations"][0]["source"] == "curie.txt"
    assert server.ask(INVENTOR, strategy="naive", collection="demo")[-1][1]["index"].startswith("demo: ")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"question": " "}, "the question is empty"),
    ({"question": "Who?", "collection": "other"}, "there is no collection 'other'"),
    ({"question": "Who?", "strategy": "other"}, "there is no strategy 'other'"),
    ({"question": "Who?", "model": "openai:gpt"}, "there is no model 'openai:gpt'"),
    ({"question": "Who?", "settings": {"kk": 1}}, "prune has no setting 'kk'"),
    ({"question": "Who?", "settings": {"k": 0}}, "k=0 is not valid"),
    ({"question": "Who?", "settings": {"index": "/etc"}}, "index='/etc' cannot be set by a request"),
    ({"question": "Who?", "settings": {"model.name": "other"}}, "model.name='other' cannot be set by a request"),
    ({"question": "Who?", "settings": {"model": "openai:gpt"}}, "model='openai:gpt' cannot be set by a request"),
    ({"question": "Who?", "settings": {"base_url": "http://a.example"}}, "base_url='http://a.example' cannot be set by a request"),
    ({"question": "Who?", "settings": {"adapter": "/etc"}}, "adapter='/etc' cannot be set by a request"),
    ({"question": "Who?", "settings": {"rerank": "/etc"}}, "rerank='/etc' is not allowed"),
    ({"question": "Who?", "settings": {"rerank": "http://a.example/rerank"}}, "rerank='http://a.example/rerank' is not allowed"),
    ({"question": "Who?", "settings": {"check": "/etc"}}, "check='/etc' is not allowed"),
    (
        {"question": "Who?", "settings": {"check": "http://a.example/rerank"}},
        "check='http://a.example/rerank' is the address of a reranker",
    ),
    ({"question": "Who?", "settings": {"ask_first": "splits"}}, "ask_first=splits"),
    ({"question": "Who?", "thread": "../other"}, "'../other' is not a valid conversation name"),
    ({"question": "Who?", "more": 1}, "more=1 is not valid"),
    ({}, "question={} is not valid"),
]


@pytest.mark.parametrize(("body", "expected"), REFUSED)
@fault(
    "servers",
    "body that is not a question, at `ramify serve`",
    sees="one line with its remedy",
    kept="the server continues",
    code="400",
)
def test_an_invalid_request_is_rejected_in_one_line_with_a_remedy(serve: Serve, body: dict[str, Any], expected: str) -> None:
    refused = serve().call("POST", "/ask", json=body)
    assert refused.status_code == 400
    assert refused.json()["error"]["kind"] == "usage"
    message = refused.json()["error"]["message"]
    assert expected in message
    assert " — " in message
    assert "\n" not in message


@fault(
    "servers",
    "model that is unavailable, at `ramify serve`",
    sees="the stream ends with one error",
    kept="the conversation, without that turn",
    code=0,
)
def test_a_model_that_cannot_be_asked_ends_the_stream_with_its_error(serve: Serve, ollama: Ollama) -> None:
    ollama.when("", Fail(500, "out of memory"))
    events = dict(serve(model="ollama:llama3.1:8b").ask(INVENTOR, strategy="closed-book"))
    assert events["result"]["answer"] == "Unknown"
    assert events["error"]["kind"] == "model"
    assert "out of memory" in events["error"]["message"]


@fault(
    "servers",
    "page of another origin or name, at `ramify serve`",
    sees="refused, with the option that allows it",
    kept="nothing runs",
    code="403, 415",
)
def test_pages_of_others_and_other_names_are_refused(serve: Serve) -> None:
    server = serve()
    for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}, {"Origin": "https://smith.langchain.com"}):
        refused = httpx.get(f"{server.url}/ramify/v1/about", headers=headers, trust_env=False)
        assert refused.status_code == 403
        assert "`ramify serve --allow-origin" in refused.json()["detail"]
    form = {"Content-Type": "text/plain"}
    assert httpx.post(f"{server.url}/ramify/v1/ask", content="{}", headers=form, trust_env=False).status_code == 415
    untyped = httpx.Request("POST", f"{server.url}/ramify/v1/ask", content=b"{}", headers={"Sec-Fetch-Site": "same-origin"})
    with httpx.Client(trust_env=False) as client:
        assert client.send(untyped).status_code == 415


def test_pages_of_allowed_origins_can_read_responses(serve: Serve) -> None:
    friend = "https://friend.example"
    asking = {"Origin": friend, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    with running(serve().service, [friend]) as server:
        path = f"{server.url}/ramify/v1/ask"
        assert httpx.options(path, headers=asking, trust_env=False).headers["access-control-allow-origin"] == friend
        answered = httpx.get(f"{server.url}/ramify/v1/about", headers={"Origin": friend}, trust_env=False)
        assert (answered.status_code, answered.headers["access-control-allow-origin"]) == (200, friend)
        for other in ("http://localhost:3000", "https://evil.example"):
            assert "access-control-allow-origin" not in httpx.get(path, headers={"Origin": other}, trust_env=False).headers


def test_health_and_readiness_probes(serve: Serve) -> None:
    server = serve()
    assert httpx.get(f"{server.url}/health", trust_env=False).json() == {"alive": True}
    ready = httpx.get(f"{server.url}/ready", trust_env=False)
    assert ready.json()["ready"] is (ready.status_code == 200)
