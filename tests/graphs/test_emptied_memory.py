"""A file of conversations that was emptied, removed or damaged beside the list of its conversations."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ramify.graphs import Conversation
from ramify.graphs.conversation import load_threads
from ramify.graphs.memory import memory_address, open_memory
from ramify.tools.errors import RamifyError
from tests.fakes import FakeModel
from tests.faults import fault
from tests.river import QUESTION, replies, river


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with a conversation."""
    talk = Conversation(memory=f"sqlite:{tmp_path / 'talks.db'}", thread="pens")
    talk.ask(QUESTION, "naive", model=FakeModel(replies=replies, logprobs=True), index=river())
    return tmp_path / "talks.db"


@fault("processes", "file of conversations emptied or removed beside its list", sees="which file; restore it", kept="the list", code=1)
@pytest.mark.parametrize("damage", [lambda file: file.write_bytes(b""), Path.unlink])
async def test_an_emptied_file_is_one_line_and_not_an_empty_conversation(file: Path, damage: Callable[[Path], object]) -> None:
    damage(file)
    listed = file.with_name("talks.db.threads").read_bytes()
    for _ in range(2):
        with pytest.raises(RamifyError) as refused:
            async with open_memory(f"sqlite:{file}"):
                pass
        assert str(file) in refused.value.what
        assert "talks.db.threads" in refused.value.remedy
    assert file.with_name("talks.db.threads").read_bytes() == listed
    file.with_name("talks.db.threads").unlink()
    if file.exists():  # noqa: ASYNC240
        file.unlink()  # noqa: ASYNC240
    assert await load_threads(memory_address(f"sqlite:{file}")) == [], "as the remedy says, it begins anew"


@pytest.mark.parametrize("name", ["talks.db", "talks.db.threads"])
async def test_a_file_that_is_emptied_while_it_is_open_is_one_line(file: Path, name: str) -> None:
    place = memory_address(f"sqlite:{file}")

    async def read_emptied() -> None:
        async with open_memory(place):
            file.with_name(name).write_bytes(b"")
            await load_threads(place)
            await Conversation(place, "pens").recall_async()

    with pytest.raises(RamifyError, match=re.escape("talks.db")):
        await read_emptied()


async def test_new_files_and_files_without_conversations_are_opened(tmp_path: Path) -> None:
    place = f"sqlite:{tmp_path / 'talks.db'}"
    async with open_memory(place):
        pass
    (tmp_path / "talks.db").write_bytes(b"")
    async with open_memory(place):
        pass
    (tmp_path / "talks.db").unlink()
    async with open_memory(place):
        pass
