"""Reranking by real servers: llama.cpp with the reader's relevance head, and the reader by HTTP, through search and evaluation."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[4]))  # benchmarks/ is not installed

from plugins.lab.benchmarks.rerank_server import serve, start_llama, write_relevance
from plugins.lab.tests.conftest import data
from ramify import graphs
from ramify.embedded.reader.reading import SMALL, collate_pairs, encode_pairs
from ramify.embedded.relevance import rank_values
from ramify.lab.plan import RunOptions
from ramify.lab.run import execute
from ramify.stores.rerank_server import reranker_at
from ramify.tools.errors import ModelError

__all__ = ["data"]

QUERY = "Where does the Vistula flow?"
TEXTS = ["Marie Curie was a physicist.", "The Vistula flows through Warsaw, Kraków and Toruń.", "Ships pass the canal at night."]


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Serve with llama.cpp until the process ends; return the address."""
    path = tmp_path_factory.mktemp("reranker") / "relevance.gguf"
    write_relevance(path)
    server = start_llama(path)
    _KEPT.append(server)
    return f"{server.listening_address}/v1/rerank"


_KEPT: list[object] = []


@pytest.fixture
def reader() -> Iterator[str]:
    """Serve the reader by HTTP; return the address."""
    with serve(rank_values, 0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/rerank"
        server.shutdown()


def own_values() -> list[float]:
    """Return the relevance that the network computes itself, with one segment, as llama.cpp has it."""
    batch = collate_pairs(encode_pairs([QUERY] * len(TEXTS), TEXTS))
    batch.types.zero_()
    with torch.inference_mode():
        values: list[float] = SMALL.load()(batch).relevance.tolist()
    return values


def test_llama_cpp_gives_the_scores_of_the_network(llama: str) -> None:
    ranker = reranker_at(f"any@{llama}")
    assert ranker.load() > 0
    assert ranker.rank_values(QUERY, TEXTS) == pytest.approx(own_values(), abs=0.3)


def test_llama_cpp_takes_texts_as_well_as_documents_and_cuts_what_is_too_long(llama: str) -> None:
    ranker = reranker_at(llama)
    long = TEXTS[1] + " It rained." * 2000
    relevant, other, cut = ranker.rank_values(QUERY, [TEXTS[1], TEXTS[0], long])
    assert min(relevant, cut) > other
    with pytest.raises(ModelError, match="too large"):
        ranker.rank_values("Where? " * 1000, TEXTS)


@pytest.mark.parametrize("strategy", ["naive", "prune"])
def test_a_question_is_answered_from_what_llama_cpp_ranked(llama: str, strategy: str) -> None:
    question = "Who invented the ballpoint pen?"
    ranked = graphs.ask(question, strategy, model="extractive", rerank=llama, rerank_k=5, k=3)
    assert "Bíró" in ranked.answer
    assert len(ranked.tree["0"].evidence) == 3


def test_an_evaluation_has_the_figures_of_each_reranker(llama: str, reader: str, data: Path, tmp_path: Path) -> None:
    wanted = RunOptions(
        datasets=(str(data),),
        strategies=(),
        out=tmp_path / "run",
        retrieval_only=True,
        limit=3,
        sweeps={"rerank": ["reader", reader, llama]},
    )
    found = {(row["variant"], row["id"]): row["retrieved"] for row in execute(wanted)}
    for number in ("q0", "q1", "q2"):
        assert found[f"rerank={reader}", number] == found["rerank=reader", number], "the same model gives the same order by HTTP"
        assert sorted(found[f"rerank={llama}", number]) == sorted(found["rerank=reader", number])
