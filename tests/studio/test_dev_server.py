"""LangGraph Studio: the real development server, driven as Studio drives it."""

import asyncio
import re
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import InternalServerError
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

import ramify.graphs as graphs
from ramify.studio.server import app
from ramify.studio.server.langgraph_json import DESCRIPTIONS, configuration, variable, written
from ramify.tools.demo import demo_index
from tests.smollm2 import NAME, REAL, SHORT
from tests.studio.conftest import Ramify
from tests.studio.dev_server import DevServer, complaints, dev_server, free_port
from tests.tools.ollama_replies import Hang
from tests.tools.ollama_server import Ollama, serving

ROOT = Path(__file__).parent.parent.parent
QUESTION = "In which city was the inventor of the ballpoint pen born?"
SIMPLE = "In which city was László Bíró born?"
"""What one reading answers."""
CONTEXT = {"model": "extractive"}
AMBIGUOUS = "In which year was the director of Solaris born?"
"""Two films of the demo corpus are called so."""
NARROW = {"max_depth": 1, "k": 1, "mmr": 0.75}
"""One split, and one passage a branch: a branch sees one of the two films."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that runs may name as their index."""
    return Path(shutil.copytree(demo_index(), tmp_path_factory.mktemp("documents") / "index"))


@pytest.fixture(scope="module")
def ollama_port() -> int:
    """Where a model server will be that runs may name."""
    return free_port()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, index: Path, ollama_port: int) -> Iterator[DevServer]:
    """One server for these tests; whatever they did, it has nothing to complain of, and Ctrl-C ends it well."""
    options = ("--index", str(index), "--base-url", f"http://127.0.0.1:{ollama_port}")
    with dev_server(tmp_path_factory.mktemp("server"), None, *options) as running:
        yield running
    assert running.complaints() == []
    assert running.process.returncode == 0
    assert "Traceback" not in running.log().rpartition("the server has ended")[2]


OURS = f"{graphs.__path__[0]}/run.py"
THEIRS = "/home/me/ramify/.venv/lib/python3.11/site-packages/structlog/dev.py"


@pytest.mark.parametrize(
    ("line", "concerns_us"),
    [
        (f"{OURS}:12: DeprecationWarning: asyncio.get_event_loop is deprecated", True),
        (f"2026-11-01 [warning  ] {OURS}:12: UserWarning: so [py.warnings]", True),
        (f"{OURS}:12: RuntimeWarning: coroutine 'ask_async' was never awaited", True),
        ("Deserializing unregistered type ramify.nodes.tree.Branch from checkpoint.", True),
        (f"{THEIRS}:711: UserWarning: Remove `format_exc_info` from your processor chain if you want pretty exceptions.", False),
        (f"{THEIRS}:711: UserWarning: look at {OURS}", False),
        (f"{OURS} was loaded", False),
    ],
)
def test_only_what_concerns_our_code_is_complained_of(line: str, concerns_us: bool) -> None:
    assert complaints(f"before\n{line}\nafter") == ([line] if concerns_us else [])


@pytest.fixture
async def studio(server: DevServer) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server.url) as client:
        yield client


async def assistant(studio: LangGraphClient, strategy: str) -> str:
    return str((await studio.assistants.search(graph_id=strategy))[0]["assistant_id"])


async def asked(studio: LangGraphClient, strategy: str, question: str, thread: str | None = None, **context: Any) -> dict[str, Any]:
    """Ask on a thread, a new one where none is given, and give the whole state that the thread is left in."""
    thread = thread or await new_thread(studio)
    await studio.runs.wait(thread, strategy, input={"question": question}, context={**CONTEXT, **context})
    return await values(studio, thread)


async def new_thread(studio: LangGraphClient) -> str:
    return str((await studio.threads.create())["thread_id"])


async def values(studio: LangGraphClient, thread: str) -> dict[str, Any]:
    state: Any = (await studio.threads.get_state(thread))["values"]
    return dict(state)


