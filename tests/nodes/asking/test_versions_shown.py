"""Passages that are versions of each other say their versions in a prompt, and a passage its headings."""

from ramify.nodes.asking.language_model import to_quotes
from ramify.nodes.settings import Settings
from ramify.nodes.tree import Passage
from ramify.prompts import ANSWER

STAY = "A guest pays {} euros a night for a bed, and the porter keeps the rules."


def stay(source: str, price: int, date: str = "", heading: str = "") -> Passage:
    metadata = {name: value for name, value in (("date", date), ("heading", heading)) if value}
    return Passage(id=source, text=STAY.format(price), source=source, score=0.5, metadata={"title": "Stay", **metadata})


def rendered(*passages: Passage) -> str:
    quotes = to_quotes(passages, Settings())
    return str(ANSWER.render({"question": "What is a bed?", "passages": [*quotes.values()]})[-1].content)


def test_a_model_is_shown_which_version_is_which() -> None:
    text = rendered(stay("a.md", 20, "2021-03-01"), stay("b.md", 26, "2024-02-15"))
    assert 'version="2021-03-01"' in text
    assert 'version="2024-02-15"' in text
    assert "newest" in text


def test_passages_without_another_version_show_none() -> None:
    text = rendered(stay("a.md", 20, "2021-03-01"), stay("b.md", 20, "2024-02-15"), stay("c.md", 26))
    assert "version" not in text


def test_a_model_is_shown_the_headings_which_may_be_the_code_asked_for() -> None:
    assert 'heading="Codes > F021"' in rendered(stay("a.md", 20, heading="Codes > F021"))
