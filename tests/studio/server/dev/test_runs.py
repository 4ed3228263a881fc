"""What LangGraph Studio reads before anything is asked, and its runs: asking, watching, stopping, going on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient

import ramify.graphs as graphs
from tests.smollm2 import NAME, REAL, SHORT
from tests.studio.server.dev.conftest import CONTEXT, QUESTION, assistant, new_thread, run_question, values
from tests.tools.ollama_replies import Hang
from tests.tools.ollama_server import Ollama, serving


class TestForms:
    """What Studio reads before anything is asked."""

    async def test_every_strategy_is_listed_with_its_description(self, studio: LangGraphClient) -> None:
        listed = {one["graph_id"]: one["description"] for one in await studio.assistants.search(limit=100)}
        assert listed.items() >= {name: strategy.description for name, strategy in graphs.STRATEGIES.items()}.items()
        assert listed.keys() == {*graphs.STRATEGIES, "my-index", "letters"}

    @pytest.mark.parametrize("strategy", graphs.STRATEGIES)
    async def test_the_forms_ask_for_a_question_and_show_every_setting(self, studio: LangGraphClient, strategy: str, index: Path) -> None:
        schemas = await studio.assistants.get_schemas(await assistant(studio, strategy))
        given: Any = schemas["input_schema"]
        assert set(given["properties"]) == {"question", "messages"}
        shown: Any = schemas["context_schema"]
        fields = graphs.build(strategy).settings.model_fields
        defaults = {name: one.default for name, one in fields.items()} | {"index": str(index)}
        assert {name: one["default"] for name, one in shown["properties"].items()} == defaults
        assert all(one["description"] for one in shown["properties"].values())

    @pytest.mark.parametrize("strategy", graphs.STRATEGIES)
    async def test_the_drawing_shows_the_steps_and_names_each_condition(self, studio: LangGraphClient, strategy: str) -> None:
        drawn: Any = await studio.assistants.get_graph(await assistant(studio, strategy))
        wiring = graphs.build(strategy)
        edges = {(edge["source"], edge["target"]): edge.get("data") or "" for edge in drawn["edges"]}
        own = [edge for edge in wiring.drawn_edges() if edge.source not in ("__start__", "init_tree") and edge.target != "__end__"]
        assert [edge for edge in own if edge.label not in edges[edge.source, edge.target]] == []
        assert {"contextualize", "ask_back", "__start__", "__end__"} < {node["id"] for node in drawn["nodes"]}
        named = " | ".join(edges.values())
        assert [label for label in ("no person is known", "a follow-up", "otherwise") if label not in named] == []


class TestRuns:
    """Asking, watching, looking back."""

    @pytest.mark.parametrize("strategy", graphs.STRATEGIES)
    async def test_every_strategy_runs_on_a_server_whose_cache_was_empty(self, studio: LangGraphClient, strategy: str) -> None:
        state = await run_question(studio, strategy, "Who is the inventor of the ballpoint pen?")
        assert state["stopped_by"] == "finished"
        assert state["tree"]["0"]["status"] not in ("open", "failed")
        assert state["index"].startswith("demo: ") is (strategy != "closed-book")

    async def test_each_branch_s_work_is_a_task_of_its_own_in_the_stream(self, studio: LangGraphClient) -> None:
        modes: Any = ["values", "updates", "custom", "messages-tuple", "tasks"]
        doubtful = {**CONTEXT, "max_depth": 1, "tau": 0.9}  # then the last hop is not sure enough to be the answer without a final call
        stream = studio.runs.stream(await new_thread(studio), "tor", input={"question": QUESTION}, context=doubtful, stream_mode=modes)
        parts = [(part.event, part.data) async for part in stream]
        assert "error" not in {event for event, _ in parts}
        begun = [data for event, data in parts if event == "tasks" and isinstance(data.get("input"), list)]
        worked = {(task["name"], task["input"][0][0].get("path")) for task in begun}
        assert worked >= {("decompose", "0"), ("answer", "0.0"), ("answer", "0.1"), ("judge", "0"), ("finalize", None)}
        assert any(event == "updates" and "answer" in data for event, data in parts)
        assert any(event == "messages" and "Budapest" in data[0]["content"] for event, data in parts)
        assert [data for event, data in parts if event == "values"][-1]["answer"] == "Budapest"

    async def test_the_tree_can_be_read_at_every_step(self, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        await run_question(studio, "tor", QUESTION, thread)
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
        doubtful = await run_question(studio, "prune", "Who is the inventor of the ballpoint pen?", tau=0.99)
        content = await run_question(studio, "prune", "Who is the inventor of the ballpoint pen?", tau=0.5)
        assert "not above tau 0.99" in doubtful["tree"]["0"]["note"]
        assert (content["tau"], content["tree"]["0"]["note"]) == (0.5, "")

    async def test_runs_go_side_by_side(self, studio: LangGraphClient) -> None:
        states = await asyncio.gather(
            run_question(studio, "tor", QUESTION),
            run_question(studio, "prune", "Who is the inventor of the saxophone?"),
            run_question(studio, "chain", QUESTION),
        )
        assert [state["answer"] for state in states] == ["Budapest", "Adolphe Sax", "Budapest"]
        assert [state["tree"]["0"]["question"] for state in states] == [QUESTION, "Who is the inventor of the saxophone?", QUESTION]

    @REAL
    async def test_a_model_file_is_run_in_the_server(self, studio: LangGraphClient) -> None:
        state = await run_question(studio, "naive", QUESTION, model=NAME, **SHORT)
        assert (state["model"], state["usage"]["llm_calls"], state["stopped_by"]) == (NAME, 1, "finished")
        assert (state["confidence_source"], state["tree"]["0"]["status"]) == ("logprobs", "leaf")

    async def test_a_run_stops_before_a_step_and_resumes(self, studio: LangGraphClient) -> None:
        thread = await new_thread(studio)
        await studio.runs.wait(thread, "tor", input={"question": QUESTION}, context=CONTEXT, interrupt_before=["judge"])
        assert (await studio.threads.get(thread))["status"] == "interrupted"
        halted = await studio.threads.get_state(thread)
        assert halted["next"] == ["judge"]
        await studio.runs.wait(thread, "tor", input=None, context=CONTEXT)
        assert (await studio.threads.get(thread))["status"] == "idle"
        assert (await values(studio, thread))["answer"] == "Budapest"

    async def test_a_run_stops_for_a_person_and_resumes_with_the_decision(self, studio: LangGraphClient) -> None:
        thread, context = await new_thread(studio), {**CONTEXT, "ask_first": "splits"}
        await studio.runs.wait(thread, "tor", input={"question": QUESTION}, context=context)
        halted: Any = await studio.threads.get(thread)
        assert halted["status"] == "interrupted"
        [[stop]] = halted["interrupts"].values()
        [action] = stop["value"]["action_requests"]
        assert (action["name"], action["args"]["first"]) == ("split_question", "Who is the inventor of the ballpoint pen?")
        edited = {"name": action["name"], "args": {**action["args"], "first": "Who is the inventor of the telephone?"}}
        decisions: Any = {"resume": {"decisions": [{"type": "edit", "edited_action": edited}]}}
        await studio.runs.wait(thread, "tor", command=decisions, context=context)
        assert (await studio.threads.get(thread))["status"] == "idle"
        assert (await values(studio, thread))["tree"]["0.0"]["question"] == "Who is the inventor of the telephone?"

    async def test_a_run_with_a_hanging_model_is_cancelled_and_the_thread_continues(
        self, studio: LangGraphClient, ollama_port: int
    ) -> None:
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
        assert (await run_question(studio, "tor", QUESTION, thread))["answer"] == "Budapest"
