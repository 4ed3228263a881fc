"""The queue: so many at once, in order, nobody lost; and what is stopped, by whom."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from plugins.serve.tests.conftest import INVENTOR, Serve, wait_until
from ramify.graphs.run import Result, Reviewer, Watch, ask
from ramify.serve.questions import QuestionQueue, RunningQuestion
from ramify.tools.errors import ModelError, RamifyError, UsageError
from tests.faults import fault
from tests.tools.ollama_server import Hang, Ollama


@pytest.fixture(scope="module")
def result() -> Result:
    return ask(INVENTOR, "closed-book", model="extractive")


class ControlledRuns:
    """Questions whose answers are given by the test."""

    def __init__(self, result: Result) -> None:
        self.started: list[int] = []
        self._result = result
        self._ends: dict[int, asyncio.Event] = {}

    def run(self, number: int) -> Any:
        self._ends[number] = asyncio.Event()

        async def run(watch: Watch, reviewer: Reviewer) -> Result:
            self.started.append(number)
            await self._ends[number].wait()
            return self._result

        return run

    def end(self, number: int) -> None:
        self._ends[number].set()


async def let_tasks_run() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def collect_events(asked: RunningQuestion) -> list[tuple[str, Any]]:
    return [(event.name, event.data) async for event in asked.events()]


async def test_so_many_are_answered_at_once_and_the_rest_in_order(result: Result) -> None:
    questions, runs = QuestionQueue(2), ControlledRuns(result)
    asked = [questions.submit("ada", runs.run(number)) for number in range(5)]
    readers = [asyncio.create_task(collect_events(question)) for question in asked]
    await let_tasks_run()
    assert runs.started == [0, 1]
    assert [question.position for question in asked] == [0, 0, 1, 2, 3]
    runs.end(1)
    await let_tasks_run()
    assert runs.started == [0, 1, 2]
    assert [question.position for question in asked] == [0, 0, 0, 1, 2]
    for number in (0, 2, 3, 4):
        runs.end(number)
        await let_tasks_run()
    assert runs.started == [0, 1, 2, 3, 4]
    streams = [await reader for reader in readers]
    assert [events[-1][0] for events in streams] == ["result"] * 5
    assert [data["position"] for name, data in streams[4] if name == "waiting"][-1] == 0
    assert questions.count == 0


async def test_leaving_the_queue_updates_the_positions_of_others(result: Result) -> None:
    questions, runs = QuestionQueue(1), ControlledRuns(result)
    asked = [questions.submit("ada", runs.run(number)) for number in range(4)]
    await let_tasks_run()
    assert questions.stop("ada", asked[1].id)
    await let_tasks_run()
    assert asked[1].failure is not None
    assert asked[1].failure.kind == "stopped"
    assert [question.position for question in asked] == [0, 0, 1, 2]
    runs.end(0)
    await let_tasks_run()
    assert runs.started == [0, 2]
    await questions.close()


async def test_one_that_is_stopped_before_it_could_begin_is_not_forgotten(result: Result) -> None:
    questions, runs = QuestionQueue(1), ControlledRuns(result)
    asked = questions.submit("ada", runs.run(0))
    asked.stop("its client has gone")
    assert (await collect_events(asked))[-1][0] == "error"
    assert (runs.started, questions.count) == ([], 0)


@fault("servers", "user who stops another user's question", sees="nothing is stopped", kept="the question goes on", code="404")
async def test_a_question_is_stopped_by_its_own_user_alone(result: Result) -> None:
    questions, runs = QuestionQueue(1), ControlledRuns(result)
    asked = questions.submit("ada", runs.run(0))
    await let_tasks_run()
    assert not questions.stop("ben", asked.id)
    assert not questions.stop("ada", "another")
    assert not asked.done
    assert questions.stop("ada", asked.id)
    await asked.wait()
    assert not questions.stop("ada", asked.id)


@fault(
    "servers",
    "server that is stopped with questions in its queue",
    sees="each stream ends with one event that says so",
    kept="the turns answered before",
    code=0,
)
async def test_a_closed_server_ends_all_with_a_last_event_and_takes_no_more(result: Result) -> None:
    questions, runs = QuestionQueue(1), ControlledRuns(result)
    readers = [asyncio.create_task(collect_events(questions.submit("ada", runs.run(number)))) for number in range(3)]
    await let_tasks_run()
    await questions.close()
    for reader in readers:
        name, data = (await reader)[-1]
        assert (name, data["kind"]) == ("error", "stopped")
    with pytest.raises(RamifyError, match="is being stopped"):
        questions.submit("ada", runs.run(4))


async def test_a_conversation_is_at_one_question_at_a_time(result: Result) -> None:
    questions, runs = QuestionQueue(4), ControlledRuns(result)
    questions.submit("ada", runs.run(0), "pens")
    questions.submit("ben", runs.run(1), "pens")
    with pytest.raises(UsageError, match="'pens' is still being answered"):
        questions.submit("ada", runs.run(2), "pens")
    await questions.close()


@pytest.mark.parametrize(
    ("error", "kind"),
    [(ModelError("it is gone", "start it"), "model"), (UsageError("no", "yes"), "usage"), (ValueError("odd"), "unexpected")],
)
async def test_an_error_is_the_last_event(error: Exception, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    def run(watch: Watch, reviewer: Reviewer) -> Awaitable[Result]:
        raise error

    name, data = (await collect_events(QuestionQueue(1).submit("ada", run)))[-1]
    assert (name, data["kind"]) == ("error", kind)
    assert ("a question failed" in caplog.text) is (kind == "unexpected")


def test_a_stopped_question_ends_its_stream(serve: Serve, ollama: Ollama) -> None:
    ollama.when("", Hang())
    server = serve(model="ollama:llama3.1:8b")
    with server.stream(INVENTOR, strategy="closed-book") as events:
        _, accepted = next(events)
        ollama.wait_for_calls()
        assert server.call("POST", "/stop", json={"id": accepted["id"]}).json() == {"stopped": True}
        name, data = list(events)[-1]
    assert (name, data["kind"]) == ("error", "stopped")
    assert server.call("POST", "/stop", json={"id": accepted["id"]}).json() == {"stopped": False}
    assert server.service.questions.count == 0


@fault(
    "servers",
    "browser that is closed during an answer",
    sees="nothing: its question is cancelled",
    kept="the conversation, without that turn",
    code=0,
)
def test_a_client_that_goes_away_stops_its_question(serve: Serve, ollama: Ollama) -> None:
    ollama.when("", Hang())
    server = serve(model="ollama:llama3.1:8b")
    with server.stream(INVENTOR, strategy="closed-book") as events:
        next(events)
        ollama.wait_for_calls()
        assert server.service.questions.count == 1
    wait_until(lambda: server.service.questions.count == 0)
