"""Requests that are long or many-part: each is answered or refused, and the server answers others meanwhile."""

import threading
from typing import Any

import httpx
import pytest

from plugins.serve.tests.conftest import BORN, INVENTOR, TIMEOUT_S, Serve
from ramify.serve._chat import MAX_CHAT_CHARS, MAX_MESSAGES
from tests.faults import fault

N = 100_000
HEALTH_S = 10.0
"""A busy machine answers within this time; a request that stopped the server for its length took minutes."""
MODEL = "demo/prune"


def messages(*contents: str) -> list[dict[str, str]]:
    return [{"role": "user" if place % 2 == 0 else "assistant", "content": content} for place, content in enumerate(contents)]


LONG: list[tuple[str, dict[str, Any], int, str]] = [
    ("/v1/chat/completions", {"messages": messages(INVENTOR, "\n" * N, BORN)}, 200, "Budapest"),
    ("/v1/chat/completions", {"messages": messages(INVENTOR, "[^1]: " * (N // 6), BORN)}, 200, "Budapest"),
    ("/v1/chat/completions", {"messages": messages(INVENTOR, "**" * (N // 2), BORN)}, 200, "Budapest"),
    ("/v1/chat/completions", {"messages": messages(INVENTOR, "[^" * (N // 2), BORN)}, 200, "Budapest"),
    ("/v1/chat/completions", {"messages": messages(INVENTOR, "\\" * N, BORN)}, 200, "Budapest"),
    ("/v1/chat/completions", {"messages": messages("Aa " * (N * 3), "b", BORN)}, 200, "Budapest"),
    ("/v1/chat/completions", {"messages": messages("[" * (N * 9), "b", BORN)}, 200, "Budapest"),
    ("/v1/chat/completions", {"messages": messages("\n" * N)}, 400, "the question is empty"),
    ("/v1/chat/completions", {"messages": messages("a\n" * N)}, 400, "ask in at most"),
    ("/v1/chat/completions", {"messages": messages(*["a"] * N, "b")}, 400, f"send the last {MAX_MESSAGES:,}"),
    ("/v1/chat/completions", {"messages": messages("a" * MAX_CHAT_CHARS, "b", BORN)}, 400, f"send {MAX_CHAT_CHARS:,} at most"),
    ("/v1/chat/completions", {"messages": [{}] * N}, 400, "messages.0.role"),
    ("/v1/chat/completions", {"messages": messages(BORN), "model": "a+" * N + "/prune"}, 404, "there is no model"),
    ("/v1/chat/completions", {"messages": messages(BORN), "model": "+".join(map(str, range(N)))}, 404, "there is no model"),
    ("/v1/responses", {"input": messages(INVENTOR, "\n" * N, BORN)}, 200, "Budapest"),
    ("/v1/responses", {"input": messages(*["a"] * (N + 1))}, 400, f"send the last {MAX_MESSAGES:,}"),
    ("/api/chat", {"messages": messages(INVENTOR, "\n" * N, BORN), "stream": False}, 200, "Budapest"),
    ("/api/chat", {"messages": messages(*["a"] * (N + 1)), "stream": False}, 400, f"send the last {MAX_MESSAGES:,}"),
    ("/api/generate", {"prompt": " \n" * N, "stream": False}, 400, "the question is empty"),
    ("/ramify/v1/ask", {"question": "\n" * N}, 400, "the question is empty"),
    ("/ramify/v1/ask", {"question": BORN, "collection": list(map(str, range(N)))}, 400, "there is no collection"),
    ("/ramify/v1/ask", {"question": BORN, "collection": ["demo"] * N}, 400, "is named twice"),
]


@fault(
    "servers",
    "request with 100,000 line breaks, messages or names",
    sees="an answer, or which limit it exceeds",
    kept="the server answers others meanwhile",
    code="200, 400, 404",
)
@pytest.mark.parametrize(("path", "body", "status", "expected"), LONG, ids=[f"{path}-{place}" for place, (path, *_) in enumerate(LONG)])
def test_others_are_answered_during_a_long_request(serve: Serve, path: str, body: dict[str, Any], status: int, expected: str) -> None:
    server, answers = serve(), list[httpx.Response]()
    sent = body if path.startswith("/ramify") else {"model": MODEL, **body}

    def ask() -> None:
        answers.append(httpx.post(f"{server.url}{path}", json=sent, timeout=TIMEOUT_S, trust_env=False))

    asking = threading.Thread(target=ask)
    asking.start()
    while True:
        is_over = not asking.is_alive()
        assert httpx.get(f"{server.url}/health", timeout=HEALTH_S, trust_env=False).json() == {"alive": True}
        if is_over:
            break
    [answer] = answers
    assert (answer.status_code, expected in answer.text) == (status, True), answer.text[:500]
    assert status == 200 or len(answer.text) < 2000
