"""Which questions no phrase answers."""

import pytest

from ramify.tools.extractive.open_ended import open_ended


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How do I undo the last commit?", "how to"),
        ("how to create an index without locking writes", "how to"),
        ("What is the best way to copy a table?", "how to"),
        ("And how can one stop it?", "how to"),
        ("List all isolation levels", "list"),
        ("Name every member of the board.", "list"),
        ("Which isolation levels are there?", "list"),
        ("What are the available index types?", "list"),
        ("How does strength training help?", ""),
        ("How long is the Vistula?", ""),
        ("How many people can it carry?", ""),
        ("Name the wife of the director of Solaris.", ""),
        ("What are the entities that offer bonuses?", ""),
        ("Which city is the capital?", ""),
    ],
)
def test_a_fact_is_told_from_how_and_from_a_list(question: str, kind: str) -> None:
    assert open_ended(question) == kind
