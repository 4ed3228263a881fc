"""SmolLM2 in this process, a real language model: small and often wrong, so tests look at the form of what it says, never at its truth."""

import pytest

from ramify.tools.errors import ModelError
from ramify.tools.released import SMOLLM2

NAME = "gguf:smollm2"


def _missing() -> str:
    try:
        SMOLLM2.path()
    except ModelError as error:
        return error.remedy
    return ""


REAL = pytest.mark.skipif(bool(_missing()), reason=f"the model is not here: {_missing()}")
"""Marks tests that ask it; a file of them has `smollm2` in its name, and runs in one process with the others (tests/sharing.py)."""
SHORT = {"style": "short", "passage_tokens": 40, "num_predict": 200, "shots": 0, "thought": False, "k": 2, "final_k": 2}
"""Settings under which a question takes seconds, also on a slow processor."""
