"""A perfect reader: a model that answers every prompt of the toolkit from a table of what a capable one would say of a question.

It reads only what it is shown: a fact counts where its passage, or a finding that tells it, stands in the prompt.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ramify.prompts.prompt import NO_ANSWER, Finding
from ramify.prompts.worked_examples import finding
from tests.fakes import FakeModel

UNKNOWN = "Unknown"
SURE = 0.98


@dataclass(frozen=True)
class Fact:
    """The answer to a question that asks for one thing, and the text that tells it."""

    answer: str
    text: str
    confidence: float = SURE
    part_of: str = ""
    """What has to be said of the question above, because another bears the same name."""


@dataclass(frozen=True)
class Split:
    """How a question is divided: the second part may have {1}; `how` brings two answers together, where the second is not the answer."""

    first: str
    second: str
    how: Callable[[str, str], str] | None = None


@dataclass(frozen=True)
class Shape:
    """A question with all that a perfect reader needs, and what has to come of it."""

    name: str
    question: str
    answer: str
    facts: Mapping[str, Fact]
    splits: Mapping[str, Split] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By question: what has to be looked up for it, because its own words find nothing."""
    besides: tuple[str, ...] = ()
    """Texts that are like the others and tell nothing of it."""
    cannot: Mapping[str, str] = field(default_factory=dict)
    """By the beginning of a wiring's name: why it cannot express the shape."""

    @property
    def texts(self) -> list[str]:
        """All texts, each once."""
        return list(dict.fromkeys([*(fact.text for fact in self.facts.values()), *self.besides]))


@dataclass(frozen=True)
class Told:
    """An answer with the texts that it rests on, and how sure it is."""

    answer: str
    texts: tuple[str, ...]
    confidence: float = SURE


