"""The command line, and answers of the embedded model to the demo's questions."""

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from ramify.graphs import ask
from tests.studio.conftest import nothing_allowed, ramify

__all__ = ["nothing_allowed", "ramify"]

BRIDGE = "In which city was the inventor of the ballpoint pen born?"
COMPARISON = "Who was born first, Nikola Tesla or J. J. Thomson?"
Answered = Callable[[str], dict[str, Any]]


@cache
def _answer(question: str) -> dict[str, Any]:
    return ask(question, "prune", model="extractive").to_json()


@pytest.fixture
def answered() -> Answered:
    """Return the JSON of an answer, which a test may change; each question is answered once."""
    return lambda question: copy.deepcopy(_answer(question))
