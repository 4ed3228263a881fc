"""The documents: their code runs, their drawings are the real ones, their commands exist."""

import re
import shlex
from pathlib import Path

import pytest

import ramify.graphs as graphs
from ramify.nodes.plant import checked

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(path: Path, language: str) -> list[str]:
    """List a document's code blocks of one language."""
    return [code for found, code in FENCE.findall(path.read_text(encoding="utf-8")) if found == language]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_python_of_a_document_runs(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = blocks(path, "python")
    if not code:
        pytest.skip(f"{path.name} has no Python")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(graphs.strategies, "STRATEGIES", dict(graphs.STRATEGIES))
    namespace: dict[str, object] = {"__name__": "document"}
    for block in code:
        exec(compile(block, str(path), "exec"), namespace)  # the project's own documents


@pytest.mark.parametrize("drawing", blocks(ROOT / "README.md", "mermaid"))
def test_a_drawing_in_the_readme_is_the_real_one(drawing: str) -> None:
    real = {_plain(graphs.build(name).compile().get_graph().draw_mermaid()) for name in graphs.STRATEGIES}
    assert _plain(drawing) in real


def _plain(drawing: str) -> str:
    return "\n".join(line.strip() for line in drawing.strip().splitlines() if line.strip())


def test_the_questions_of_the_documents_can_be_asked() -> None:
    commands = [line for path in DOCUMENTS for code in blocks(path, "sh") for line in code.splitlines()]
    asked = [shlex.split(line, comments=True) for line in commands if line.startswith("ramify ask")]
    assert asked
    assert all(checked(words[2]) for words in asked)
