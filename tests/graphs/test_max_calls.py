"""The most model calls against the figures of the papers, and against runs that grow as far as they can."""

from collections.abc import Mapping
from typing import Any

import pytest

from ramify.graphs.run import ask_async
from ramify.graphs.strategies import STRATEGIES, MaxCalls, Strategy, configure, describe_max_calls, max_calls
from tests.fakes import FakeModel, library

PAPER = {"redecompositions": 0, "dependent": False}
INDEPENDENT = {"dependent": False}
WHOLE = "Who made the first thing?"

FIGURES: list[tuple[str, dict[str, Any], tuple[int, int]]] = [
    ("tor", PAPER, (29, 15)),
    ("tor", {**PAPER, "search_root": False}, (29, 14)),
    ("tor", {**PAPER, "rubric": True}, (36, 15)),
    ("tor", {**PAPER, "judged": False}, (22, 15)),
    ("tor", {"redecompositions": 0}, (32, 15)),
    ("tor", INDEPENDENT, (50, 22)),
    ("tor", {}, (57, 29)),
    ("tor", {"search_root": False}, (57, 28)),
    ("tor", {**PAPER, "max_calls": 5}, (5, 15)),
    ("mcts", INDEPENDENT, (22, 15)),
    ("mcts", {**INDEPENDENT, "judge": "scores"}, (29, 15)),
    ("mcts", {}, (78, 43)),
    ("mcts", {"simulations": 2, "max_depth": 1}, (7, 5)),
    ("mcts", {"max_depth": 0}, (1, 1)),
    ("prune", {**INDEPENDENT, "reconsider": False, "entities": False}, (4, 7)),
    ("prune", {"reconsider": False, "entities": False}, (8, 7)),
    ("prune", INDEPENDENT, (11, 10)),
    ("prune", {}, (12, 10)),
    ("prune", {**INDEPENDENT, "max_depth": 0}, (1, 1)),
    ("prune", {**INDEPENDENT, "backtrace": "recursive"}, (13, 10)),
    ("prune", {**INDEPENDENT, "joint": False}, (13, 7)),
    ("prune", {**INDEPENDENT, "joint": False, "max_depth": 1}, (6, 3)),
    ("chain", {}, (9, 4)),
    ("ircot", {}, (9, 9)),
    ("self-ask", {}, (9, 4)),
    ("react", {}, (15, 7)),
    ("iterative", {}, (7, 13)),
    ("iterative", {"patience": 3}, (7, 10)),
    ("naive", {}, (1, 1)),
    ("closed-book", {}, (1, 0)),
]


@pytest.mark.parametrize(("strategy", "options", "figures"), FIGURES)
def test_figures(strategy: str, options: dict[str, Any], figures: tuple[int, int]) -> None:
    assert of(strategy, options) == MaxCalls(*figures)


def of(strategy: str, options: dict[str, Any]) -> MaxCalls:
    _, settings = configure(strategy, {"style": "short", **options})
    most = max_calls(strategy, settings, {key: value for key, value in options.items() if key not in type(settings).model_fields})
    assert most is not None
    return most


FULL = {"naive": 2, "closed-book": 2, "prune": 12, "tor": 57, "chain": 9, "ircot": 9, "self-ask": 9, "react": 15}
"""With a text: one call more where no other concludes the question."""


@pytest.mark.parametrize("strategy", FULL)
def test_a_text_takes_one_call_where_none_concludes_and_a_check_one_more(strategy: str) -> None:
    assert of(strategy, {"style": "full"}).calls == FULL[strategy]
    assert of(strategy, {"style": "full", "check": "model"}).calls == FULL[strategy] + 1
    assert of(strategy, {"style": "full", "model": "extractive"}).calls == of(strategy, {}).calls


def test_every_strategy_has_one() -> None:
    assert all(of(name, {}).calls > 0 for name in STRATEGIES)


def test_a_strategy_of_one_s_own_has_none_and_is_reported_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRATEGIES, "my-own", Strategy("my-own", STRATEGIES["naive"].build))
    assert max_calls("my-own", configure("my-own", {})[1]) is None
    assert describe_max_calls("my-own", {}) == "my-own: custom strategy: the number of model calls is unknown; limit it with max_calls"


def test_it_reads_as_a_sentence() -> None:
    assert str(MaxCalls(1, 1)) == "at most 1 model call and 1 search"
    assert str(MaxCalls(29, 14)) == "at most 29 model calls and 14 searches"


