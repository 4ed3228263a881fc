"""Texts of the questions of the plan: each has a mark by which the model server identifies it."""

from tests.river import QUESTION
from tests.torture.plan import Case

QUESTION_TEMPLATES = (QUESTION, "What is the capital of {}?", "Which river runs through it?")
COUNTRIES = ("France", "Germany", "Italy")


def question_text(case: Case, turn: int = 0) -> str:
    """Return the text of a question, or of a turn of a conversation."""
    return f"{QUESTION_TEMPLATES[turn % len(QUESTION_TEMPLATES)].format(COUNTRIES[case.number % len(COUNTRIES)])} (in case {case.number})"
