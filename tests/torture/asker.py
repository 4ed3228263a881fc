"""A process that answers the questions of a plan from Python, side by side: by `ask`, by an agent's tool, in conversations.

    python -m tests.torture.asker SEED INDEX MEMORY OLLAMA OPENAI

It reads the numbers of questions from standard input, and writes what came of each turn as JSON lines.
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
from tests.torture.outcome import Outcome, said
from tests.torture.plan import CAP, Case, case
from tests.torture.questions import question


def options(told: Case, index: str, ollama: str, openai: str) -> dict[str, Any]:
    """Return the settings of a question."""
    model, base = ("ollama:llama3.1:8b", ollama) if told.protocol == "ollama" else ("openai:local", f"{openai}/v1")
    where = {"index": index, "model": model, "base_url": base}
    return {**where, "timeout": 3.0, "max_concurrency": CAP, "check": "none", **told.options}


def outcome_of(result: Result) -> Outcome:
    """Return what came of a question."""
    if why := failure_reason(result):
        return said("error", why, kept=True)
    return said("unknown" if is_unknown(result.answer) else "answer", result.answer, kept=True)


async def answers(told: Case, given: dict[str, Any], memory: str) -> list[Outcome]:
    """Answer a question, or the turns of a conversation."""
    if told.door == "conversation":
        conversation = graphs.Conversation(memory, f"talk-{told.number}")
        return [await outcome(conversation.ask_async(question(told, turn), told.strategy, **given)) for turn in range(told.turns)]
    if told.door == "tool":
        return [await by_tool(told, given)]
    return [await outcome(graphs.ask_async(question(told), told.strategy, **given))]


async def outcome(asking: Any) -> Outcome:
    """Wait for a result; an error of the family is one."""
    try:
        return outcome_of(await asking)
    except RamifyError as error:
        return said("error", str(error))


async def by_tool(told: Case, given: dict[str, Any]) -> Outcome:
    """Have an agent call the tool."""
    try:
        tool = graphs.research_tool(told.strategy, **given)
    except RamifyError as error:
        return said("error", str(error))
    state = await create_agent(Caller(), [tool]).ainvoke({"messages": [("human", question(told))]})
    [message] = tools_said(state["messages"])
    return of_tool(str(message.content), message.status == "error")


def of_tool(text: str, failed: bool) -> Outcome:
    """Return what a tool's text says."""
    if failed:
        return said("error", text)
    return said("unknown" if text.startswith("Answer: Unknown") else "answer", text)


async def answer(number: int, seed: int, index: str, memory: str, *addresses: str) -> None:
    """Answer a question of the plan, and write what came of it."""
    told = case(seed, number)
    try:
        found = await answers(told, options(told, index, *addresses), memory)
    except Exception:  # noqa: BLE001  # that is what is looked for
        found = [said("broken", traceback.format_exc())]
    print(json.dumps({"case": number, "outcomes": found}), flush=True)


async def main(seed: str, *where: str) -> None:
    """Read numbers until the standard input is closed, and answer them side by side."""
    async with asyncio.TaskGroup() as group:
        while line := await asyncio.to_thread(sys.stdin.readline):
            group.create_task(answer(int(line), int(seed), *where))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
