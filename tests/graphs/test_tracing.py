"""A run in a trace: a span a step and branch, with question, answer and confidence, by OpenTelemetry and by LangChain's own tracer."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import pytest
from langchain.agents import create_agent
from langchain_core.tracers.langchain import wait_for_all_tracers
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langsmith import Client
from langsmith.run_helpers import tracing_context
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import ramify.graphs as graphs
from tests.graphs.agents import Caller, thinker
from tests.river import FINAL, FIRST, QUESTION, river

SECOND = "Which river runs through Paris?"


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    found, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(found))
    LangChainInstrumentor().instrument(tracer_provider=provider)
    yield found
    LangChainInstrumentor().uninstrument()


def value(span: ReadableSpan, side: str) -> Any:
    """Return what went into a span, or came out of it."""
    return json.loads(str((span.attributes or {})[f"{side}.value"]))


def above(spans: Sequence[ReadableSpan], span: ReadableSpan) -> str:
    """Name the span above one."""
    return next((one.name for one in spans if span.parent and one.context.span_id == span.parent.span_id), "")


def branches(spans: Sequence[ReadableSpan], step: str) -> dict[str, tuple[str, str | None, float | None]]:
    """Return question, answer and confidence of the branches of a step, by path: each has a span below that of the step."""
    below = [span for span in spans if span.name == step == above(spans, span)]
    found = [(value(span, "input")["item"], value(span, "output")["branches"][0]) for span in below]
    return {given["path"]: (given["question"], branch["answer"], branch["confidence"]) for given, branch in found}


@pytest.mark.parametrize("sync", [True, False])
async def test_a_span_a_step_and_branch_has_question_answer_and_confidence(sync: bool, exporter: InMemorySpanExporter) -> None:
    options = {"model": thinker(), "index": river(), **FINAL}
    result = await asyncio.to_thread(graphs.ask, QUESTION, **options) if sync else await graphs.ask_async(QUESTION, **options)
    spans = exporter.get_finished_spans()
    [root] = [span for span in spans if span.parent is None]
    assert root.name == "ramify prune"
    assert root.attributes is not None
    assert root.attributes["input.value"] == QUESTION
    state = value(root, "output")
    assert (state["answer"], state["confidence"]) == (result.answer, result.confidence) == ("Seine", pytest.approx(0.9))
    steps = {span.name for span in spans if above(spans, span) == root.name}
    assert {"init_tree", "retrieve", "decide", "decompose", "prune", "fill", "finalize"} <= steps
    decided = branches(spans, "decide")
    assert decided["0.0"] == (FIRST, "Paris", pytest.approx(0.97))
    assert decided["0.1"] == (SECOND, "Seine", pytest.approx(0.97))
    assert any(span.name == "FakeModel" for span in spans)


async def test_a_run_in_a_tool_is_below_the_span_of_the_tool(exporter: InMemorySpanExporter) -> None:
    agent = create_agent(Caller(), [graphs.research_tool(model=thinker(), index=river())])
    await agent.ainvoke({"messages": [("human", QUESTION)]})
    spans = exporter.get_finished_spans()
    [run] = [span for span in spans if span.name == "ramify prune"]
    assert above(spans, run) == "research_documents"
    assert len({span.context.trace_id for span in spans}) == 1


async def test_langchain_s_tracers_see_the_same_tree() -> None:
    collector = RunCollectorCallbackHandler()
    await graphs.ask_async(QUESTION, config={"callbacks": [collector], "run_name": "mine"}, model=thinker(), index=river(), **FINAL)
    [root] = collector.traced_runs
    assert root.name == "mine", "a name that the caller gives counts"
    assert (root.outputs or {})["answer"] == "Seine"
    decided = [step.child_runs[0] for step in root.child_runs if step.name == "decide"]
    assert [run.inputs["item"].question for run in decided] == [QUESTION, FIRST, SECOND]


class Collecting(BaseHTTPRequestHandler):
    """Take what a client of LangSmith sends, as a server of one's own would."""

    sent: ClassVar[dict[str, dict[str, Any]]] = {}

    def do_POST(self) -> None:
        self._take()

    def do_PATCH(self) -> None:
        self._take()

    def _take(self) -> None:
        run = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = run.get("id") or self.path.rsplit("/", 1)[-1]
        self.sent[key] = {**self.sent.get(key, {}), **run}
        self.send_response(202)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def test_a_server_of_langsmith_s_protocol_gets_the_run() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collecting)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        client = Client(f"http://127.0.0.1:{server.server_port}", api_key="any", auto_batch_tracing=False)
        with tracing_context(enabled=True, client=client):
            graphs.ask(QUESTION, model=thinker(), index=river(), **FINAL)
        wait_for_all_tracers()
    finally:
        server.shutdown()
        server.server_close()
    [root] = [run for run in Collecting.sent.values() if run["name"] == "ramify prune"]
    assert root["outputs"]["answer"] == "Seine"
    assert {"decide", "prune", "finalize"} <= {run["name"] for run in Collecting.sent.values() if run.get("parent_run_id") == root["id"]}
