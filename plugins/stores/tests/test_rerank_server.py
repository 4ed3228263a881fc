"""Reranking by HTTP: four protocols, what is sent and kept, and one clear error for a server that does not rank."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.conftest import cache, data
from plugins.stores.tests.ranking_server import PROTOCOLS, Reply, llama_cpp, ranking, tei
from ramify import graphs
from ramify.stores import rerank_server
from ramify.stores.rerank_server import KEY_VARIABLE, MAX_BATCH, reranker_at
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.passage import Passage
from ramify.tools.search.relevance import load_reranker, rerank_passages
from tests.faults import fault
from tests.river import QUESTION, model, river
from tests.studio.conftest import Ramify

__all__ = ["cache", "data"]

SECRET = "Zx9qL27vTr4Wm81pKdHs"
QUERY = "Where does the Vistula flow?"
TEXTS = ("Curie was a physicist.", "The Vistula is a river.", "The Vistula does flow where Warsaw is.")


@pytest.fixture(autouse=True)
def afresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the servers of other tests, whose ports are used again, and do not wait before a retry."""
    monkeypatch.setattr(rerank_server, "RETRY_PAUSES_S", (0.0,))
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    reranker_at.cache_clear()
    yield
    reranker_at.cache_clear()


def passages(*texts: str) -> list[Passage]:
    return [Passage(id=str(place), source=f"{place}.txt", text=text, score=0.5) for place, text in enumerate(texts)]


def order(address: str, *texts: str) -> list[str]:
    """Return the texts as they are reranked."""
    return [passage.text for passage in rerank_passages(QUERY, passages(*texts), address, len(texts))]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_protocol_is_understood(protocol: str) -> None:
    with ranking(PROTOCOLS[protocol]) as server:
        address = f"small@{server.address}" if protocol == "jina" else server.address
        assert load_reranker(address) > 0, "it is tried before the first question"
        assert load_reranker(address) == 0
        assert order(address, *TEXTS) == [*TEXTS[:0:-1], TEXTS[0]]
        assert [passage.text for passage in rerank_passages(QUERY, passages(*TEXTS), address, 1)] == [TEXTS[2]]
        assert {asked.get("model") for asked in server.asked} == {"small" if protocol == "jina" else None}
        assert len(server.clients) == 1, "the connection is kept"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_question_is_answered_from_reranked_passages(protocol: str) -> None:
    def turned(asked: dict[str, Any]) -> Reply:
        """The last is the best."""
        name, score = ("texts", "score") if protocol == "tei" else ("documents", "relevance_score")
        status, said = PROTOCOLS[protocol](asked)
        rows = [{"index": place, score: float(place)} for place in range(len(asked.get(name, ())))]
        return (status, said) if status != 200 else (200, rows if protocol == "tei" else {"results": rows})

    def evidence(**options: Any) -> list[str]:
        result = graphs.ask(QUESTION, "naive", model=model(), index=river(), k=4, **options)
        return [result.passages[key].text for key in result.tree["0"].evidence]

    with ranking(turned) as server:
        assert evidence(rerank=f"small@{server.address}") == evidence()[::-1]
        assert server.asked[-1]["query"] == QUESTION


def test_search_asks_the_server_that_is_named(ramify: Ramify, built: Path) -> None:
    with ranking(llama_cpp) as server:
        done = ramify("search", "Who was a physicist?", "--index", built, "--rerank", server.address, "--json")
    assert [hit["source"] for hit in json.loads(done.out)] == ["curie.txt", "warsaw.md"]
    assert done.err == ""


@pytest.mark.parametrize("way", [("--set",), ("--strategy", "naive", "--model", "extractive", "--sweep")])
def test_an_evaluation_measures_a_server_and_writes_no_password(ramify: Ramify, data: Path, tmp_path: Path, way: tuple[str, ...]) -> None:
    with ranking(llama_cpp) as server:
        address = server.address.replace("//", f"//me:{SECRET}@")
        done = ramify("eval", data, "--retrieval-only", "--limit", 2, *way, f"rerank={address}", "--out", tmp_path / "run")
        assert server.asked
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in (tmp_path / "run/results.jsonl").read_text().splitlines()]
    assert {row["variant"] for row in rows if row["strategy"] == "search"} >= {"", f"rerank={server.address}"}
    assert all(row["retrieval"]["recall@10"] == 1 for row in rows if row["strategy"] == "search")
    written = [
        path.read_text(encoding="utf-8") for path in (tmp_path / "run").rglob("*") if path.suffix in (".html", ".json", ".jsonl", ".md")
    ]
    assert not [text for text in (*written, done.out, done.err) if SECRET[:8] in text]


