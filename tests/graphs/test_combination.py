"""How answers are brought together is said by whoever splits a question, kept on its branch, and handed to whoever answers it."""

from typing import Any

import pytest

import ramify.graphs as graphs
from tests.fakes import FakeModel
from tests.river import FIRST, QUESTION, SECOND, but, model, replies, river


def telling(together: str = "bridge") -> FakeModel:
    """Make a model that says how its splits are brought together."""

    def told(prompt: str, slots: Any) -> Any:
        reply = replies(prompt, slots)
        splits = reply.get("action") == "decompose" or reply.get("simple") is False
        return {**reply, "together": together} if splits or (prompt == "next_question" and not reply["done"]) else reply

    return model(replies=told)


UNSURE = {"tau": 0.99}
"""With it no hop settles the whole question: a final call is made."""
CASES: list[tuple[str, dict[str, Any]]] = [
    ("prune", {**UNSURE, "reconsider": False}),
    ("prune", {**UNSURE, "joint": False}),
    ("tor", UNSURE),
    ("chain", {}),
]


@pytest.mark.parametrize(("strategy", "options"), CASES)
def test_it_is_kept_on_the_branch_that_was_split_and_shown_above_each_finding(strategy: str, options: dict[str, Any]) -> None:
    asked = telling()
    result = graphs.ask(QUESTION, strategy, model=asked, index=river(), **options)
    assert {path: branch.together for path, branch in result.tree.items() if branch.together} == {"0": "bridge"}
    shown = [one for call in (*asked.asked("finalize"), *asked.asked("aggregate")) for one in call["findings"]]
    assert shown
    for finding in shown:
        assert finding["together"] == ("bridge" if finding["path"] == "0" else "")
        paths = [above["path"] for above in finding["above"]]
        assert paths == [path for path in result.tree if finding["path"].startswith(f"{path}.")]
        assert finding["above"][:1] == ([{"path": "0", "question": QUESTION, "together": "bridge"}] if paths else [])


def test_a_chain_is_shown_it_with_each_next_question() -> None:
    asked = telling()
    graphs.ask(QUESTION, "chain", model=asked, index=river())
    histories = [call["history"] for call in asked.asked("next_question")]
    assert [[len(one["above"]) for one in history] for history in histories] == [[], [1], [1, 2]]
    assert {one["above"][0]["together"] for history in histories for one in history} == {"bridge"}


@pytest.mark.parametrize(("strategy", "options"), CASES)
def test_a_language_model_is_shown_none_of_it(strategy: str, options: dict[str, Any]) -> None:
    asked = telling("zebra")
    graphs.ask(QUESTION, strategy, model=asked, index=river(), **options)
    assert not [message for messages in asked.heard for message in messages if "zebra" in str(message.content)]
    assert all("together" not in schema.model_json_schema()["properties"] for schema in asked.schemas)


def test_where_the_model_says_nothing_it_is_empty() -> None:
    result = graphs.ask(QUESTION, model=model(), index=river())
    assert len(result.tree) == 3
    assert {branch.together for branch in result.tree.values()} == {""}


def test_a_pair_that_keeps_its_better_half_is_combined_as_before() -> None:
    pairs = iter([{"second": SECOND, "together": "bridge"}, {"second": "Which stream crosses {1}?", "together": "earlier"}])
    weak = {"sufficiency": 0, "non_redundancy": 1, "consistency": 1, "decomposition": 1, "weaker": "2"}
    asked = but(decompose=lambda slots: {"simple": False, "first": FIRST, **next(pairs)}, judge=weak)
    result = graphs.ask(QUESTION, "tor", model=asked, index=river(), max_depth=1)
    assert result.tree["0.2"].note.startswith("carried over from 0.0")
    assert result.tree["0"].together == "bridge"


@pytest.mark.parametrize(("weaker", "places"), [("1", ("0.3", "0.2")), ("2", ("0.2", "0.3"))])
def test_what_is_claimed_of_an_order_keeps_it_when_a_half_is_asked_anew(weaker: str, places: tuple[str, str]) -> None:
    pair, anew = (FIRST, "Which river runs through Rome?"), "What flows through Paris?"
    kept = pair[2 - int(weaker)]
    tries = iter([{"first": pair[0], "second": pair[1], "together": "before"}, {"first": kept, "second": anew, "together": "after"}])
    scores = iter([{"sufficiency": 0, "non_redundancy": 1, "consistency": 1, "decomposition": 1, "weaker": weaker}])
    fine = {"sufficiency": 4, "non_redundancy": 4, "consistency": 4, "decomposition": 4, "weaker": "2"}
    asked = but(decompose=lambda slots: {"simple": False, **next(tries)}, judge=lambda slots: next(scores, fine))
    tree = graphs.ask(QUESTION, "tor", model=asked, index=river(), max_depth=1).tree
    assert [tree[path].question for path in places] == [kept, anew]
    assert tree["0"].together == "before"


def test_the_json_tells_it() -> None:
    told = graphs.ask(QUESTION, model=telling(), index=river()).to_json()
    assert [row["together"] for row in told["tree"]] == ["bridge", "", ""]
