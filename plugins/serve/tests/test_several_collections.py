"""Several collections in one question: named as a list or joined by `+`, and told apart in the citations."""

from pathlib import Path
from typing import Any

import ollama as ollama_client
import openai
import pytest

from plugins.serve.tests.conftest import Running, Serve
from ramify.studio.cli import run

FOUNDED = "Which company makes the Corvus pump?"
QUESTION = "In which town was the company that makes the Corvus pump founded?"
PUMP = "The Corvus pump is made by the company Halden Works.\n"
FIRM = "The company Halden Works was founded in the town of Ludvika.\n"


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two indexes of a document each."""
    home, made = tmp_path_factory.mktemp("several"), []
    for name, text in (("pumps", PUMP), ("firms", FIRM)):
        (home / "documents" / name).mkdir(parents=True)
        (home / "documents" / name / f"{name}.txt").write_text(text, encoding="utf-8")
        assert run(["index", str(home / "documents" / name), "--out", str(home / name)]) == 0
        made.append(home / name)
    return made


@pytest.fixture
def server(serve: Serve, indexes: list[Path]) -> Running:
    return serve(*indexes)


@pytest.mark.parametrize("names", [["pumps", "firms"], "pumps+firms"])
def test_citations_say_which_collection_they_are_of_and_open_there(server: Running, names: Any) -> None:
    result = dict(server.ask(QUESTION, collection=names))["result"]
    assert result["answer"] == "Ludvika"
    assert {cited["collection"] for cited in result["citations"]} == {"pumps", "firms"}
    for citation in result["citations"]:
        assert citation["id"].startswith(f"{citation['collection']}:")
        place = {"collection": names, "passage": citation["id"]}
        source = server.call("GET", "/source", params=place).json()
        assert (source["collection"], source["text"]) == (citation["collection"], citation["text"])
        assert server.call("GET", "/file", params=place).text == (PUMP if citation["collection"] == "pumps" else FIRM)
    page = server.call("POST", "/page", json={"collection": names, "result": result})
    assert page.status_code == 200
    assert "was founded in the town" in page.text


def test_a_conversation_knows_which_collections_it_asked(server: Running) -> None:
    thread = server.ask(FOUNDED, collection=["firms", "pumps"], thread="new")[0][1]["thread"]
    server.ask(FOUNDED, collection="pumps", thread=thread)
    turns = server.call("GET", f"/threads/{thread}").json()["turns"]
    assert [turn["collection"] for turn in turns] == ["firms+pumps", "pumps"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["pumps", "pumps"], "the collection 'pumps' is named twice"),
        (["pumps", "other"], "there is no collection 'other'"),
        ("pumps+", "there is no collection ''"),
    ],
)
def test_wrong_names_are_refused(server: Running, names: Any, expected: str) -> None:
    refused = server.call("POST", "/ask", json={"question": FOUNDED, "collection": names})
    assert refused.status_code == 400
    assert expected in refused.json()["error"]["message"]


def test_a_passage_of_another_collection_is_not_found(server: Running) -> None:
    for passage in ("pumps.txt", "firms:pumps.txt", "other:pumps.txt"):
        assert server.call("GET", "/source", params={"collection": ["pumps", "firms"], "passage": passage}).status_code == 404


def test_a_model_may_name_several(server: Running) -> None:
    asked: Any = {"model": "pumps+firms/prune", "messages": [{"role": "user", "content": QUESTION}]}
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        assert client.models.retrieve("pumps+firms/prune").id == "pumps+firms/prune"
        message: Any = client.chat.completions.create(**asked).choices[0].message
        for wrong in ("pumps+other/prune", "pumps+pumps/prune", "pumps+firms/global", "pumps+/prune"):
            with pytest.raises(openai.NotFoundError):
                client.models.retrieve(wrong)
    assert message.content.startswith("**Ludvika**")
    assert {citation["collection"] for citation in message.citations} == {"pumps", "firms"}
    assert "firms: firms/firms.txt" in message.content
    with ollama_client.Client(server.url) as client_of_ollama:
        done = client_of_ollama.chat("pumps+firms/prune:latest", messages=asked["messages"])
    assert (done.message.content or "").startswith("**Ludvika**")
