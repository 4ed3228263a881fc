"""A process that answers questions of the plan concurrently from Python: by `ask`, by an agent's tool, in conversations.

    python -m tests.torture.asker SEED INDEX MEMORY OLLAMA OPENAI

It reads the numbers of questions from standard input, and writes the outcomes of each as a JSON line.
"""

import asyncio
import json
import sys
import traceback
from typing import Any

from langchain.agents import create_agent

import ramify.graphs as graphs
from ramify.graphs.run import Result, failure_reason
from ramify.nodes.tree import is_unknown
from ramify.tools.errors import RamifyError
from tests.graphs.agents import Caller, tools_said
from tests.torture.outcome import Outcome, make_outcome
from tests.torture.plan import MAX_CONCURRENT_CALLS, Case, draw_case
from tests.torture.questions import question_text


def case_settings(case: Case, index: str, ollama: str, openai: str) -> dict[str, Any]:
    """Return the settings of a question."""
    model, base = ("ollama:llama3.1:8b", ollama) if case.protocol == "ollama" else ("openai:local", f"{openai}/v1")
    connection = {"index": index, "model": model, "base_url": base}
    return {**connection, "timeout": 3.0, "max_concurrency": MAX_CONCURRENT_CALLS, "check": "none", **case.options}


def make_result_outcome(result: Result) -> Outcome:
    """Return the outcome of a result."""
    if why := failure_reason(result):
        return make_outcome("error", why, stored=True)
    return make_outcome("unknown" if is_unknown(result.answer) else "answer", result.answer, stored=True)


async def answer_case(case: Case, settings: dict[str, Any], memory: str) -> list[Outcome]:
    """Answer a question, or the turns of a conversation."""
    if case.interface == "conversation":
        conversation = graphs.Conversation(memory, f"talk-{case.number}")
        return [
            await wait_for_outcome(conversation.ask_async(question_text(case, turn), case.strategy, **settings))
            for turn in range(case.turns)
        ]
    if case.interface == "tool":
        return [await ask_by_tool(case, settings)]
    return [await wait_for_outcome(graphs.ask_async(question_text(case), case.strategy, **settings))]


async def wait_for_outcome(asking: Any) -> Outcome:
    """Wait for a result and return its outcome, also for a RamifyError."""
    try:
        return make_result_outcome(await asking)
    except RamifyError as error:
        return make_outcome("error", str(error))


async def ask_by_tool(case: Case, settings: dict[str, Any]) -> Outcome:
    """Let an agent call the tool, and return the outcome."""
    try:
        tool = graphs.research_tool(case.strategy, **settings)
    except RamifyError as error:
        return make_outcome("error", str(error))
    state = await create_agent(Caller(), [tool]).ainvoke({"messages": [("human", question_text(case))]})
    [message] = tools_said(state["messages"])
    return make_tool_outcome(str(message.content), message.status == "error")


def make_tool_outcome(text: str, failed: bool) -> Outcome:
    """Return the outcome of a tool's reply."""
    if failed:
        return make_outcome("error", text)
    return make_outcome("unknown" if text.startswith("Answer: Unknown") else "answer", text)


async def answer_question(number: int, seed: int, index: str, memory: str, *addresses: str) -> None:
    """Answer a question of the plan, and write its outcomes."""
    case = draw_case(seed, number)
    try:
        outcomes = await answer_case(case, case_settings(case, index, *addresses), memory)
    except Exception:  # noqa: BLE001  # unexpected errors are what the test looks for
        outcomes = [make_outcome("broken", traceback.format_exc())]
    print(json.dumps({"case": number, "outcomes": outcomes}), flush=True)


async def main(seed: str, *where: str) -> None:
    """Read numbers until the standard input is closed, and answer them concurrently."""
    async with asyncio.TaskGroup() as group:
        while line := await asyncio.to_thread(sys.stdin.readline):
            group.create_task(answer_question(int(line), int(seed), *where))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
