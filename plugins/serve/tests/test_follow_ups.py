"""Follow-ups of clients that send the earlier messages back: as they were, changed, or to a server that was started since."""

from collections.abc import Callable

import httpx
import pytest

from plugins.serve.tests.conftest import BORN, TIMEOUT_S, Running, Serve

WHO = "Who invented the ballpoint pen?"
DIED = "And when did he die?"
EDITS: dict[str, Callable[[str], str]] = {
    "as it was": lambda content: content,
    "without footnotes": lambda content: content.split("\n\n[^1]:")[0],
    "after thoughts": lambda content: f"<think>\n0 {WHO}\n0 → László Bíró\n</think>\n\n{content}",
    "with other space": lambda content: f"\n{content}\n\n",
    "one word of it": lambda content: "Budapest",
}
each_edit = pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)


def answer(server: Running, *messages: str) -> str:
    """Ask in OpenAI's protocol, questions and answers in turn; return the content of the answer."""
    body = [{"role": "assistant" if number % 2 else "user", "content": text} for number, text in enumerate(messages)]
    url = f"{server.url}/v1/chat/completions"
    reply = httpx.post(url, json={"model": "demo/prune", "messages": body}, timeout=TIMEOUT_S, trust_env=False)
    return str(reply.json()["choices"][0]["message"]["content"])


@each_edit
def test_the_person_of_the_question_is_known_from_what_the_client_sends_back(serve: Serve, edit: Callable[[str], str]) -> None:
    server = serve()
    assert answer(server, BORN, edit(answer(server, BORN)), DIED).startswith("**1985**")


def test_the_person_of_the_question_is_known_to_a_server_that_was_started_since(serve: Serve) -> None:
    before = answer(serve(), WHO)
    server = serve()
    assert answer(server, WHO, before, DIED).startswith("**1985**")
    assert answer(server, WHO, "It was László Bíró who invented it.", DIED).startswith("**1985**")


def test_an_answer_in_the_same_words_to_another_question_is_not_taken_for_it(serve: Serve) -> None:
    server = serve()
    answer(server, "When did Nikola Tesla die?")
    content = answer(server, "When did László Bíró die?").split("\n\n[^1]:")[0]
    assert answer(server, "In which year did Adolphe Sax die?", content, "Where was he born?").startswith("**Dinant**")
