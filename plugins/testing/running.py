"""Run the tests of a corpus: ask only what a change can touch, judge each answer, and compare it with the last one that was right.

A question is not asked again if

1. strategy, settings, model, the embedded networks, the encoder, the languages of the index and the version of Ramify are the same,
2. each of its searches, repeated now, returns the same passages in the same order with the same scores, and
3. it read nothing else of the index, or the whole index is the same.

The first search depends on the question alone, and each later one on what was found before and on what the model said of it. So with a
model that answers the same prompt in the same way, the same searches with the same results have the same answer.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Literal

from ramify.graphs.choice import choose_strategy
from ramify.graphs.run import ask_async, blocking, failure_reason
from ramify.graphs.strategies import configure, own_options
from ramify.nodes.asking.ask import current_model
from ramify.nodes.settings import Settings
from ramify.testing.differences import Difference, first_difference, is_moved, sentence_changes
from ramify.testing.expectations import Expectation, Expectations
from ramify.testing.stored_results import Record, ResultsFile, Searched, Stored, digest, found_digests, make_record
from ramify.testing.verifying.sources import stands_in
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.index.manifest import file_sha256
from ramify.tools.models.gguf import GGUF, find_gguf
from ramify.tools.models.gguf_adapter import split_adapter
from ramify.tools.search.recording import RecordedSearch, record_searches
from ramify.tools.search.searcher import digest_of, find_passages, languages_of, require_finished, warm

_NEAREST = 5
"""Passages in which a sentence is looked for: the nearest ones to it."""
Status = Literal["passed", "unchanged", "moved", "failed", "error"]
HOLDS: frozenset[Status] = frozenset({"passed", "unchanged", "moved"})


@dataclass(frozen=True)
class Outcome:
    """What came of a test."""

    test: Expectation
    status: Status
    """unchanged: not asked, because nothing that it depends on has changed; moved: the answer holds, and rests on other passages."""
    record: Record | None = None
    """The result; None where the question could not be asked."""
    before: Record | None = None
    """The last result that was right before this run."""
    error: str = ""
    asked: int = 0
    """How often it was asked in this run."""
    calls: int = 0
    """Model calls of this run."""
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        """Return whether the test passes."""
        return self.status in HOLDS

    @property
    def difference(self) -> Difference | None:
        """Return the first hop whose answer changed since the last right result; None if none did, or there is no such result."""
        return first_difference(self.before, self.record) if self.before and self.record else None

    def change_lines(self) -> list[str]:
        """Return what changed since the last right result, in words: the first hop that flipped, else the sentences cited."""
        if not (self.before and self.record):
            return []
        if self.difference is not None:
            return self.difference.lines(self.record.gone)
        return sentence_changes(self.before.sentences, self.record.sentences, self.record.gone)


@dataclass
class TestRun:
    """The tests of a file over an index; `options` are those of `ask` for all of them."""

    __test__ = False  # pytest collects no class of this name

    expectations: Expectations
    results: ResultsFile
    options: Mapping[str, Any]
    strategy: str | None = None
    asks_all: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Options of the tests whose strategy has them; those of the file and `options` come first."""
    slot: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    """Held while a question is asked."""
    outcomes: list[Outcome] = field(default_factory=list)

    def run(self, tests: Sequence[Expectation], on_outcome: Callable[[Outcome], None] = lambda outcome: None) -> list[Outcome]:
        """Run tests in order and return what came of them; results are stored one by one, so that an interrupted run can go on.

        UsageError for a setting or a strategy that does not exist.
        """
        return blocking(self.run_async(tests, on_outcome))

    def select(self, text: str = "", last_failed: bool = False) -> list[Expectation]:
        """Return the tests whose question or note contains a text; with `last_failed`, those that did not hold the last time."""
        found = [test for test in self.expectations.tests if text.casefold() in f"{test.question}\n{test.note}".casefold()]
        return [test for test in found if not last_failed or self._stored(test).failed]

    async def run_async(self, tests: Sequence[Expectation], on_outcome: Callable[[Outcome], None]) -> list[Outcome]:
        """Do the same in an event loop."""
        for test in tests:
            outcome, stored = await self._run_test(test), self._stored(test)
            if outcome.record is None:
                self.results.put_error(test.question, outcome.error)
            elif outcome.asked or outcome.record != stored.latest or stored.error:
                self.results.put(test.question, outcome.record)
            self.outcomes.append(outcome)
            on_outcome(outcome)
        return self.outcomes

    def _stored(self, test: Expectation) -> Stored:
        return self.results.results.get(test.question, Stored())

    async def _run_test(self, test: Expectation) -> Outcome:
        began, stored = time.perf_counter(), self._stored(test)
        strategy, options, settings = await self.how(test)
        try:
            conditions = await asyncio.to_thread(describe_conditions, strategy, options, settings, self.repetition(test))
            if not self.asks_all and stored.latest and await is_unchanged(stored.latest, conditions, settings):
                record = judged_again(test, stored.latest)
                return Outcome(
                    test, "failed" if record.objections else "unchanged", record, stored.right, seconds=time.perf_counter() - began
                )
            async with self.slot():
                record, calls = await self._ask(test, strategy, options, conditions, settings)
            if stored.right is not None and (record.objections or is_moved(stored.right, record)):
                record = record.model_copy(update={"gone": await find_gone(stored.right, settings)})
        except UsageError:
            raise
        except RamifyError as error:
            return Outcome(test, "error", None, stored.right, str(error), seconds=time.perf_counter() - began)
        moved = stored.right is not None and is_moved(stored.right, record)
        status: Status = "failed" if record.objections else "moved" if moved else "passed"
        return Outcome(test, status, record, stored.right, "", record.asked, calls, time.perf_counter() - began)

    async def how(self, test: Expectation) -> tuple[str, dict[str, Any], Settings]:
        """Return strategy, options and settings of a test: its own first, then those of the command line, then those of the file."""
        common = self.expectations
        filter = {**common.filter, **(self.options.get("filter") or {}), **test.filter}
        options = {**common.settings, **self.options, **test.settings, **({"filter": filter} if filter else {})}
        strategy = test.strategy or self.strategy or common.strategy
        if strategy is None:
            strategy = await asyncio.to_thread(choose_strategy, {**self.defaults, **options})
        options = {**own_options(strategy, self.defaults), **options}
        return strategy, options, configure(strategy, options)[1]

    def repetition(self, test: Expectation) -> list[Any]:
        """Return how often a test is asked and how many answers must hold, with what it expects if that is more than one."""
        asked = test.repeat or self.expectations.repeat or 1
        needed = min(test.pass_if or self.expectations.pass_if or asked, asked)
        return [asked, needed, test.model_dump() if asked > 1 else None]

    async def _ask(
        self, test: Expectation, strategy: str, options: Mapping[str, Any], conditions: str, settings: Settings
    ) -> tuple[Record, int]:
        """Ask a question as often as it is to be asked; return one of the results, a right one if enough are, and the model calls."""
        asked, needed, _ = self.repetition(test)
        records, calls = [], 0
        for _ in range(asked):
            index_digest = await asyncio.to_thread(digest_of, settings.index)  # before it is read: it may change meanwhile
            with record_searches() as searches:
                result = await ask_async(test.question, strategy, **options)
            if problem := failure_reason(result):
                raise RamifyError(problem, "run the tests again when the model can be reached")
            calls += result.usage.llm_calls
            depends = "" if result.stopped_by == "seconds" else conditions  # what is done in a time can be another time more
            record = make_record(result, searches, depends, index_digest)
            objections = test.objections(record.answer, record.text, record.names)
            records.append(record.model_copy(update={"objections": objections}))
        right = sum(not record.objections for record in records)
        passes = right >= needed
        record = next(record for record in records if bool(record.objections) != passes)
        if not passes and asked > 1:
            record = record.model_copy(update={"objections": [*record.objections, f"{right} of {asked} answers hold, {needed} must"]})
        return record.model_copy(update={"right": right, "asked": asked}), calls


