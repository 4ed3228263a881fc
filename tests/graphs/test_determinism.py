"""The same input gives the same tree."""

from typing import Any

import pytest

import ramify.graphs as graphs

QUESTION = "Who was born first, Nikola Tesla or J. J. Thomson?"


def told(result: graphs.Result) -> dict[str, Any]:
    """Give a result without the seconds it took."""
    return result.model_dump(exclude={"usage": {"wall_s", "loading_s"}})


@pytest.mark.parametrize("strategy", ["prune", "tor", "mcts", "iterative", "chain", "ircot", "self-ask", "react"])
def test_the_embedded_model_gives_the_same_tree_twice(strategy: str) -> None:
    first, second = (graphs.ask(QUESTION, strategy, model="extractive") for _ in range(2))
    assert told(first) == told(second)
    if strategy != "iterative":  # it reads once, with no branch to bring two dates together
        assert first.answer == "Nikola Tesla"
        assert first.citations
