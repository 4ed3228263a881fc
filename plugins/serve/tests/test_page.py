"""The page over plain HTTP: its parts, its headers, and an answer as a page of its own."""

import re

import httpx
import pytest

from plugins.serve.tests.conftest import INVENTOR, Running, Serve
from tests.faults import fault


@pytest.fixture
def server(serve: Serve) -> Running:
    return serve(tokens=["ada:ada-has-a-secret"])


def fetched(server: Running, path: str) -> httpx.Response:
    return httpx.get(f"{server.url}{path}", trust_env=False)


@fault("servers", "script injected into the page", sees="forbidden by the page's policy", kept="all", code="200")
def test_the_page_needs_no_token_and_runs_nothing_inline(server: Running) -> None:
    page = fetched(server, "/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert re.findall(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=", page.text) == []
    assert "http" not in page.text


def test_its_parts_come_from_the_server_itself(server: Running) -> None:
    wanted = re.findall(r'(?:src|href)="(page/[^"]+)"', fetched(server, "/").text)
    kinds = {name: fetched(server, f"/{name}").headers["content-type"].partition(";")[0] for name in wanted}
    assert kinds == {"page/serve.svg": "image/svg+xml", "page/serve.css": "text/css", "page/serve.js": "text/javascript"}
    imported = ["serve.js"]
    for name in imported:
        part = fetched(server, f"/page/{name}")
        assert part.status_code == 200
        imported += [other for other in re.findall(r'from "\./(.+?)"', part.text) if other not in imported]
    assert [name for name in (*wanted, *imported) if "url(" in fetched(server, f"/page/{name.removeprefix('page/')}").text] == []


@pytest.mark.parametrize("name", ["__init__.py", "..%2f__init__.py", "report.js"])
def test_it_has_no_other_part(server: Running, name: str) -> None:
    assert fetched(server, f"/page/{name}").status_code == 404


def test_an_answer_is_saved_as_the_page_of_a_tree(serve: Serve) -> None:
    server = serve()
    events = dict(server.ask(INVENTOR))
    assert "model call" in events["remarks"]["cost"]
    hostile = {**events["result"], "explanation": "<img src=x onerror=alert(1)>"}
    saved = server.call("POST", "/page", json={"collection": "demo", "result": hostile})
    assert saved.headers["content-disposition"].startswith("attachment")
    assert saved.headers["content-security-policy"].startswith("sandbox")
    assert "passages found" in saved.text
    assert "&lt;img src=x onerror=alert(1)&gt;" in saved.text
    assert "<img" not in saved.text


def test_a_stored_turn_is_saved_too(serve: Serve) -> None:
    server = serve()
    thread = server.ask(INVENTOR, thread="new")[0][1]["thread"]
    [turn] = server.call("GET", f"/threads/{thread}").json()["turns"]
    assert turn["remarks"]["cost"].startswith("1 model call (1 sequential)")
    saved = server.call("POST", "/page", json={"collection": turn["collection"], "result": turn["result"]})
    assert turn["result"]["answer"] in saved.text


@pytest.mark.parametrize("result", [{}, {"question": "Who?", "tree": [1]}, {"question": "Who?", "tree": 7}])
def test_what_is_no_result_is_refused(serve: Serve, result: object) -> None:
    reply = serve().call("POST", "/page", json={"result": result})
    assert (reply.status_code, reply.json()["error"]["kind"]) == (400, "usage")
