"""How the questions of a plan are worded: each has the mark by which the model's server knows it."""

from tests.river import QUESTION
from tests.torture.plan import Case

ASKED = (QUESTION, "What is the capital of {}?", "Which river runs through it?")
PLACES = ("France", "Germany", "Italy")


def question(told: Case, turn: int = 0) -> str:
    """Return the words of a question, or of a turn of a conversation."""
    return f"{ASKED[turn % len(ASKED)].format(PLACES[told.number % len(PLACES)])} (in case {told.number})"