class Busy:
    """Replies that make as much work as they can: all splits, nothing is sure; `dependent` asks second questions that wait."""

    def __init__(self, dependent: bool = False, score: float = 5.0) -> None:
        self.dependent = dependent
        self.score = score
        self.count = 0

    def __call__(self, prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        self.count += 1
        first = f"Which thing has the number {self.count}?"
        second = f"Who made {{1}} in {self.count}?" if self.dependent else f"Who made the thing in {self.count}?"
        answer = {"answer": f"thing {self.count}", "confidence": 0.5, "citations": [1]}
        judged = dict.fromkeys(("sufficiency", "non_redundancy", "consistency", "decomposition"), self.score)
        return {
            "decompose": {"simple": False, "first": first, "second": second},
            "decide": {**answer, "answer": "", "action": "decompose", "questions": [first, second], "entities": []},
            "judge": {**judged, "weaker": "1"},
            "rubric": {"reasons": "well", "score": 5, "verdict": "VALID"},
            "finalize": {**answer, "settled_by": "agreement"},
            **{name: {"done": False, "question": first} for name in ("next_question", "follow_up", "search_or_answer")},
            "next_thought": {"sentence": first},
            "plan": {"primary": "a", "sub_queries": list("bcdefghi"), "keywords": [], "expected": []},
            "filter": filtered(self.count),
            "compress": {**answer, "explanation": "so"},
        }.get(prompt, answer)


class Wavering(Busy):
    """Replies whose judge refuses the first pair of each question and takes the second."""

    def __init__(self, dependent: bool = False) -> None:
        super().__init__(dependent)
        self.judged: set[str] = set()

    def __call__(self, prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        if prompt == "judge":
            self.score = 5.0 if slots["question"] in self.judged else 0.0
            self.judged.add(slots["question"])
        return super().__call__(prompt, slots)


class Half(Busy):
    """Replies of which every second answer is Unknown, to a judge that finds the first pair of each question insufficient."""

    def __call__(self, prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        said = super().__call__(prompt, slots)
        if prompt == "judge":
            return {**said, "sufficiency": 0, "weaker": "neither"}
        return {**said, "answer": "Unknown"} if prompt == "answer" and "Who made" in slots["question"] else said


class Late(Busy):
    """Replies that have no answer to the first hop of the whole question; what it is split into is compared."""

    def __call__(self, prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        self.dependent = slots.get("question") == WHOLE
        said = super().__call__(prompt, slots)
        first = prompt == "answer" and slots["question"] == "Which thing has the number 1?"
        return {**said, "answer": "Unknown"} if first else said


class Doubtful(Busy):
    """Replies that split the whole question and look up two names for each part, each on second thoughts."""

    def __call__(self, prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        said = dict(super().__call__(prompt, slots))
        if prompt == "decide" and not slots["hint"]:
            return {**said, "action": "answer", "answer": f"thing {self.count}", "questions": []}
        if prompt == "decide" and slots["above"]:
            return {**said, "action": "entities", "questions": [], "entities": [f"Thing {self.count}", f"Other {self.count}"]}
        return said


def filtered(number: int) -> dict[str, Any]:
    lists: dict[str, Any] = {name: [] for name in ("facts", "sources")}
    return {**lists, "relevant": [1], "is_sufficient": False, "relevance": 0.0, "suggested": f"other words {number}"}


RUNS: list[tuple[str, dict[str, Any], Busy]] = [
    ("tor", PAPER, Busy()),
    ("tor", {**PAPER, "rubric": True}, Busy()),
    ("tor", {"redecompositions": 0, "max_depth": 2}, Late()),
    ("tor", INDEPENDENT, Wavering()),
    ("tor", {"max_depth": 2}, Wavering(dependent=True)),
    ("mcts", {**INDEPENDENT, "judge": "scores"}, Busy()),
    ("mcts", INDEPENDENT, Busy()),
    ("prune", {**INDEPENDENT, "reconsider": False, "entities": False}, Busy()),
    ("prune", INDEPENDENT, Doubtful()),
    ("prune", {}, Doubtful(dependent=True)),
    ("prune", {**INDEPENDENT, "backtrace": "recursive"}, Doubtful()),
    ("chain", {}, Busy()),
    ("ircot", {}, Busy()),
    ("self-ask", {}, Busy()),
    ("react", {}, Busy()),
    ("iterative", {"batch": 1}, Busy()),
    ("naive", {}, Busy()),
    ("closed-book", {}, Busy()),
    ("naive", {"style": "full"}, Busy()),
]


@pytest.mark.parametrize(("strategy", "options", "busy"), RUNS)
async def test_a_run_that_grows_as_far_as_it_can_reaches_it(strategy: str, options: dict[str, Any], busy: Busy) -> None:
    assert await spent(strategy, options, busy) == of(strategy, options)


@pytest.mark.parametrize(
    ("strategy", "options", "busy"),
    [
        ("tor", {"max_depth": 2}, Busy(score=0)),
        ("tor", {"max_depth": 2, "rubric": True}, Wavering()),
        ("tor", {"max_depth": 2, "redecompositions": 2, "dependent": False}, Wavering()),
        ("tor", {"max_depth": 2, "redecompositions": 2, "rubric": True}, Busy(dependent=True, score=0)),
        ("tor", {"max_depth": 3}, Late()),
        ("tor", {"max_depth": 2}, Half()),
        ("tor", {"max_depth": 2}, Half(dependent=True)),
        ("tor", {"max_depth": 3, "redecompositions": 2, "dependent": False}, Half()),
        ("tor", {"max_depth": 2, "rubric": True}, Half()),
        ("tor", {"max_depth": 3, "preset": "paper"}, Half()),
        ("tor", {"max_depth": 2}, Wavering(dependent=True)),
        ("mcts", {}, Busy(dependent=True)),
        ("mcts", {"max_depth": 1}, Busy()),
        ("mcts", {"judge": "scores"}, Late()),
        ("mcts", {"simulations": 4}, Half()),
        ("mcts", {}, Late()),
        ("prune", {"max_depth": 3}, Busy(dependent=True)),
        ("prune", {"max_depth": 3}, Doubtful(dependent=True)),
        ("prune", {"joint": False}, Busy(dependent=True)),
        ("prune", {"joint": False, "backtrace": "recursive"}, Busy(dependent=True)),
        ("prune", {"joint": False, "entities": False, "dependent": False}, Busy()),
    ],
)
async def test_no_run_goes_beyond_it(strategy: str, options: dict[str, Any], busy: Busy) -> None:
    usage, most = await spent(strategy, options, busy), of(strategy, options)
    assert all(one <= other for one, other in zip(usage, most, strict=True)), (usage, most)


async def spent(strategy: str, options: dict[str, Any], busy: Busy) -> MaxCalls:
    texts = [f"Thing {number} was made by someone in {number}." for number in range(12)]
    result = await ask_async(WHOLE, strategy, model=FakeModel(replies=busy), index=library(*texts), **{"style": "short", **options})
    usage = result.usage
    return MaxCalls(usage.llm_calls, usage.retrievals)
