"""What a search for several branches leaves in the state."""

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

import ramify.graphs as graphs
from tests.river import FIRST, QUESTION, but

RIVER = "Through which city does the Seine run?"


class ScoredRetriever(BaseRetriever):
    """Return the same two documents for every query, with scores of the query."""

    scores: dict[str, tuple[float, float]]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        pairs = zip(("capital", "river"), self.scores.get(query, (0.1, 0.1)), strict=True)
        return [Document(f"About a {name}.", id=name, metadata={"score": score}) for name, score in pairs]


@pytest.mark.parametrize("pair", [(FIRST, RIVER), (RIVER, FIRST)])
@pytest.mark.parametrize("strategy", ["tor", "prune"])
def test_a_passage_keeps_the_best_score_of_the_branches_that_found_it(pair: tuple[str, str], strategy: str) -> None:
    split = {"simple": False, "first": pair[0], "second": pair[1]}
    decided = {"action": "decompose", "answer": "", "confidence": 0, "citations": [], "questions": list(pair), "entities": []}
    model = but(decompose=lambda slots: split, decide=lambda slots: decided)
    index = ScoredRetriever(scores={FIRST: (0.9, 0.2), RIVER: (0.3, 0.8)})
    result = graphs.ask(QUESTION, strategy, model=model, index=index, max_depth=1)
    assert {key: (passage.score, passage.value) for key, passage in result.passages.items()} == {"capital": (0.9, 0.9), "river": (0.8, 0.8)}