def judged_again(test: Expectation, record: Record) -> Record:
    """Return a stored result judged by what is expected now; of several answers, the verdict is kept."""
    if record.asked > 1:
        return record
    objections = test.objections(record.answer, record.text, record.names)
    return record.model_copy(update={"objections": objections, "right": int(not objections)})


def last_outcomes(expectations: Expectations, results: ResultsFile) -> list[Outcome]:
    """Return what came of the tests the last time, judged by what is expected now; of those that have been run."""
    outcomes = []
    for test in expectations.tests:
        stored = results.results.get(test.question, Stored())
        record = judged_again(test, stored.latest) if stored.latest else None
        status: Status = "error" if stored.error else "failed" if record and record.objections else "passed"
        if stored.error or record:
            outcomes.append(Outcome(test, status, record, stored.right, stored.error))
    return outcomes


_ELSEWHERE = ("index", "model", "adapter", "base_url")
"""Settings that conditions describe by the index's contents and the model's name, of which an adapter's hash is a part."""


def describe_conditions(strategy: str, options: Mapping[str, Any], settings: Settings, repetition: Sequence[Any]) -> str:
    """Return a digest of all but the index's contents that an answer depends on; blocking."""
    given = {name: value for name, value in options.items() if name not in _ELSEWHERE}
    name = current_model(settings).name
    index, _ = warm(settings.index)
    require_finished(index)
    described = {
        "ramify": version("ramify-rag"),
        "networks": _networks_digest(),
        "strategy": strategy,
        "options": given,
        "settings": settings.model_dump(mode="json", exclude={*_ELSEWHERE}),
        "model": [name, _file_digest(name.removeprefix(GGUF)) if name.startswith(GGUF) else ""],
        "languages": sorted(languages_of(index)),
        "repetition": repetition,
    }
    return digest(described)


