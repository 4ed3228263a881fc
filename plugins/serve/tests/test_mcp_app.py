"""The view that MCP hosts show of an answer (MCP Apps): what the official client is told of it, and that others see the text as before."""

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.types import CallToolResult, TextResourceContents

from ramify.serve.mcp import create_server
from tests.river import QUESTION, but, river

WEAK_PAIR = {"sufficiency": 1, "non_redundancy": 1, "consistency": 1, "decomposition": 1, "weaker": "1"}
"""A judgement for which the two halves of the question are pruned, with what the second cites."""
PASSAGES = "ramify/passages"


def connect(mode: str = "auto", shows_apps: bool = True, **options: Any) -> Client:
    """Return a client of a server whose answer rests on one passage, and whose pruned branches cite another, too."""
    server = create_server("tor", {"model": but(judge=WEAK_PAIR), "index": river()}, **options)
    extensions = [advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})] if shows_apps else []
    return Client(server, mode=mode, extensions=extensions)


async def ask(client: Client) -> CallToolResult:
    return await client.call_tool("research_documents", {"question": QUESTION})


async def read_document(client: Client, uri: str) -> TextResourceContents:
    [contents] = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    return contents


def sources_of(csp: str) -> Mapping[str, list[str]]:
    return {name: sources for name, *sources in (directive.split() for directive in csp.split(";") if directive.strip())}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_tool_names_a_view_that_is_listed_and_read(mode: str) -> None:
    async with connect(mode) as client:
        research, search = (await client.list_tools()).tools
        [listed] = (await client.list_resources()).resources
        document = await read_document(client, listed.uri)
        told = client.server_capabilities.extensions
    assert (research.meta, search.meta) == ({"ui": {"resourceUri": listed.uri}}, None)
    assert listed.uri.startswith("ui://")
    assert {listed.mime_type, document.mime_type} == {APP_MIME_TYPE} == {"text/html;profile=mcp-app"}
    assert document.text.startswith("<!doctype html>")
    assert mode == "legacy" or told == {EXTENSION_ID: {}}, "earlier specifications have no extensions to tell"


async def test_it_loads_nothing_and_runs_its_own_script_alone() -> None:
    async with connect() as client:
        document = await read_document(client, "ui://ramify/answer.html")
    assert document.meta is not None
    assert document.meta["ui"]["csp"] == {}, "no domain is asked for"
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="(.+?)">', document.text)
    parts = {name: re.findall(rf"<{name}>(.*?)</{name}>", document.text, re.DOTALL) for name in ("script", "style")}
    hashes = {name: base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for name, [part] in parts.items()}
    assert sources_of(policy) == {
        "default-src": ["'none'"],
        "style-src": [f"'sha256-{hashes['style']}'"],
        "script-src": [f"'sha256-{hashes['script']}'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    markup = re.sub(r"<(script|style)>.*?</\1>", "", document.text, flags=re.DOTALL)
    assert re.findall(r"\s(?:src|href|style|on\w+)=", markup) == []
    assert (
        re.findall(r"url\(|@import|innerHTML|outerHTML|insertAdjacentHTML|\beval\b|new Function|fetch\(|sessionStorage", document.text)
        == []
    )


async def test_another_resource_is_refused() -> None:
    async with connect() as client:
        with pytest.raises(MCPError, match="ui://ramify/none"):
            await client.read_resource("ui://ramify/none")


async def test_who_shows_no_apps_gets_the_text_alone_as_before() -> None:
    async with connect() as client, connect(shows_apps=False) as plain:
        shown, read = await ask(client), await ask(plain)
    assert shown.content[0].text.startswith("Answer: Paris\nConfidence: ")  # type: ignore[union-attr]
    assert [part.text for part in shown.content] == [part.text for part in read.content]  # type: ignore[union-attr]
    assert set(shown.structured_content) == set(read.structured_content)
    assert PASSAGES in (shown.meta or {})
    assert PASSAGES not in (read.meta or {})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_only_a_branch_cites_is_given_to_the_view(mode: str) -> None:
    async with connect(mode) as client:
        result = await ask(client)
    found = result.structured_content
    [passage] = (result.meta or {})[PASSAGES]
    pruned = {branch["path"]: branch for branch in found["tree"] if branch["status"] == "pruned"}
    assert passage["id"] in pruned["0.0"]["cited"]
    assert passage["id"] not in {citation["id"] for citation in found["citations"]}
    assert passage["text"][passage["start"] : passage["end"]] == "France has the capital Paris."


async def test_a_server_for_others_tells_no_folders() -> None:
    async def at_once(run: Any) -> Any:
        return await run()

    async with connect(queue=at_once) as client:
        [passage] = (await ask(client)).meta[PASSAGES]  # type: ignore[index]
    assert (passage["path"], passage["link"]) == ("", "")