class TestForms:
    """What Studio reads before anything is asked."""

    async def test_every_strategy_is_listed_with_its_description(self, studio: LangGraphClient) -> None:
        listed = {one["graph_id"]: one["description"] for one in await studio.assistants.search(limit=100)}
        assert listed == DESCRIPTIONS
        assert listed.keys() == graphs.STRATEGIES.keys()

    @pytest.mark.parametrize("strategy", graphs.STRATEGIES)
    async def test_the_forms_ask_for_a_question_and_show_every_setting(self, studio: LangGraphClient, strategy: str) -> None:
        schemas = await studio.assistants.get_schemas(await assistant(studio, strategy))
        given: Any = schemas["input_schema"]
        assert set(given["properties"]) == {"question", "messages"}
        shown: Any = schemas["context_schema"]
        fields = graphs.build(strategy).settings.model_fields
        assert {name: one["default"] for name, one in shown["properties"].items()} == {name: one.default for name, one in fields.items()}
        assert all(one["description"] for one in shown["properties"].values())

    @pytest.mark.parametrize("strategy", graphs.STRATEGIES)
    async def test_the_drawing_shows_the_steps_and_names_each_condition(self, studio: LangGraphClient, strategy: str) -> None:
        drawn: Any = await studio.assistants.get_graph(await assistant(studio, strategy))
        wiring = graphs.build(strategy)
        assert {node["id"] for node in drawn["nodes"]} > set(wiring.steps) | {"contextualize", "__start__", "__end__"}
        conditions = {label for ways in wiring.branches.values() for way in ways.values() for label in way.ends or {}}
        named = {edge["data"] for edge in drawn["edges"] if edge.get("conditional")}
        assert named == conditions | {"a follow-up", "self-contained"}


