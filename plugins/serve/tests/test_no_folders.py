"""Clients see names of collections and files, at every door; the folders of the server stay with its operator."""

import json
from pathlib import Path

import httpx
import pytest

from plugins.serve.tests.conftest import TIMEOUT_S, Running, Serve
from plugins.serve.tests.test_collections import KEEPER, index, send
from ramify.serve._public import public_index, public_result
from ramify.serve.catalog import Collection

QUESTION = "Who was the first keeper of the lighthouse of Arda?"
PAPERS = Collection("papers", "/srv/data/papers")
OTHER = Collection("other", "/srv/data/a folder/index")


def call_tool(server: Running, name: str, **arguments: str) -> str:
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return httpx.post(f"{server.url}/mcp", json=body, headers=headers, timeout=TIMEOUT_S, trust_env=False).text


def test_results_name_collections_and_no_folders(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    server.call("POST", "/collections", json={"name": "arda"})
    send(server, "arda", "keeper.txt", KEEPER.encode())
    index(server, "arda")
    result = dict(server.ask(QUESTION, collection="arda", thread="keepers"))["result"]
    assert result["index"] == "arda (1 file, 1 passage)"
    assert dict(server.ask(QUESTION, collection="arda+demo"))["result"]["index"].startswith("2 collections: arda (1 file")
    [turn] = server.call("GET", "/threads/keepers").json()["turns"]
    assert (turn["collection"], turn["result"]["index"]) == ("arda", result["index"])
    page = server.call("POST", "/page", json={"collection": "arda", "result": result}).text
    assert "arda (1 file" in page
    for text in (json.dumps(result), json.dumps(turn), page):
        assert str(tmp_path) not in text


def test_tools_name_collections_and_no_folders(serve: Serve, built: Path) -> None:
    server = serve(built)
    research = call_tool(server, "research_documents", question="Where was Marie Curie born?")
    assert research.count("index (2 files") == 2, research
    search = call_tool(server, "search_documents", query="Marie Curie")
    assert "curie.txt" in search
    assert str(built.parent) not in research + search


@pytest.mark.parametrize(
    ("description", "public"),
    [
        ("/srv/data/papers (3 documents, 9 passages)", "papers (3 documents, 9 passages)"),
        ("/srv/data/a folder/index (1 document, 1 passage)", "other (1 document, 1 passage)"),
        (
            "3 collections: /srv/data/papers (1 document, 1 passage); demo: 9 articles; /srv/data/a folder/index (2 documents, 5 passages)",
            "3 collections: papers (1 document, 1 passage); demo: 9 articles; other (2 documents, 5 passages)",
        ),
        ("/mnt/srv/data/papers (1 document, 1 passage)", "papers (1 document, 1 passage)"),
        ("/srv/removed/notes (1 document, 1 passage)", "notes (1 document, 1 passage)"),
        ("demo: 64 articles that ship with ramify", "demo: 64 articles that ship with ramify"),
        ("", ""),
    ],
)
def test_a_description_has_the_names_of_collections(description: str, public: str) -> None:
    assert public_index(description, [PAPERS, OTHER, Collection("demo", "demo")]) == public


def test_the_place_in_a_file_is_kept() -> None:
    also = [{"source": "b.pdf", "path": "/srv/b.pdf", "link": "file:///srv/b.pdf"}]
    citation = {"source": "a.pdf", "path": "/srv/a.pdf", "link": "file:///srv/a.pdf#page=4", "also": also}
    [public] = public_result({"index": "", "citations": [citation]}, str)["citations"]
    assert (public["path"], public["link"], public["also"]) == ("", "#page=4", [{"source": "b.pdf", "path": "", "link": ""}])