def test_many_passages_are_sent_in_batches() -> None:
    texts = [f"text {number}" for number in range(2 * MAX_BATCH + 3)] + ["where the Vistula does flow"]
    with ranking(tei) as server:
        assert order(server.address, *texts) == [texts[-1], *texts[:-1]]
    sent = [asked["texts"] for asked in server.asked if "texts" in asked]
    assert [len(batch) for batch in sent] == [MAX_BATCH, MAX_BATCH, 4]
    assert [text for batch in sent for text in batch] == texts


@pytest.mark.parametrize("protocol", ["llama.cpp", "vllm", "tei"])
def test_a_text_that_does_not_fit_into_the_window_is_cut(protocol: str) -> None:
    long = "The Vistula does flow where " + "Warsaw is. " * 5000
    with ranking(PROTOCOLS[protocol]) as server:
        assert order(server.address, TEXTS[0], long) == [long, TEXTS[0]]
        name = "texts" if protocol == "tei" else "documents"
        last = server.asked[-1][name]
    assert last[0] == TEXTS[0], "a short one is as it was"
    assert long.startswith(last[1])
    assert len(last[1]) > 1000, "no more is cut than needed"


def test_a_question_that_does_not_fit_is_an_error_and_not_a_loop() -> None:
    with ranking(lambda asked: (500, {"error": {"message": "input (900 tokens) is too large to process"}})) as server:
        with pytest.raises(ModelError, match="too large"):
            order(server.address, "x" * 100_000)
        assert len(server.asked) < 12


def rows(*pairs: tuple[Any, Any]) -> Reply:
    return 200, {"results": [{"index": place, "relevance_score": score} for place, score in pairs]}


BROKEN: dict[str, tuple[Reply, str]] = {
    "not JSON": ((200, "<html>welcome</html>"), "welcome"),
    "no results": ((200, {"data": []}), "data"),
    "a chat": ((200, {"results": "yes"}), "yes"),
    "too few": (rows((0, 1.0)), "1 of 2 texts"),
    "none": (rows(), "2 of 2 texts"),
    "twice": (rows((0, 1.0), (0, 2.0)), "index '0'"),
    "beyond": (rows((0, 1.0), (2, 2.0)), "index '2'"),
    "below": (rows((0, 1.0), (-1, 2.0)), "index '-1'"),
    "true": (rows((0, 1.0), (True, 2.0)), "index 'true'"),
    "NaN": (rows((0, 1.0), (1, float("nan"))), "NaN"),
    "infinite": (rows((0, 1.0), (1, float("inf"))), "Infinity"),
    "huge": ((200, '{"results": [{"index": 0, "relevance_score": 1' + "0" * 400 + '}, {"index": 1, "score": 1}]}'), "10000"),
    "text": (rows((0, 1.0), (1, "high")), "high"),
    "null": (rows((0, 1.0), (1, None)), "null"),
    "refused": ((400, {"error": {"message": "unknown model small"}}), "unknown model small"),
    "invalid": ((422, {"detail": [{"msg": "Field required"}]}), "Field required"),
    "failed": ((500, "out of memory"), "out of memory"),
    "not there": ((404, {"error": {"message": "File Not Found"}}), "File Not Found"),
    "no reranker": ((501, {"error": {"message": "This server does not support reranking"}}), "does not support reranking"),
    "busy": ((503, {"error": {"message": "Loading model"}}), "Loading model"),
    "long": ((400, "x" * 100_000), "xxxx"),
    "deep": ((200, "[" * 100_000), "[[["),
    "elsewhere": ((307, ""), "307"),
}


@pytest.mark.parametrize("kind", BROKEN)
@fault(
    "interfaces",
    "reranking server that refuses, or gives texts no usable scores",
    sees="one error with its remedy",
    kept="nothing is left in the order of the search instead",
    code=1,
)
def test_a_server_that_does_not_rank_is_one_clear_error(kind: str) -> None:
    reply, fact = BROKEN[kind]
    with ranking(lambda asked: reply) as server, pytest.raises(ModelError) as raised:
        load_reranker(f"small@{server.address}")
    assert fact in raised.value.what
    assert f"small at {server.address}" in raised.value.what
    assert raised.value.remedy
    assert len(str(raised.value)) < 1000
    assert len(server.asked) == (2 if kind == "busy" else 1)


