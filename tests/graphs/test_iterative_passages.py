"""Which passages Iterative RAG reads first, how many of them at once, and what the last call is given of them."""

from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.nodes.iterative import priority
from ramify.nodes.state import Search
from ramify.nodes.tree import Passage
from ramify.prompts import Filtered
from ramify.prompts.iterative import FilteredSources
from ramify.tools.errors import UsageError
from ramify.tools.models.tokens import passage_length
from tests.fakes import library
from tests.graphs.test_iterative import POOR
from tests.river import QUESTION, TEXTS, but, river


def test_priority_adds_what_the_method_says() -> None:
    passage = Passage(id="1", text="서울의 강은 한강이다.", source="강.pdf", score=0.5, metadata={"page": 3, "title": "Han"})
    search = Search(files=("강.pdf",), pages=("강.pdf:3",), keywords=("한강", "HAN", "Rhine"))
    assert priority(passage, search) == 0.5 + 0.3 + 0.2 + 0.1 * 2


def read_next(named: str) -> list[str]:
    """List in order what is read after a first round, whose reply names a promising source as the prompt shows it."""
    near, less_near = "Which river runs through the capital of {}?", "Which river runs through the {}?"
    shelf = library(QUESTION)
    shelf.add_texts([near.format(name) for name in ("Spain", "Peru")], metadatas=[{"source": "notes:3"}, {"source": "A&B.pdf", "page": 2}])
    shelf.add_texts([less_near.format(name) for name in ("Chile", "Egypt")], metadatas=[{"source": "A&B.pdf", "page": "B-7"}] * 2)
    chat = but(filter={**POOR, "relevance": 0.9, "sources": [named]}, plan={"sub_queries": [], "keywords": []})
    graphs.ask(QUESTION, "iterative", model=chat, index=shelf, batch=1, hybrid=False)
    return [quote["source"] for call in chat.asked("filter")[1:] for quote in call["passages"]]


@pytest.mark.parametrize("named", ["A&B.pdf:B-7", "A&B.pdf, p. B-7", "A&B.pdf (page B-7)"])
def test_a_promising_page_is_read_next_before_the_rest_of_its_file(named: str) -> None:
    assert read_next(named) == ["A&B.pdf:B-7", "A&B.pdf:B-7", "A&B.pdf:2", "notes:3"]


def test_a_promising_file_is_read_next_and_what_is_no_source_changes_nothing() -> None:
    assert read_next("A&B.pdf") == ["A&B.pdf:2", "A&B.pdf:B-7", "A&B.pdf:B-7", "notes:3"]
    assert read_next("B.pdf:B-7") == read_next("notes") == read_next("") == ["notes:3", "A&B.pdf:2", "A&B.pdf:B-7", "A&B.pdf:B-7"]


def test_a_source_is_found_as_the_prompt_shows_it() -> None:
    def promising(slots: Any) -> Any:
        source = next((quote["source"] for quote in slots["passages"] if 'Q "A' in quote["source"]), "")
        return {**POOR, "relevance": 0.9, "sources": [source.replace('"', "&quot;")] if source else []}

    shelf = library(*(f"River number {n}." for n in range(8)))
    shelf.add_texts(["Which river runs through a capital?"], metadatas=[{"source": 'Q "A".pdf', "page": 7}])
    shelf.add_texts([f"Appendix {n}." for n in range(3)], metadatas=[{"source": 'Q "A".pdf', "page": n} for n in range(3)])
    chat = but(filter=promising, plan={"sub_queries": []})
    graphs.ask(QUESTION, "iterative", model=chat, index=shelf, batch=2, hybrid=False)
    first, second = ([quote["source"] for quote in call["passages"]] for call in chat.asked("filter")[:2])
    assert 'Q "A".pdf:7' in first
    assert all(source.startswith('Q "A".pdf') for source in second)


def long_passages(count: int) -> Any:
    """Make a shelf of passages that fill what is shown of one."""
    return library(*(f"Chapter {n}: " + f"river {n} runs on " * 120 for n in range(count)))


