"""auto: the model that is there when a question begins answers the whole of it."""

from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.embedded.extractive import model as extractive
from tests.river import QUESTION, replies, river
from tests.tools.ollama_server import Ollama, ollama
from tests.tools.questions import fresh

__all__ = ["fresh", "ollama"]


def test_a_server_that_comes_up_is_taken_from_the_next_question_on(ollama: Ollama, monkeypatch: pytest.MonkeyPatch) -> None:
    models = ollama.models.copy()
    ollama.models.clear()

    def meanwhile(prompt: str, slots: Any) -> Any:
        ollama.models.update(models)
        return replies(prompt, slots)

    monkeypatch.setattr(extractive, "reply_to", meanwhile)
    first = graphs.ask(QUESTION, model="auto", index=river())
    assert (first.model, first.answer, len(ollama.requests)) == ("extractive", "Seine", 0)
    assert any("ollama pull" in notice for notice in first.notices)
    second = graphs.ask(QUESTION, model="auto", index=river())
    assert (second.model, second.notices) == ("ollama:llama3.1:8b", [])
    assert ollama.requests
