"""What a cold process loads: while the model is asked its first, once, and not out of the question's budget of seconds."""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.embedded.extractive import model as extractive
from ramify.nodes import init_tree
from ramify.nodes.asking import budget
from ramify.tools import demo
from ramify.tools.errors import IndexingError
from ramify.tools.index import Index, manifest
from ramify.tools.index.build import IndexStore
from ramify.tools.models import _clients as clients
from ramify.tools.models import clear_cache, named, server_info
from ramify.tools.search import searcher as search
from tests.embeddings import WordEmbeddings
from tests.graphs.agents import thinker
from tests.graphs.faulty_servers import PROTOCOLS, faulty
from tests.river import QUESTION, TEXTS, model, replies, river
from tests.tools.fakes import WordEncoder

SEARCHING = [name for name in graphs.STRATEGIES if name not in {"closed-book", "global"}]
"""`global` reads the reports of a graph, which a plain index does not have."""
MODEL_FIRST = ["tor", "chain", "self-ask", "react", "iterative"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index that no run has opened."""
    Index.from_texts(list(TEXTS), WordEmbeddings(), [{"source": f"{n}.txt"} for n in range(len(TEXTS))], path=tmp_path / "index")
    return tmp_path / "index"


@pytest.fixture
def opening(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The folders opened without an embedding named, in order."""
    opened: list[Path] = []
    really = Index.open

    def fake(home: IndexStore) -> Index:
        opened.append(Path(home.where))
        return really(home, WordEmbeddings())

    monkeypatch.setattr(Index, "open", fake)
    yield opened
    in_the_background()


def in_the_background() -> None:
    """Wait for what was begun in the background."""
    search._background.submit(int).result()


class Slow(WordEncoder):
    """An encoder that has to be loaded before it can encode."""

    def __init__(self) -> None:
        super().__init__()
        self.loading = threading.Event()

    @property
    def loaded(self) -> bool:
        return self.loading.is_set()

    def load(self) -> None:
        self.loading.set()


@dataclass
class Clock:
    """A clock that goes only when it is told to."""

    now: float = 1_000_000.0

    def time(self) -> float:
        return self.now

    perf_counter = time

    def passes(self, seconds: float) -> float:
        self.now += seconds
        return seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of budgets; nothing is loaded in the background, so that what passes when is no matter of chance."""
    clock = Clock()
    for module in (init_tree, budget, search, named, server_info):
        monkeypatch.setattr(module, "time", SimpleNamespace(time=clock.time, perf_counter=clock.time, monotonic=clock.time))
    monkeypatch.setattr(init_tree, "warm_soon", lambda index: None)
    return clock


# While the model is asked


@pytest.mark.parametrize("strategy", MODEL_FIRST)
def test_the_index_is_opened_while_the_model_is_asked(strategy: str, folder: Path, opening: list[Path]) -> None:
    began = threading.Event()
    really = Index.open
    Index.open = lambda home: (began.set(), really(home))[1]  # type: ignore[method-assign, assignment]  # `opening` puts it back

    def waiting(prompt: str, slots: Mapping[str, Any]) -> Any:
        assert began.wait(20), "the model waits for an opening that begins only after its reply"
        return replies(prompt, slots)

    result = graphs.ask(QUESTION, strategy, model=thinker(replies=waiting), index=str(folder))
    assert result.answer == "Seine"
    assert opening == [folder], "opened once"


@pytest.mark.parametrize("strategy", ["naive", "prune", "tor"])
def test_questions_open_the_demo_once_and_read_its_files_no_more(strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(TEXTS)), encoding="utf-8")
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(demo, "demo_corpus", lambda: corpus)
    opening: list[str] = []
    reading: list[Path] = []
    really, sha256 = Index.open, manifest.file_sha256
    monkeypatch.setattr(Index, "open", lambda home: (opening.append(home.where), really(home))[1])
    first = graphs.ask(QUESTION, strategy, model=thinker(), index="demo")
    in_the_background()
    for module in (manifest, demo):
        monkeypatch.setattr(module, "file_sha256", lambda path: (reading.append(path), sha256(path))[1])
    again = graphs.ask(QUESTION, strategy, model=thinker(), index="demo")
    in_the_background()
    assert (again.answer, again.citations) == (first.answer, first.citations)
    assert (len(opening), reading) == (1, [])


@pytest.mark.parametrize("strategy", MODEL_FIRST)
def test_the_encoder_is_loaded_while_the_model_is_asked(strategy: str) -> None:
    encoder = Slow()
    index = Index.from_texts(list(TEXTS), encoder)

    def waiting(prompt: str, slots: Mapping[str, Any]) -> Any:
        assert encoder.loading.wait(20), "the model waits for an encoder that is loaded only after its reply"
        return replies(prompt, slots)

    assert graphs.ask(QUESTION, strategy, model=thinker(replies=waiting), index=index).answer == "Seine"


async def test_questions_asked_side_by_side_open_it_once(folder: Path, opening: list[Path]) -> None:
    asked = (graphs.ask_async(QUESTION, strategy, model=model(), index=str(folder)) for strategy in SEARCHING)
    await asyncio.gather(*asked)
    assert opening == [folder]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("strategy", SEARCHING)
def test_an_index_that_is_not_there_is_reported_by_the_search(strategy: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(IndexingError, match="there is no index"):
        graphs.ask(QUESTION, strategy, model=model(), index=str(tmp_path / "nowhere"))
    in_the_background()
    assert caplog.records == []


def test_a_wiring_that_searches_nothing_loads_nothing(folder: Path, opening: list[Path]) -> None:
    for chat in (model(), "extractive"):
        result = graphs.ask(QUESTION, "closed-book", model=chat, index=str(folder))
        assert result.usage.loading_s == 0.0
    in_the_background()
    assert opening == []


# Not out of the budget


@pytest.mark.parametrize("strategy", SEARCHING)
def test_loading_is_no_part_of_the_seconds(strategy: str, folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    really = Index.open
    monkeypatch.setattr(Index, "open", lambda path: (clock.passes(1000), really(path, WordEmbeddings()))[1])
    free = graphs.ask(QUESTION, strategy, model=model(), index=river())
    result = graphs.ask(QUESTION, strategy, model=model(), index=str(folder), max_seconds=60)
    assert result.stopped_by == "finished"
    assert result.usage.llm_calls == free.usage.llm_calls
    assert (result.usage.loading_s, free.usage.loading_s) == (1000.0, 0.0)
    again = graphs.ask(QUESTION, strategy, model=model(), index=str(folder), max_seconds=60)
    assert again.usage.loading_s == 0.0, "all is there now"


@pytest.mark.parametrize("strategy", [name for name in SEARCHING if name not in ("naive", "split")])
def test_the_work_is(strategy: str, clock: Clock) -> None:
    def slowly(prompt: str, slots: Mapping[str, Any]) -> Any:
        clock.passes(1000)
        return replies(prompt, slots)

    result = graphs.ask(QUESTION, strategy, model=thinker(replies=slowly), index=river(), max_seconds=60)
    assert (result.stopped_by, result.usage.llm_calls) == ("seconds", 1)


def test_loading_the_reader_is_no_part_of_them_either(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    really = extractive.load_models
    monkeypatch.setattr(extractive, "load_models", lambda large: (really(large), clock.passes(1000))[1])
    clear_cache()
    try:
        result = graphs.ask(QUESTION, "naive", model="extractive", index=river(), max_seconds=60)
    finally:
        clear_cache()
    assert (result.stopped_by, result.usage.llm_calls, result.usage.loading_s) == ("finished", 1, 1000.0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("strategy", ["naive", "closed-book"])
def test_loading_a_client_is_no_part_of_them_either(protocol: str, strategy: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first question of a process waits for: the import of the client, its certificates."""
    client = "ollama_client" if protocol == "ollama" else "provider_client"
    really = getattr(clients, client)
    monkeypatch.setattr(clients, client, lambda *given: (clock.passes(1000), really(*given))[1])
    with faulty(protocol, lambda number, name: None) as server:
        first, second = (graphs.ask(QUESTION, strategy, index=river(), max_seconds=60, style="short", **server.options) for _ in range(2))
    assert (first.stopped_by, first.usage.llm_calls, first.usage.loading_s) == ("finished", 1, 1000.0)
    assert second.usage.loading_s == 0.0