def counting(chat: Any) -> Any:
    """Give the model a tokenizer of its own: an estimate is careful, and holds fewer passages in a window."""
    return chat.model_copy(update={"custom_get_token_ids": lambda text: list(range(passage_length(text)))})


def read_by(chat: Any) -> list[list[str]]:
    """List what each round read."""
    return [[quote["source"] for quote in call["passages"]] for call in chat.asked("filter")]


def test_a_batch_of_twenty_is_shown_whole_in_one_round() -> None:
    chat = counting(but(filter=POOR))
    graphs.ask(QUESTION, "iterative", model=chat, index=long_passages(30))
    assert [len(batch) for batch in read_by(chat)] == [20, 10]


def test_what_the_window_did_not_hold_is_read_in_the_next_round() -> None:
    words = ["quay", "crane", "mole", "dock", "tide", "harbour"]
    chat = but(filter={**POOR, "relevance": 0.9}, plan={"keywords": words})
    shelf = long_passages(7)
    shelf.add_texts([" ".join(words * 40)], metadatas=[{"source": "port.txt"}])
    result = graphs.ask(QUESTION, "iterative", model=chat, index=shelf, num_ctx=2048, num_predict=256)
    rounds = read_by(chat)
    assert max(map(len, rounds)) < 8
    assert rounds[0][0] == "port.txt", "most promising by its keywords, though least similar"
    assert sorted(source for batch in rounds for source in batch) == [*(f"{n}.txt" for n in range(7)), "port.txt"]
    assert result.search is not None
    assert len(result.search.seen) == 8


def test_facts_count_where_no_passage_was_named_for_them() -> None:
    chat = but(
        filter={**POOR, "relevance": 0.9, "facts": ["The Seine runs through Paris."], "is_sufficient": True}, compress={"citations": []}
    )
    result = graphs.ask(QUESTION, "iterative", model=chat, index=river())
    [final] = chat.asked("compress")
    assert final["facts"] == ["The Seine runs through Paris."]
    assert len(final["passages"]) == len(TEXTS)
    assert result.answer == "Seine"
    assert [citation.cited for citation in result.citations] == [False] * 3


def test_the_final_call_keeps_to_the_limits_of_the_method() -> None:
    def found(slots: Any) -> dict[str, Any]:
        facts = [f"Fact {n} of a round." for n in range(len(slots["facts"]), len(slots["facts"]) + 9)]
        return {**POOR, "relevance": 0.9, "relevant": list(range(1, 21)), "facts": facts}

    chat = counting(but(filter=found))
    graphs.ask(QUESTION, "iterative", model=chat, index=long_passages(50), enough_facts=12)
    [final] = chat.asked("compress")
    assert (len(final["passages"]), len(final["facts"])) == (15, 10)
    assert max(len(quote["text"]) for quote in final["passages"]) <= 500
    for name, above in (("context_tokens", 20_001), ("num_predict", 4001)):
        with pytest.raises(UsageError, match=name):
            graphs.ask(QUESTION, "iterative", model=chat, index=river(), **{name: above})


def test_the_filter_asks_for_nothing_that_nobody_reads() -> None:
    read = {"relevant", "facts", "is_sufficient", "relevance", "suggested"}
    assert (set(Filtered.model_fields), set(FilteredSources.model_fields)) == (read, read | {"sources"})


@pytest.mark.parametrize(("sources", "asked"), [(["a.pdf", "a.pdf", "b.pdf"], True), (["a#1", "a#2", "a#3"], False)])
def test_sources_are_asked_for_where_one_has_several_passages(sources: list[str], asked: bool) -> None:
    shelf = library()
    shelf.add_texts([f"River number {n}." for n in range(3)], metadatas=[{"source": source} for source in sources])
    graphs.ask(QUESTION, "iterative", model=(chat := but()), index=shelf)
    [told] = [messages[-1].text for (name, _), messages in zip(chat.calls, chat.heard, strict=True) if name == "filter"][:1]
    assert ('"sources"' in told) == asked