def test_the_answer_is_an_error_and_not_the_order_of_the_search(ramify: Ramify, built: Path) -> None:
    answered: list[Reply] = []

    def once(asked: dict[str, Any]) -> Reply:
        answered.append(llama_cpp(asked))
        return answered[-1] if len(answered) == 1 else (500, "out of memory")

    with ranking(once) as server:
        with pytest.raises(ModelError, match="out of memory"):
            graphs.ask(QUESTION, "naive", model=model(), index=river(), rerank=server.address)
        reranker_at.cache_clear()
        done = ramify("search", "Who?", "--index", built, "--rerank", server.address)
    assert (done.code, done.out) == (1, "")
    assert "out of memory" in done.err


@pytest.mark.parametrize("kind", ["ask", "search", "eval"])
@fault("interfaces", "reranking server is not running", sees="one line that names the address", kept="nothing is searched or asked", code=1)
def test_an_unreachable_server_is_reported_before_the_first_question(ramify: Ramify, built: Path, tmp_path: Path, kind: str) -> None:
    address = "http://127.0.0.1:9/v1/rerank"
    done = {
        "ask": lambda: ramify("ask", "Who?", "--index", built, "--model", "extractive", "--set", f"rerank={address}"),
        "search": lambda: ramify("search", "Who?", "--index", built, "--rerank", address),
        "eval": lambda: ramify("eval", "demo", "--retrieval-only", "--limit", 1, "--set", f"rerank={address}", "--out", tmp_path / "run"),
    }[kind]()
    assert done.code == 1
    assert f"{address} cannot be reached" in done.err


def test_a_connection_that_the_server_closes_is_made_again() -> None:
    closed: list[bool] = []

    def closing(asked: dict[str, Any]) -> Reply:
        closed.append(len(closed) == 1)
        return (0, "") if closed[-1] else llama_cpp(asked)

    with ranking(closing) as server:
        load_reranker(server.address)
        assert order(server.address, *TEXTS)[0] == TEXTS[2]
        server.reply = lambda asked: (0, "")
        with pytest.raises(ModelError, match="broke off"):
            order(server.address, *TEXTS)


def test_a_reply_that_does_not_end_or_is_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with ranking(llama_cpp) as server:
        monkeypatch.setattr(rerank_server, "MAX_ANSWER_BYTES", 20)
        with pytest.raises(ModelError, match="more than"):
            load_reranker(server.address)
        monkeypatch.undo()
        monkeypatch.setattr(rerank_server, "TIMEOUT_S", 0.2)
        server.pause = 0.05
        with pytest.raises(ModelError, match=r"no reply within 0\.2 s"):
            load_reranker(server.address)


@pytest.mark.parametrize("status", [200, 400, 401, 500])
@pytest.mark.parametrize("place", ["environment", "password", "query", "path"])
def test_a_key_is_sent_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    if place == "environment":
        monkeypatch.setenv(KEY_VARIABLE, SECRET)
    with ranking(lambda asked: llama_cpp(asked)) as server:

        def repeating(asked: dict[str, Any]) -> Reply:
            said = f"{server.headers[-1].get('Authorization')} at {address}"
            return (status, {"error": {"message": said}}) if status != 200 else (200, said)

        address = {
            "environment": server.address,
            "password": server.address.replace("//", f"//me:{SECRET}@"),
            "query": f"{server.address}?key={SECRET}",
            "path": f"{server.address}/{SECRET}",
        }[place]
        load_reranker(address)
        server.reply = repeating
        with pytest.raises(ModelError) as raised:
            order(address, *TEXTS)
    shown = f"{raised.value} {raised.value!r} {raised.value.__cause__} {caplog.text}"
    assert not [shown for start in range(len(SECRET) - 7) if SECRET[start : start + 8] in shown]
    if place == "environment":
        assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {SECRET}"}


def test_a_key_that_cannot_be_sent_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, f"{SECRET}é\n{SECRET}")
    with ranking(llama_cpp) as server, pytest.raises(ModelError, match=KEY_VARIABLE) as raised:
        load_reranker(server.address)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "name", ["http://", "http:///v1", "a@b@http://", "http://a:0/", "http://a,http://b", "https://a b/", "@http://a b"]
)
def test_what_is_no_address_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not an address"):
        load_reranker(name)