class Reader:
    """What the perfect reader says to a prompt with its slots."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def __call__(self, prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        """Reply to a prompt."""
        return getattr(self, prompt)(slots)  # type: ignore[no-any-return]

    def atomic(self, slots: Mapping[str, Any]) -> Told | None:
        """Read the answer to a question that asks for one thing out of the passages."""
        fact = self.shape.facts.get(slots["question"])
        above = str(slots.get("above", ""))
        if fact is None or not shows(slots["passages"], fact.text) or (fact.part_of and fact.part_of not in above + slots["question"]):
            return None
        return Told(fact.answer, (fact.text,), fact.confidence)

    def answer(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return said(self.atomic(slots), slots["passages"])

    def decide(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        question, told = slots["question"], self.atomic(slots)
        nothing: dict[str, Any] = {"answer": "", "confidence": 0, "citations": [], "questions": [], "entities": []}
        if told is None and (split := self.shape.splits.get(question)):
            return {**nothing, "action": "decompose", "questions": [split.first, split.second]}
        if told is None and (names := self.shape.names.get(question)):
            return {**nothing, "action": "entities", "entities": list(names)}
        return {**nothing, "action": "answer", **said(told, slots["passages"])}

    def decompose(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        split = self.shape.splits.get(slots["question"])
        return {"simple": split is None, "first": split.first if split else "", "second": split.second if split else ""}

    def entities(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"entities": list(self.shape.names.get(slots["question"], ()))}

    def summarize(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        facts = [fact for fact in self.shape.facts.values() if slots["entity"] in fact.text and shows(slots["passages"], fact.text)]
        return said(Told(facts[0].text, (facts[0].text,)) if facts else None, slots["passages"])

    def rubric(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"reasons": "", "score": 5, "verdict": "VALID"}

    def judge(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        known = [not slots[half].startswith(UNKNOWN) for half in ("first_answer", "second_answer")]
        weaker = "neither" if all(known) else str(known.index(False) + 1)
        return {"sufficiency": 5 * sum(known) / 2, "non_redundancy": 5, "consistency": 5, "decomposition": 5, "weaker": weaker}

    def finalize(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        told = self.solve(slots["question"], slots["findings"], slots["passages"])
        return {**said(told, slots["passages"]), "settled_by": "agreement"}

    def aggregate(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return said(self.solve(slots["question"], slots["findings"], slots["passages"]), slots["passages"])

    def next_question(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        history = slots["history"]
        for question in self.in_order(slots["question"], history):
            if question not in {finding["question"] for finding in history}:
                return {"done": False, "question": question}
        return {"done": True, "question": ""}

    def follow_up(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        following = self.next_question(slots)
        told = self.solve(slots["question"], slots["history"], []) if following["done"] else None
        return {**following, "answer": told.answer if told else UNKNOWN, "confidence": SURE}

    def search_or_answer(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        """Go on as with follow-up questions, but look up names where a search gave nothing."""
        searched = {finding["question"] for finding in slots["history"]}
        lost = [f["question"] for f in slots["history"] if f["answer"] == NO_ANSWER]
        names = [name for question in lost for name in self.shape.names.get(question, ()) if name not in searched]
        told = self.solve(slots["question"], slots["history"], [])
        return {"done": False, "question": names[0], "answer": ""} if names and told is None else self.follow_up(slots)

    def condense(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        query, facts = slots["query"], self.shape.facts
        above = slots["question"] + query
        found = [facts[query]] if query in facts else [fact for fact in facts.values() if query in fact.text]
        shown = [fact for fact in found if shows(slots["passages"], fact.text) and fact.part_of in above + str(slots["history"])]
        return said(Told(shown[0].text, (shown[0].text,), shown[0].confidence) if shown else None, slots["passages"])

    def next_thought(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        """Say the next fact that the passages tell, or what is to be found; at last the answer."""
        told = self.solve(slots["question"], [], slots["passages"])
        if told is not None and all(text in slots["sentences"] for text in told.texts):
            return {"sentence": f"So the answer is: {told.answer}", "confidence": SURE}
        facts = [fact for fact in self.shape.facts.values() if shows(slots["passages"], fact.text)]
        history = [
            finding("0.0", question, fact.answer, SURE) for question, fact in self.shape.facts.items() if fact.text in slots["sentences"]
        ]
        wanted = [question for question in self.in_order(slots["question"], history) if question != slots["question"]]
        names = [name for question in (*wanted, slots["question"]) for name in self.shape.names.get(question, ())]
        sentences = [*(fact.text for fact in facts), *wanted, *names]
        return {"sentence": next((one for one in sentences if one not in slots["sentences"]), ""), "confidence": SURE}

    def in_order(self, question: str, history: list[Finding]) -> list[str]:
        """List the simple questions to ask one after another, as far as their answers are known."""
        split = self.shape.splits.get(question)
        if split is None:
            return [question]
        first = self.in_order(split.first, history)
        told = self.solve(split.first, history, [])
        if "{1}" in split.second and told is None:
            return first
        return [*first, *self.in_order(split.second.replace("{1}", told.answer if told else ""), history)]

    def plan(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        parts = [part for split in self.shape.splits.values() for part in (split.first, split.second)]
        queries = [*parts, *(name for names in self.shape.names.values() for name in names)]
        return {"primary": slots["question"], "sub_queries": queries, "keywords": [], "expected": []}

    def filter(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        needed = {fact.text for fact in self.shape.facts.values()}
        relevant = [number for number, passage in enumerate(slots["passages"], 1) if passage["text"] in needed]
        facts = [slots["passages"][number - 1]["text"] for number in relevant]
        seen = {*facts, *slots["facts"]}
        nothing: dict[str, Any] = {"sources": [], "suggested": ""}
        return {**nothing, "relevant": relevant, "facts": facts, "is_sufficient": needed <= seen, "relevance": 0.9 if relevant else 0.1}

    def compress(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**said(self.solve(slots["question"], [], slots["passages"]), slots["passages"]), "explanation": ""}

    def solve(self, question: str, findings: list[Finding], passages: Any) -> Told | None:
        """Work out a question from findings and passages: known, read, or brought together from its parts."""
        known = [f for f in findings if f["question"] == question and f["kind"] == "question" and f["status"] != "pruned"]
        told = [f for f in known if f["answer"] not in ("", UNKNOWN, NO_ANSWER)]
        fact = self.shape.facts.get(question)
        if fact is not None and (told or shows(passages, fact.text) or self.summed(fact, findings)):
            return Told(fact.answer, (fact.text,))
        split = self.shape.splits.get(question)
        if told and not (split and split.how):
            answer = told[-1]["answer"]
            return Told(answer, tuple(fact.text for fact in self.shape.facts.values() if fact.answer == answer))
        if split is None:
            return None
        first = self.solve(split.first, findings, passages)
        if first is None:
            return None
        second = self.solve(split.second.replace("{1}", first.answer), findings, passages)
        if second is None:
            return None
        answer = split.how(first.answer, second.answer) if split.how else second.answer
        return Told(answer, (*first.texts, *second.texts), min(first.confidence, second.confidence))

    def summed(self, fact: Fact, findings: list[Finding]) -> bool:
        """Tell whether what was summed up of a name tells the fact."""
        return any(f["answer"] == fact.text for f in findings)


def shows(passages: Any, text: str) -> bool:
    """Tell whether a text is among the passages."""
    return any(passage["text"] == text for passage in passages)


def said(told: Told | None, passages: Any) -> dict[str, Any]:
    """Write an answer as a reply, with the numbers of the passages that it rests on."""
    if told is None:
        return {"answer": UNKNOWN, "confidence": 0.9, "citations": []}
    cited = [number for number, passage in enumerate(passages, 1) if passage["text"] in told.texts]
    return {"answer": told.answer, "confidence": told.confidence, "citations": cited}


def reading(shape: Shape, thrifty: bool = False) -> FakeModel:
    """Make the perfect reader of a shape."""
    return FakeModel(replies=(ThriftyReader if thrifty else Reader)(shape), logprobs=True)


class ThriftyReader(Reader):
    """A perfect reader that combines what the passages tell, and asks only for what they leave open."""

    def answer(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return said(self.read(slots), slots["passages"])

    def decide(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        told, (missing, texts) = self.read(slots), self.missing(slots)
        if told is not None or not missing:
            return super().decide(slots) if told is None else {**super().decide(slots), "action": "answer", **self.answer(slots)}
        cited = said(Told("", texts), slots["passages"])
        return {**cited, "confidence": 0, "action": "decompose", "questions": missing, "entities": []}

    def decompose(self, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        if "passages" not in slots:
            return super().decompose(slots)
        (first, *second), texts = self.missing(slots)[0] or [""], self.missing(slots)[1]
        cited = said(Told("", texts), slots["passages"])["citations"]
        return {"simple": not first, "first": first, "second": "".join(second), "citations": cited}

    def read(self, slots: Mapping[str, Any]) -> Told | None:
        """Read the answer out of the passages alone, however many facts it takes."""
        return self.atomic(slots) or (self.solve(slots["question"], [], slots["passages"]) if self.missing(slots) == ([], ()) else None)

    def missing(self, slots: Mapping[str, Any]) -> tuple[list[str], tuple[str, ...]]:
        """List the sub-questions that the passages leave open, and the texts that tell the others."""
        split = self.shape.splits.get(slots["question"])
        if split is None:
            return [], ()
        first = self.solve(split.first, [], slots["passages"])
        second = split.second.replace("{1}", first.answer) if first else split.second
        last = None if "{1}" in second else self.solve(second, [], slots["passages"])
        if first and last:
            return [], ()
        texts = (*(first.texts if first else ()), *(last.texts if last else ()))
        return [question for question, told in ((split.first, first), (second, last)) if told is None], texts
