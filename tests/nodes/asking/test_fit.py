"""What of the passages goes into a prompt."""

from ramify.nodes.asking.language_model import limit_passages, to_quote
from ramify.nodes.settings import Settings
from ramify.nodes.state import merge_passages
from ramify.nodes.tree import Passage
from ramify.tools.models.tokens import passage_length

TEXT = "The river floods again. " * 40


def passage(key: str, text: str = TEXT, **more: object) -> Passage:
    return Passage.model_validate({"id": key, "text": text, "source": "a.pdf", "score": 0.5, **more})


def test_the_first_passages_that_come_to_the_allowance_are_kept_and_the_first_always() -> None:
    three = tuple(passage(key) for key in "abc")
    length = passage_length(TEXT)
    for allowed, kept in ((3 * length, "abc"), (3 * length - 1, "ab"), (2 * length, "ab"), (50, "a")):
        shown = limit_passages(three, Settings(context_tokens=allowed, passage_tokens=10_000))
        assert "".join(one.id for one in shown) == kept


def test_a_long_passage_counts_and_is_shown_with_what_is_left_of_it() -> None:
    settings = Settings(context_tokens=60, passage_tokens=30)
    assert len(limit_passages(tuple(passage(key) for key in "abc"), settings)) == 2
    shown = to_quote(passage("a"), settings)["text"]
    assert TEXT.startswith(shown.rstrip(" …"))
    assert 20 < passage_length(shown) <= 30


def test_a_passage_is_shown_with_its_page_where_it_has_one() -> None:
    assert to_quote(passage("a", metadata={"page": 3}), Settings())["source"] == "a.pdf:3"
    assert to_quote(passage("a"), Settings())["source"] == "a.pdf"


def test_a_passage_found_twice_keeps_its_best_figures() -> None:
    high, low = passage("a", score=0.9, value=0.2), passage("a", score=0.1, value=0.8)
    for old, new in ((high, low), (low, high)):
        (kept,) = merge_passages({"a": old}, {"a": new}).values()
        assert (kept.score, kept.value) == (0.9, 0.8)
