"""LangGraph Studio: the real development server, driven as Studio drives it; one for all tests of this folder."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from ramify.tools.demo import demo_index
from tests.studio.dev_server import DevServer, dev_server, free_port

ROOT = Path(__file__).parents[4]
QUESTION = "In which city was the inventor of the ballpoint pen born?"
SIMPLE = "In which city was László Bíró born?"
"""What one reading answers."""
CONTEXT = {"model": "extractive", "index": "demo"}
AMBIGUOUS = "In which year was the director of Solaris born?"
"""Two films of the demo corpus are called so."""
NARROW = {"max_depth": 1, "k": 1, "mmr": 0.75}
"""One split, and one passage a branch: a branch sees one of the two films."""


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that runs may name as their index."""
    return Path(shutil.copytree(demo_index(), tmp_path_factory.mktemp("documents") / "my-index"))


@pytest.fixture(scope="session")
def letters(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second one, of a few files."""
    return Path(shutil.copytree(built, tmp_path_factory.mktemp("documents") / "letters"))


@pytest.fixture(scope="session")
def ollama_port() -> int:
    """Where a model server will be that runs may name."""
    return free_port()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, index: Path, letters: Path, ollama_port: int) -> Iterator[DevServer]:
    """One server for these tests, with an empty cache; whatever they did, it has nothing to complain of, and Ctrl-C ends it well."""
    options = ("--index", str(index), "--index", str(letters), "--base-url", f"http://127.0.0.1:{ollama_port}")
    with dev_server(tmp_path_factory.mktemp("server"), None, *options, RAMIFY_CACHE=str(tmp_path_factory.mktemp("cold"))) as running:
        yield running
    assert running.complaints() == []
    assert running.process.returncode == 0
    assert "Traceback" not in running.log().rpartition("the server has stopped")[2]


@pytest.fixture
async def studio(server: DevServer) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server.url) as client:
        yield client


async def assistant(studio: LangGraphClient, strategy: str) -> str:
    return str((await studio.assistants.search(graph_id=strategy))[0]["assistant_id"])


async def run_question(studio: LangGraphClient, strategy: str, question: str, thread: str | None = None, **context: Any) -> dict[str, Any]:
    """Ask on a thread, a new one where none is given, and give the whole state that the thread is left in."""
    thread = thread or await new_thread(studio)
    await studio.runs.wait(thread, strategy, input={"question": question}, context={**CONTEXT, **context})
    return await values(studio, thread)


async def new_thread(studio: LangGraphClient) -> str:
    return str((await studio.threads.create())["thread_id"])


async def values(studio: LangGraphClient, thread: str) -> dict[str, Any]:
    state: Any = (await studio.threads.get_state(thread))["values"]
    return dict(state)


async def run_documented(page: str, part: str, server: DevServer) -> dict[str, Any]:
    """Run the code of a page that has this in it, against the server; give what it leaves behind."""
    text = await asyncio.to_thread((ROOT / "docs" / page).read_text, encoding="utf-8")
    code = next(code for code in re.findall(r"```py\n(.*?)```", text, re.DOTALL) if part in code)
    namespace: dict[str, Any] = {}
    await asyncio.to_thread(exec, code.replace("http://127.0.0.1:2024", server.url), namespace)  # the project's own document
    return namespace
