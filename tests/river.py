"""One small question with its library and a model that knows how to go about it."""

from collections.abc import Mapping
from typing import Any

from langchain_core.vectorstores import InMemoryVectorStore

from tests.fakes import FakeModel, library

QUESTION = "Which river runs through the capital of France?"
FIRST = "What is the capital of France?"
SECOND = "Which river runs through {1}?"
FINAL: dict[str, Any] = {"tau": 0.98, "reconsider": False}
"""Settings of `prune` under which neither hop is sure, so that the whole question is left to the final call."""
FINAL_TOR: dict[str, Any] = {"tau": 0.98, "max_depth": 1}
"""Those of `tor`."""
TEXTS = ("France has the capital Paris.", "The river Seine runs through Paris.", "Berlin is in Germany.", "Rome is on the river Tiber.")


def replies(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the reply of a model that splits the question in two and answers each half."""
    question = str(slots.get("question", ""))
    whole = question == QUESTION
    answer = "Paris" if "capital" in question else "Seine"
    answered = {"answer": answer, "confidence": 0.5 if whole else 0.97, "citations": [1]}
    known: dict[str, Mapping[str, Any]] = {
        "answer": answered,
        "aggregate": {"answer": "Seine", "confidence": 0.9, "citations": [1]},
        "closed_book": {"answer": "Unknown", "confidence": 0.1, "citations": []},
        "compress": {"answer": "Seine", "confidence": 0.9, "citations": [1], "explanation": "It runs through Paris [1.txt]."},
        "condense": {**answered, "answer": "Paris is the capital." if "capital" in str(slots.get("query")) else "It is the Seine."},
        "contextualize": {"question": question},
        "decide": {"action": "answer", **answered, "questions": [], "entities": []},
        "decompose": {"simple": not whole, "first": FIRST if whole else "", "second": SECOND if whole else ""},
        "entities": {"entities": ["Seine"]},
        "filter": _filtered(),
        "finalize": {"answer": "Seine", "confidence": 0.9, "citations": [1], "settled_by": "agreement"},
        "map_report": {"points": ["80 | 1 | The Seine runs through Paris."]},
        "reduce": {"answer": "Seine", "points": [], "confidence": 0.9, "citations": [1]},
        "judge": {"sufficiency": 4, "non_redundancy": 4, "consistency": 5, "decomposition": 4, "weaker": "1"},
        "plan": {"primary": question, "sub_queries": ["capital France", "river Paris"], "keywords": ["Seine"], "expected": ["a river"]},
        "rubric": {"verdict": "VALID", "score": 5, "reasons": "both are needed"},
        "summarize": {"answer": "The Seine is a river.", "confidence": 0.5, "citations": [1]},
    }
    if prompt == "decide" and whole:
        split = {"action": "decompose", "answer": "", "confidence": 0, "citations": [], "entities": []}
        return {**split, "questions": [FIRST, SECOND]}
    if prompt in ("next_question", "follow_up", "search_or_answer"):
        script = [FIRST, SECOND.replace("{1}", "Paris"), ""]
        following = script[len(slots["history"])]
        reply = {"done": not following, "question": following}
        return reply if prompt == "next_question" else {**reply, "answer": "" if following else "Seine", "confidence": 0.9}
    if prompt == "next_thought":
        thoughts = ["The capital of France is Paris.", "The river Seine runs through Paris.", "So the answer is: Seine."]
        return {"sentence": thoughts[len(slots["sentences"])], "confidence": 0.9}
    return known[prompt]


def _filtered() -> dict[str, Any]:
    return {
        "relevant": [1, 2],
        "facts": ["The Seine runs through Paris."],
        "sources": [],
        "is_sufficient": True,
        "relevance": 0.9,
        "suggested": "",
    }


def model(**changes: Any) -> FakeModel:
    """Make the model; `changes` are fields of the fake."""
    return FakeModel(**{"replies": replies, "logprobs": True, **changes})


def but(**changes: Any) -> FakeModel:
    """Make the model with other replies: a dict to merge, or a function of the slots, by prompt name."""

    def changed(prompt: str, slots: Mapping[str, Any]) -> Any:
        change = changes.get(prompt)
        if callable(change):
            return change(slots)
        return {**replies(prompt, slots), **change} if isinstance(change, Mapping) else change or replies(prompt, slots)

    return model(replies=changed)


def river() -> InMemoryVectorStore:
    """Make the library."""
    return library(*TEXTS)
