"""Questions put to servers that answer oddly: each ends with an answer, Unknown or one clear error, and a branch fails alone."""

from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.graphs.result import Result
from tests.river import QUESTION, river
from tests.tools.ollama_replies import Hang, Say
from tests.tools.ollama_server import Ollama, ollama
from tests.tools.questions import fresh

__all__ = ["fresh", "ollama"]


def ask(strategy: str = "prune", **options: Any) -> Result:
    return graphs.ask(QUESTION, strategy, index=river(), **{"model": "ollama:llama3.1:8b", **options})


@pytest.mark.parametrize("piece", ["{", '{"a":', '{"a":"', '{"a":1}'])
@pytest.mark.parametrize("strategy", ["naive", "prune"])
def test_a_megabyte_of_braces_is_a_malformed_reply(ollama: Ollama, strategy: str, piece: str) -> None:
    ollama.when(QUESTION, Say(piece * (2**20 // len(piece)), sure=None, at_once=True))
    result = ask(strategy, max_seconds=30)
    assert result.answer == "Unknown"
    assert result.stopped_by in ("error", "finished"), "no deadline was needed"
    assert "it is longer than 131,072 characters" in str(result)


def test_a_deadline_holds_after_a_megabyte_of_braces(ollama: Ollama) -> None:
    ollama.when(QUESTION, Say('{"a":' * 200_000, sure=None, at_once=True), Hang())
    result = ask(max_seconds=3)
    assert (result.answer, result.stopped_by) == ("Unknown", "seconds")