@cache
def _file_digest(name: str) -> str:
    return file_sha256(find_gguf(split_adapter(name)[0])[0])


@cache
def _networks_digest() -> str:
    """Return a digest of the weights of the embedded networks."""
    digests = hashlib.sha256()
    for package in ("ramify.tools", "ramify.embedded.extractive", "ramify.embedded.reader", "ramify.embedded.splitting"):
        for file in sorted(files(package).iterdir(), key=lambda file: file.name):
            if file.name.endswith(".safetensors"):
                digests.update(file.name.encode() + file.read_bytes())
    return digests.hexdigest()


async def is_unchanged(record: Record, conditions: str, settings: Settings) -> bool:
    """Return whether a question would be answered as before: see the rule above."""
    if not record.conditions or record.conditions != conditions:
        return False
    if record.whole_index and record.whole_index != await asyncio.to_thread(digest_of, settings.index):
        return False
    repeated = [await _repeat(search, settings) for search in record.searches]
    return found_digests(repeated) == [search.found for search in record.searches]


async def find_gone(record: Record, settings: Settings) -> list[str]:
    """Return the sentences that a result rests on and that no passage has any more."""
    rests_on = {sentence.text for hop in record.hops for sentence in hop.sentences} | {sentence.text for sentence in record.sentences}
    sentences = sorted(filter(None, rests_on))
    found = await find_passages(settings.index, sentences, k=_NEAREST) if sentences else []
    return [
        sentence
        for sentence, passages in zip(sentences, found, strict=True)
        if not any(stands_in(passage.text, sentence) for passage in passages)
    ]


async def _repeat(search: Searched, settings: Settings) -> RecordedSearch:
    found = await find_passages(settings.index, search.queries, **search.how)
    return RecordedSearch(tuple(search.queries), search.how, found)
