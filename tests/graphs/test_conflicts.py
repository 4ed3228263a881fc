"""Conflicting answers to the whole question: which counts, what settled it, and what the tree says of it."""

from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.vectorstores import InMemoryVectorStore

import ramify.graphs as graphs
from ramify.tools.errors import UsageError
from tests.embeddings import WordEmbeddings
from tests.fakes import FakeModel
from tests.river import but

WHOLE = "Where was the builder of Hollin Mill born?"
SPLITS = {
    WHOLE: ("Who built Hollin Mill?", "Where was {1} born?"),
    "Where was Edda born?": ("Which village does Edda come from?", "In which county is {1}?"),
    "In which county is Oskel?": ("Which district has Oskel?", "Which county has {1}?"),
}
LAST = ("Where was Edda born?", "In which county is Oskel?", "Which county has Rask?")
"""The last hops: each answers the whole question."""
DOCUMENTS = {
    "handbook.pdf": ("Edda was born in Tarnholm.", "2019-05-01"),
    "wiki/a.md": ("In the county of Lark is Oskel.", "2024-02-01"),
    "wiki/b.md": ("Which county has Rask? Lark has Rask.", "2021-02-01"),
}


def index(dated: bool = True) -> InMemoryVectorStore:
    store = InMemoryVectorStore(WordEmbeddings())
    texts = [text for text, _ in DOCUMENTS.values()]
    metadata = [{"source": source, "title": source, **({"date": date} if dated else {})} for source, (_, date) in DOCUMENTS.items()]
    store.add_texts(texts, metadatas=metadata)
    return store


def teller(answers: tuple[str, ...], final: str, confidences: tuple[float, ...] = (0.5, 0.5, 0.5)) -> FakeModel:
    """Make a model that gives these answers to the last hops, the first hops right, and in the end a final one."""
    known = dict(zip(LAST, zip(answers, confidences, strict=False), strict=False))
    hops = {"Who built Hollin Mill?": "Edda", "Which village does Edda come from?": "Oskel", "Which district has Oskel?": "Rask"}

    def answer(slots: Mapping[str, Any]) -> dict[str, Any]:
        text, confidence = known.get(slots["question"], (hops.get(slots["question"], "Unknown"), 0.97))
        number = next((place for place, source in enumerate(DOCUMENTS) if LAST[place] == slots["question"]), 0)
        source = list(DOCUMENTS)[number]
        cited = [place for place, quote in enumerate(slots["passages"], 1) if quote["source"] == source]
        return {"answer": text, "confidence": confidence, "citations": cited}

    def decompose(slots: Mapping[str, Any]) -> dict[str, Any]:
        first, second = SPLITS.get(slots["question"], ("", "")) if LAST.index(slots["question"]) < len(answers) - 1 else ("", "")
        return {"simple": not first, "first": first, "second": second}

    def split(slots: Mapping[str, Any]) -> dict[str, Any]:
        first, second = SPLITS[WHOLE]
        return {"simple": False, "first": first, "second": second} if slots["question"] == WHOLE else decompose(slots)

    def finalize(slots: Mapping[str, Any]) -> dict[str, Any]:
        cited = [place for place, quote in enumerate(slots["passages"], 1) if final in quote["text"]]
        return {"answer": final, "confidence": 0.6, "citations": cited, "settled_by": "agreement"}

    return but(answer=answer, decompose=split, finalize=finalize)


def ask(model: FakeModel, dated: bool = True, **options: Any) -> graphs.Result:
    return graphs.ask(WHOLE, "tor", model=model, index=index(dated), **options)


def test_where_all_agree_nothing_is_noted() -> None:
    result = ask(teller(("Lark", "Lark"), "Lark"))
    assert (result.answer, result.settled_by) == ("Lark", "agreement")
    assert "settled" not in result.tree["0"].note


def test_the_majority_counts_against_the_final_call_and_the_tree_says_so() -> None:
    result = ask(teller(("Lark", "Lark"), "Tarnholm"))
    assert (result.answer, result.settled_by) == ("Lark", "majority")
    assert "settled by majority: 'Lark' of 0.1, 0.1.1 against 'Tarnholm' of the final call" in result.tree["0"].note
    cited = {citation.source for citation in result.citations if citation.cited}
    assert cited
    assert cited <= {result.passages[id].source for path in ("0.1", "0.1.1") for id in result.tree[path].cited}


def test_a_text_beside_an_answer_of_the_majority_is_quoted_without_a_further_call() -> None:
    model = teller(("Lark", "Lark"), "Tarnholm")
    result = ask(model, style="full")
    assert (result.quoted, bool(result.text)) == (True, True)
    assert not model.asked("write")


def test_an_answer_in_more_words_is_no_other_answer() -> None:
    result = ask(teller(("Lark", "Lark"), "Lark, Northland"))
    assert (result.answer, result.settled_by) == ("Lark, Northland", "agreement")


def test_between_as_many_on_both_sides_the_final_call_decides_what_fits() -> None:
    result = ask(teller(("Tarnholm", "Lark"), "Oskel"))
    assert (result.answer, result.settled_by) == ("Oskel", "fit")
    assert "against 'Tarnholm' of 0.1 and 'Lark' of 0.1.1" in result.tree["0"].note


def test_a_trusted_source_counts_more_than_the_majority() -> None:
    model = teller(("Tarnholm", "Lark", "Lark"), "Lark")
    assert ask(model).answer == "Lark"
    result = ask(model, trust={"source": {"handbook*": 2}})
    assert (result.answer, result.settled_by) == ("Tarnholm", "trust")
    assert "settled by trust: 'Tarnholm' of 0.1 against 'Lark'" in result.tree["0"].note


def test_a_source_that_is_trusted_less_than_others_yields() -> None:
    result = ask(teller(("Tarnholm", "Lark", "Lark"), "Tarnholm"), trust={"source": {"wiki/*": 0.5}})
    assert (result.answer, result.settled_by) == ("Tarnholm", "trust")


@pytest.mark.parametrize(("dated", "answer"), [(True, ("Lark", "trust")), (False, ("Tarnholm", "majority"))])
def test_the_newest_source_counts_where_all_have_a_date(dated: bool, answer: tuple[str, str]) -> None:
    result = ask(teller(("Tarnholm", "Lark"), "Tarnholm"), dated, trust={"date": "newest"})
    assert (result.answer, result.settled_by) == answer


TWO_TRUSTED = {"source": {"handbook*": 2, "wiki/a*": 2}}


def test_of_two_trusted_answers_the_surer_one_fits_where_the_final_call_has_another() -> None:
    result = ask(teller(("Tarnholm", "Lark"), "Unheard", (0.5, 0.8)), trust=TWO_TRUSTED)
    assert (result.answer, result.settled_by) == ("Lark", "fit")


def test_what_nothing_settles_is_unknown_with_both_sides_in_the_tree() -> None:
    result = ask(teller(("Tarnholm", "Lark"), "Unheard"), trust=TWO_TRUSTED)
    assert (result.answer, result.settled_by, result.citations) == ("Unknown", "unsettled", [])
    assert "not settled: 'Tarnholm' of 0.1 and 'Lark' of 0.1.1" in result.tree["0"].note


def test_where_the_final_call_abstains_its_unknown_stays() -> None:
    assert ask(teller(("Lark", "Lark"), "Unknown")).answer == "Unknown"


def test_what_cannot_be_a_trust_is_refused_with_an_example() -> None:
    with pytest.raises(UsageError, match="trust=") as error:
        ask(teller(("Lark", "Lark"), "Lark"), trust={"source": "manual"})
    assert '"newest"' in error.value.remedy
