"""The examples of docs/agents.md, those of agents too, against the real libraries; only the agent's own model is scripted."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import agents
import langchain.chat_models
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import ramify.tools.models
from ramify.tools.demo import demo_index
from tests.documented import differences
from tests.openai_agents import ScriptedByOpenAI
from tests.test_docs import FENCE, RAMIFY, ROOT


class Scripted(BaseChatModel):
    """Delegate the question to a subagent if there is one, else give it to the tool; then repeat what came back."""

    delegates: bool = False

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> "Scripted":
        return Scripted(delegates="task" in {getattr(tool, "name", "") for tool in tools})

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        asked = next(str(message.content) for message in reversed(messages) if isinstance(message, HumanMessage))
        research = {"name": "research_documents", "id": "1", "args": {"question": asked}}
        task = {"name": "task", "id": "1", "args": {"description": asked, "subagent_type": "researcher"}}
        said = [message for message in messages if isinstance(message, ToolMessage)]
        reply = AIMessage(said[-1].content) if said else AIMessage("", tool_calls=[task if self.delegates else research])
        return ChatResult(generations=[ChatGeneration(message=reply)])


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Run the page's Python from top to bottom, but for what asks a server (tests/studio does); return what each block prints."""
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    python = [code for language, code in FENCE.findall(page) if language in ("python", "py")]
    blocks = [code for code in python if "import httpx" not in code and "://127.0.0.1:" not in code]
    told: list[str] = []
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree(demo_index(), folder / "my-index")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PATH", f"{Path(RAMIFY).parent}{os.pathsep}{os.environ['PATH']}")
        patch.setattr(langchain.chat_models, "init_chat_model", lambda name: Scripted())
        patch.setattr(ramify.tools.models, "resolve_model", lambda name, options: SimpleNamespace(chat=Scripted()))
        patch.setattr(agents, "OpenAIChatCompletionsModel", ScriptedByOpenAI)
        namespace: dict[str, Any] = {"__name__": "document"}
        for block in blocks:
            lines: list[str] = []
            namespace["print"] = lambda *values, lines=lines: lines.append(" ".join(map(str, values)))
            exec(compile(block, "docs/agents.md", "exec"), namespace)  # the project's own page
            told.append("\n".join(lines))
    return [f"{block}\n#>\n{lines}" for block, lines in zip(blocks, told, strict=True)]


@pytest.mark.parametrize(
    "example",
    ["create_agent(model, [research, search, grep])", "create_deep_agent(model", "MCPServerStdio(command", '"research", build("prune")'],
)
def test_each_example_prints_answer_confidence_and_source(example: str, printed: list[str]) -> None:
    [told] = [lines.split("#>")[1] for lines in printed if example in lines]
    assert "Budapest" in told or "Bíró" in told
    assert re.search(r"\b0\.\d+", told)
    assert "demo/corpus.jsonl#" in told


def test_the_grounded_agent_prints_what_the_page_shows(printed: list[str]) -> None:
    [told] = [lines.split("#>\n")[1] for lines in printed if "GenericFakeChatModel(" in lines]
    shown = next(code for language, code in FENCE.findall((ROOT / "docs" / "agents.md").read_text(encoding="utf-8")) if language == "text")
    assert differences(shown, told) == []


def test_a_grounded_agent_with_a_model_of_its_own_says_where_it_is_from(printed: list[str]) -> None:
    small, large = [lines.split("#>\n")[1] for lines in printed if "Grounded(" in lines and "scripted" not in lines]
    assert re.search(r"^True \[\d", small, re.MULTILINE)
    assert "demo/corpus.jsonl#laszlo-biro" in large


def test_the_progress_of_the_tool_is_streamed(printed: list[str]) -> None:
    [told] = [lines.split("#>")[1] for lines in printed if 'stream_mode="custom"' in lines]
    assert "0 deciding: Who invented the ballpoint pen?" in told
    assert re.search(r"^0 leaf .*Bíró.* 0\.\d+", told, re.MULTILINE)
