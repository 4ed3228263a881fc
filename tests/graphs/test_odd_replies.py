"""Questions put to servers that answer oddly: each ends with an answer, Unknown or one clear error, and a branch fails alone."""

from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.graphs.run import Result
from tests.river import FIRST, QUESTION, SECOND, river
from tests.tools.ollama_replies import Hang, Raw, Say
from tests.tools.ollama_server import Ollama, ollama
from tests.tools.questions import fresh

__all__ = ["fresh", "ollama"]


def ask(strategy: str = "prune", **options: Any) -> Result:
    return graphs.ask(QUESTION, strategy, index=river(), **{"model": "ollama:llama3.1:8b", **options})


@pytest.mark.parametrize("piece", ["{", '{"a":', '{"a":"', '{"a":1}'])
@pytest.mark.parametrize("strategy", ["naive", "prune"])
def test_more_braces_than_are_read_are_a_malformed_reply(ollama: Ollama, strategy: str, piece: str) -> None:
    ollama.when(QUESTION, Say(piece * (2**18 // len(piece)), sure=None, at_once=True))
    result = ask(strategy, max_seconds=30)
    assert result.answer == "Unknown"
    assert result.stopped_by in ("error", "finished"), "no deadline was needed"
    assert "it is longer than 131,072 characters" in str(result)


def test_a_deadline_holds_after_a_megabyte_of_braces(ollama: Ollama) -> None:
    ollama.when(QUESTION, Say('{"a":' * 200_000, sure=None, at_once=True), Hang())
    result = ask(max_seconds=3)
    assert (result.answer, result.stopped_by) == ("Unknown", "seconds")


@pytest.mark.parametrize("body", ["", "[]", '{"message": null, "done": true}', "<html>Bad Gateway</html>"])
def test_an_odd_reply_fails_its_branch_alone(ollama: Ollama, body: str) -> None:
    split = {"action": "decompose", "answer": "", "confidence": 0.5, "citations": [], "questions": [FIRST, SECOND], "entities": []}
    ollama.when(
        "from the findings and the passages", Say({"answer": "Seine", "confidence": 0.9, "citations": [], "settled_by": "agreement"})
    )
    ollama.when(f"Question: {QUESTION}", Say(split))
    ollama.when(FIRST, Raw(body))
    result = ask(max_depth=1)
    assert result.tree["0.0"].status == "failed"
    assert "also on a retry" in str(result.tree["0.0"].note)
    assert result.stopped_by == "finished"


def test_half_a_character_reaches_the_answer_as_a_whole_one(ollama: Ollama) -> None:
    ollama.when(QUESTION, Say('{"answer": "Sei\\ud83dne", "confidence": 0.9, "citations": [1]}', sure=None, at_once=True))
    result = ask("naive")
    assert result.answer == "Sei\ufffdne"
    assert result.model_dump_json().encode()
