"""Questions that are suggested for a collection: by rules, and by a language model where there is one."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ramify.nodes.settings import Settings
from ramify.serve.catalog import Collection
from ramify.serve.suggesting import Suggestions
from ramify.studio.cli import run
from ramify.tools.errors import ReplyError
from tests.fakes import FakeModel

LAMP = "The Arda lamp is a bright lamp of the harbour, which its keepers have lit each evening since 1847. "
BELL = "The Oskel bell is a large bell of the river, which its wardens have rung in each fog since 1852. "


def suggested(folder: Path, model: FakeModel, files: tuple[str, ...] = ()) -> list[str]:
    documents, index = folder / "documents", folder / "index"
    if not index.exists():
        documents.mkdir()
        for name, text in (("lamp.md", LAMP), ("bell.md", BELL)):
            (documents / name).write_text(f"# {name}\n\n{3 * text}\n", encoding="utf-8")
        assert run(["index", str(documents), "--out", str(index)]) == 0
    return asyncio.run(Suggestions().suggest(Collection("harbour", str(index)), files, Settings(model=model)))


def test_a_model_asks_of_each_document(tmp_path: Path) -> None:
    def reply(prompt: str, slots: dict[str, Any]) -> dict[str, Any]:
        assert prompt == "suggest"
        [passage] = slots["passages"]
        return {"fact": "", "question": "Since when is the lamp lit?" if "lamp" in str(passage) else "Since when is the bell rung?"}

    model = FakeModel(replies=reply)
    assert sorted(suggested(tmp_path, model)) == ["Since when is the bell rung?", "Since when is the lamp lit?"]
    assert suggested(tmp_path, model, ("bell.md",)) == ["Since when is the bell rung?"]


def test_a_reply_without_a_question_leaves_the_others(tmp_path: Path) -> None:
    model = FakeModel(replies=lambda prompt, slots: "no JSON" if "lamp" in str(slots["passages"]) else {"fact": "", "question": "Why?"})
    assert suggested(tmp_path, model) == ["Why?"]
    with pytest.raises(ReplyError):
        suggested(tmp_path, FakeModel(replies=lambda prompt, slots: "no JSON"))


def test_the_same_or_a_long_question_is_suggested_once_or_never(tmp_path: Path) -> None:
    model = FakeModel(
        replies=lambda prompt, slots: {"fact": "", "question": "Why?" if "lamp" in str(slots["passages"]) else f"Why {'so ' * 50}?"}
    )
    assert suggested(tmp_path, model) == ["Why?"]