class TestRuns:
    """Asking, watching, looking back."""

    async def test_each_branch_s_work_is_a_task_of_its_own_in_the_stream(self, studio: LangGraphClient) -> None:
        modes: Any = ["values", "updates", "custom", "messages-tuple", "tasks"]
        stream = studio.runs.stream(await new_thread(studio), "tor", input={"question": QUESTION}, context=CONTEXT, stream_mode=modes)
        parts = [(part.event, part.data) async for part in stream]
        assert "error" not in {event for event, _ in parts}
        begun = [data for event, data in parts if event == "tasks" and isinstance(data.get("input"), list)]
        worked = {(task["name"], task["input"][0][0].get("branch", {}).get("path")) for task in begun}
        assert worked >= {("decompose", "0"), ("answer", "0.0"), ("answer", "0.1"), ("judge", "0"), ("finalize", None)}
        assert any(event == "updates" and "answer" in data for event, data in parts)
        assert any(event == "messages" and "Budapest" in data[0]["content"] for event, data in parts)
        assert [data for event, data in parts if event == "values"][-1]["answer"] == "Budapest"

    async def test_the_tree_can_be_read_at_every_step(self, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        await asked(studio, "tor", QUESTION, thread)
        history = await studio.threads.get_history(thread, limit=100)
        trees: list[Any] = [dict(state["values"]).get("tree", {}) for state in history]
        assert set(trees[0]) == {"0", "0.0", "0.1"}
        assert trees[0]["0.1"]["question"] == "In which city was László Bíró born?"
        assert trees[0]["0.1"]["answer"] == "Budapest"
        assert "filled with 'László Bíró'" in trees[0]["0.1"]["note"]
        assert {len(tree) for tree in trees} == {0, 1, 3}
        assert history[0]["next"] == []

    async def test_the_assistant_s_settings_count(self, studio: LangGraphClient) -> None:
        mine = await studio.assistants.create("naive", context={**CONTEXT, "k": 3}, name="Three passages")
        thread = await new_thread(studio)
        await studio.runs.wait(thread, mine["assistant_id"], input={"question": QUESTION})
        assert len((await values(studio, thread))["tree"]["0"]["evidence"]) == 3
        doubtful = await asked(studio, "prune", "Who is the inventor of the ballpoint pen?", tau=0.99)
        content = await asked(studio, "prune", "Who is the inventor of the ballpoint pen?", tau=0.5)
        assert len(doubtful["tree"]) > len(content["tree"]) == 1

    async def test_runs_go_side_by_side(self, studio: LangGraphClient) -> None:
        states = await asyncio.gather(
            asked(studio, "tor", QUESTION),
            asked(studio, "prune", "Who is the inventor of the saxophone?"),
            asked(studio, "chain", QUESTION),
        )
        assert [state["answer"] for state in states] == ["Budapest", "Adolphe Sax", "Budapest"]
        assert [state["tree"]["0"]["question"] for state in states] == [QUESTION, "Who is the inventor of the saxophone?", QUESTION]

    @REAL
    async def test_a_model_file_is_run_in_the_server(self, studio: LangGraphClient) -> None:
        state = await asked(studio, "naive", QUESTION, model=NAME, **SHORT)
        assert (state["model"], state["usage"]["llm_calls"], state["stopped_by"]) == (NAME, 1, "finished")
        assert (state["confidence_source"], state["tree"]["0"]["status"]) == ("logprobs", "leaf")

    async def test_a_run_stops_before_a_step_and_goes_on(self, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        await studio.runs.wait(thread, "tor", input={"question": QUESTION}, context=CONTEXT, interrupt_before=["judge"])
        assert (await studio.threads.get(thread))["status"] == "interrupted"
        halted = await studio.threads.get_state(thread)
        assert halted["next"] == ["judge"]
        await studio.runs.wait(thread, "tor", input=None, context=CONTEXT)
        assert (await studio.threads.get(thread))["status"] == "idle"
        assert (await values(studio, thread))["answer"] == "Budapest"

    async def test_a_run_whose_model_hangs_is_cancelled_and_the_thread_lives_on(self, studio: LangGraphClient, ollama_port: int) -> None:
        with serving(ollama_port) as ollama:
            await self.cancel_a_hanging_run(studio, ollama)

    @staticmethod
    async def cancel_a_hanging_run(studio: LangGraphClient, ollama: Ollama) -> None:
        ollama.when("", Hang())
        thread = await new_thread(studio)
        hanging = {"model": "ollama:llama3.1:8b", "base_url": ollama.address}
        run = await studio.runs.create(thread, "tor", input={"question": QUESTION}, context=hanging)
        await asyncio.to_thread(ollama.wait_for_calls)
        await studio.runs.cancel(thread, run["run_id"], wait=True)
        assert (await studio.runs.get(thread, run["run_id"]))["status"] == "interrupted"
        assert (await asked(studio, "tor", QUESTION, thread))["answer"] == "Budapest"


class TestForks:
    """Finding the branch that went wrong, changing it, and running on."""

    async def fork(
        self, studio: LangGraphClient, thread: str, path: str, was: str, changes: dict[str, Any], **context: Any
    ) -> dict[str, Any]:
        """Change a branch at the checkpoint before it is searched, as Studio does, and run on from there."""
        history = await studio.threads.get_history(thread, limit=100)
        moment = next(state for state in history if state["next"] == ["retrieve"] and self.status(state, path) == was)
        branch = {**dict(moment["values"])["tree"][path], **changes}
        forked: Any = await studio.threads.update_state(thread, {"tree": {path: branch}}, checkpoint=moment["checkpoint"])
        await studio.runs.wait(thread, "tor", input=None, checkpoint=forked["checkpoint"], context={**CONTEXT, **context})
        return await values(studio, thread)

    @staticmethod
    def status(state: Any, path: str) -> Any:
        return state["values"]["tree"].get(path, {}).get("status")

    async def test_a_sub_question_is_changed(self, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        before = await asked(studio, "tor", AMBIGUOUS, thread, **NARROW)
        assert (before["tree"]["0.0"]["answer"], before["answer"]) == ("Steven Soderbergh", "1963")
        better = "Who directed the film Solaris of 1972?"
        after = await self.fork(studio, thread, "0.0", "open", {"question": better}, **NARROW)
        assert (after["tree"]["0.0"]["question"], after["tree"]["0.0"]["answer"]) == (better, "Andrei Tarkovsky")
        assert "Andrei Tarkovsky" in after["tree"]["0.1"]["question"]
        assert (after["tree"]["0.1"]["answer"], after["answer"]) == ("1932", "1932")

    async def test_a_pruned_branch_is_taken_up_again(self, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        before = await asked(studio, "tor", QUESTION, thread, filter={"domain": "none"})
        assert [before["tree"][path]["status"] for path in ("0.0", "0.1")] == ["failed", "pruned"]
        taken_up = {"question": "In which city was László Bíró born?", "status": "open"}
        after = await self.fork(studio, thread, "0.1", "pruned", taken_up)
        assert after["tree"]["0.0"] == before["tree"]["0.0"], "what was settled is not asked again"
        assert (after["tree"]["0.1"]["answer"], after["answer"]) == ("Budapest", "Budapest")

    async def test_what_is_no_branch_is_refused_and_nothing_is_lost(self, server: DevServer, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        await asked(studio, "naive", SIMPLE, thread)
        async with get_client(url=server.url) as editor:  # the server closes the connection
            with pytest.raises(InternalServerError):
                await editor.threads.update_state(thread, {"tree": {"0": {"status": "asleep"}}})
        assert (await values(studio, thread))["answer"] == "Budapest"


class TestChat:
    """Several turns on one thread."""

    async def test_a_follow_up_is_understood_and_each_turn_keeps_its_tree(self, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        steps: list[list[str]] = []
        for said in ("Who is the inventor of the ballpoint pen?", "In which city was he born?"):
            given = {"messages": [{"type": "human", "content": said}]}
            stream = studio.runs.stream(thread, "prune", input=given, context=CONTEXT, stream_mode="updates")
            steps.append([step async for part in stream if part.event == "updates" for step in part.data])
        assert ["contextualize" in turn for turn in steps] == [False, True]
        state = await values(studio, thread)
        assert state["question"] == "In which city was László Bíró born?"
        assert [message["type"] for message in state["messages"]] == ["human", "ai", "human", "ai"]
        kept = [message["additional_kwargs"]["ramify"] for message in state["messages"] if message["type"] == "ai"]
        assert [one["answer"] for one in kept] == ["László Bíró", "Budapest"]
        assert [one["tree"][0]["question"] for one in kept] == ["Who is the inventor of the ballpoint pen?", state["question"]]
        assert state["tree"]["0"]["question"] == state["question"]


class TestBadInput:
    """A clear message, and a thread that lives on."""

    @pytest.mark.parametrize(
        ("given", "context", "told"),
        [
            ({"question": "  "}, {}, "the question is empty"),
            ({}, {}, "the question is empty"),
            ({"question": "x" * 20_001}, {}, "the question has 20,001 characters"),
            ({"question": QUESTION}, {"index": "/no/such/index"}, "index='/no/such/index' is not open to this server's runs"),
            ({"question": QUESTION}, {"k": 0}, "greater than or equal to 1"),
            ({"question": QUESTION}, {"model": "ollama:llama3.1:8b"}, "no Ollama server answers at http://127.0.0.1:9"),
        ],
    )
    async def test_what_cannot_be_asked_says_why(
        self, studio: LangGraphClient, given: dict[str, str], context: dict[str, Any], told: str
    ) -> None:
        thread = await new_thread(studio)
        stream = studio.runs.stream(thread, "naive", input=given, context={**CONTEXT, **context})
        last = [part async for part in stream][-1]
        assert last.event == "error"
        assert told in last.data["message"]
        assert (await studio.threads.get(thread))["status"] == "error"
        assert (await asked(studio, "naive", SIMPLE, thread))["answer"] == "Budapest"

    async def test_an_index_that_disappears_is_told_of(self, studio: LangGraphClient, index: Path) -> None:
        assert (await asked(studio, "naive", SIMPLE, index=str(index)))["answer"] == "Budapest"
        await asyncio.to_thread(shutil.rmtree, index)
        given: Any = {"question": QUESTION}
        stream = studio.runs.stream(await new_thread(studio), "naive", input=given, context={**CONTEXT, "index": str(index)})
        assert "there is no index in" in [part async for part in stream][-1].data["message"]

    async def test_a_question_of_10_000_characters_is_answered(self, studio: LangGraphClient) -> None:
        assert (await asked(studio, "naive", "Who invented the saxophone? " * 358))["answer"] == "Adolphe Sax"

    async def test_a_question_in_korean_is_told_that_english_only_is_read(self, studio: LangGraphClient) -> None:
        state = await asked(studio, "prune", "볼펜을 발명한 사람은 어디에서 태어났습니까?")
        assert "reads English only" in " ".join(state["notices"])


async def test_the_strategies_are_tools_of_its_mcp_server(server: DevServer) -> None:
    async with streamable_http_client(f"{server.url}/mcp") as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        offered = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert {name: tool.description for name, tool in offered.items()}.items() >= DESCRIPTIONS.items()
        assert "question" in offered["naive"].input_schema["properties"]
        result: Any = await session.call_tool("naive", {"question": SIMPLE})
    assert not result.is_error
    assert "'answer': 'Budapest'" in result.content[0].text


def test_the_server_s_file_in_the_clone_is_what_the_command_uses() -> None:
    assert (ROOT / "langgraph.json").read_text(encoding="utf-8") == written()
    assert DESCRIPTIONS.keys() == graphs.STRATEGIES.keys()
    for name in configuration()["graphs"]:
        wiring = getattr(app, variable(name)).builder
        assert set(wiring.steps) > set(graphs.build(name).steps)


async def test_the_command_says_where_to_go(server: DevServer) -> None:
    assert f"https://smith.langchain.com/studio/?baseUrl={server.url}" in server.log()
    assert f"API: {server.url}" in server.log()


async def test_the_documented_fork_by_code_runs(server: DevServer) -> None:
    page = await asyncio.to_thread((ROOT / "docs" / "studio.md").read_text, encoding="utf-8")
    code = next(code for code in re.findall(r"```py\n(.*?)```", page, re.DOTALL) if "get_sync_client" in code)
    namespace: dict[str, Any] = {}
    await asyncio.to_thread(exec, code.replace("http://127.0.0.1:2024", server.url), namespace)  # the project's own document
    assert (namespace["moment"]["values"]["question"], namespace["after"]["answer"]) == (AMBIGUOUS, "1932")


async def test_a_halted_thread_goes_on_after_a_restart(tmp_path: Path) -> None:
    port = free_port()
    with dev_server(tmp_path, port) as first:
        async with get_client(url=first.url) as studio:
            thread = await new_thread(studio)
            halt = ["answer"]
            await studio.runs.wait(thread, "closed-book", input={"question": QUESTION}, context=CONTEXT, interrupt_before=halt)
    with dev_server(tmp_path, port) as second:
        async with get_client(url=second.url) as studio:
            assert (await studio.threads.get_state(thread))["next"] == ["answer"]
            await studio.runs.wait(thread, "closed-book", input=None, context=CONTEXT)
            state = await values(studio, thread)
    assert (state["question"], state["tree"]["0"]["status"]) == (QUESTION, "leaf")
    assert second.complaints() == []


def test_without_the_extra_one_line_says_what_to_install(ramify: Ramify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langgraph_cli", None)
    outcome = ramify("studio")
    assert outcome.code == 1
    assert outcome.err.strip().splitlines() == [
        "error: the development server of LangGraph is not installed — run `pip install 'ramify-rag[studio]'`"
    ]


def test_a_port_in_use_is_one_line(ramify: Ramify) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        outcome = ramify("studio", "--port", taken.getsockname()[1])
    assert outcome.code == 1
    assert outcome.err.count("\n") == 1
    assert "Address already in use" in outcome.err
    assert "choose another" in outcome.err
