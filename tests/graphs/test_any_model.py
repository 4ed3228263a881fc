"""Whatever a model says, a run ends: with every branch settled, within its depth, and the answer that the model gave last, or Unknown."""

import random
from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.nodes.tree import WORKING, is_unknown
from tests.fakes import FakeModel
from tests.graphs.wirings import Wiring, cases
from tests.river import QUESTION, replies, river

WORDS = ["Paris", "Seine", "Unknown", "", "What is the capital of France?", "Which river runs through {1}?", QUESTION, "{1}", "0", "no"]
LIBRARY = river()


def wild(seed: int, malformed: float = 1 / 12, **steady: Any) -> Any:
    """Make replies that have the right form and any content but for the `steady` fields; some are malformed."""
    chance = random.Random(seed)

    def shaken(value: Any) -> Any:
        if isinstance(value, bool):
            return chance.random() < 0.3
        if isinstance(value, (int, float)):
            return chance.choice([0, 0.2, 0.96, 1])
        if isinstance(value, list):
            return [chance.choice([1, 2, 9])] if value and isinstance(value[0], int) else chance.sample(WORDS, chance.randint(0, 3))
        return chance.choice(WORDS)

    def reply(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any] | str:
        if chance.random() < malformed:
            return chance.choice(["", "I cannot do that.", '{"answer": '])
        said = replies(prompt, {**slots, "history": []})
        fixed = {
            "weaker": ["1", "2"],
            "verdict": ["VALID", "INVALID"],
            "action": ["answer", "decompose", "entities"],
            "settled_by": ["fit"],
            **{name: [value] for name, value in steady.items()},
        }
        whole = {"relevant": [1], "citations": [1], "questions": ["?"], "entities": ["?"]}
        return {key: chance.choice(fixed[key]) if key in fixed else shaken(value or whole.get(key, value)) for key, value in said.items()}

    return reply


COMBINE: set[str] = set()
"""Strategies whose answer need not be the model's last one, such as that of a vote."""


class Recorder:
    """Give the replies of another, and keep what was said last to the whole question where an answer was asked for."""

    def __init__(self, replies: Any) -> None:
        self.replies = replies
        self.last: Mapping[str, Any] | str | None = None

    def __call__(self, prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any] | str:
        said: Mapping[str, Any] | str = self.replies(prompt, slots)
        answering = isinstance(said, str) or ("answer" in said and said.get("action", "answer") == "answer")
        if answering and slots.get("question") == QUESTION:
            self.last = said
        return said


@pytest.mark.parametrize("wiring", cases(*graphs.STRATEGIES))
def test_every_run_ends_settled(wiring: Wiring) -> None:
    for seed in range(3):
        chat = FakeModel(replies=(said := Recorder(wild(seed))), logprobs=True)
        result = graphs.ask(QUESTION, wiring[0], model=chat, index=LIBRARY, **wiring[1])
        _, settings = graphs.configure(wiring[0], wiring[1])
        assert not [branch for branch in result.tree.values() if branch.status in WORKING]
        assert max(branch.depth for branch in result.tree.values()) <= getattr(settings, "max_depth", 1)
        if isinstance(said.last, Mapping):
            answer = "Unknown" if is_unknown(said.last["answer"]) else said.last["answer"]
            assert result.answer == answer or wiring[0] in COMBINE, "combined, not the model's last? Name the strategy in COMBINE"
        assert all(citation.id in result.passages for citation in result.citations)


@pytest.mark.parametrize("wiring", cases(*graphs.STRATEGIES))
def test_an_answer_that_the_model_always_gives_is_the_answer(wiring: Wiring) -> None:
    for seed in range(3):
        helps: dict[str, Any] = {"points": ["80 | 1 | Seine"]} if wiring[0] == "global" else {}
        chat = FakeModel(replies=wild(seed, malformed=0, answer="Seine", relevant=[1], citations=[1], **helps), logprobs=True)
        result = graphs.ask(QUESTION, wiring[0], model=chat, index=LIBRARY, **wiring[1])
        assert result.answer == "Seine"
        assert result.stopped_by in {"finished", "rounds"}
        assert bool(result.citations) is (wiring[0] != "closed-book")
