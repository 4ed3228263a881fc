"""docs/models.md: its figures follow from its formula, its table of prefixes is the code's, its commands for Ollama run."""

import re
import shlex
from pathlib import Path

import pytest

from ramify.studio.cli import run
from ramify.tools.embeddings.encoder import KNOWN_PREFIXES
from tests.test_docs import PAPERS, blocks
from tests.tools.ollama_server import Ollama, ollama

__all__ = ["ollama"]

PAGE = Path(__file__).parent.parent / "docs" / "models.md"
GIB = 2**30
BITS = 4.9
NUM_CTX = 8192
PICTURES = 0.42
"""Parameters of Gemma's that read pictures, in 10⁹: in the weights, and kept at 16 bits."""


def rows(heading: str) -> list[list[str]]:
    """List the cells of the table whose head begins like this."""
    table = PAGE.read_text(encoding="utf-8").split(f"| {heading} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()[2:]]


@pytest.mark.parametrize("row", rows("model"), ids=lambda row: row[0])
def test_the_memory_follows_from_the_formula(row: list[str]) -> None:
    parameters, layers, heads, size, *told = map(float, row[1:])
    pictures = PICTURES if "gemma" in row[0] else 0.0
    weights = ((parameters - pictures) * BITS / 8 + pictures * 2) * 1e9 / GIB
    cache = 2 * layers * heads * size * 2 * NUM_CTX / GIB
    assert [f"{figure:.1f}" for figure in told] == [f"{figure:.1f}" for figure in (weights, cache, weights + cache, weights + 4 * cache)]


def test_the_prefixes_are_those_of_the_code() -> None:
    known = [[", ".join(map(_code, known.names)), _code(known.query), _code(known.document)] for known in KNOWN_PREFIXES]
    assert rows("models") == known


def _code(text: str) -> str:
    return "`{}`".format(text.replace("\n", "\\n").replace("|", "\\|")) if text else "none"


def for_ollama() -> list[list[str]]:
    """List the page's commands that take a model of Ollama's, or the one that `auto` finds, and those that index and search for it."""
    lines = [line for code in blocks(PAGE, "sh") for line in code.splitlines() if re.match("ramify (index|search|ask)", line)]
    return [shlex.split(line, comments=True)[1:] for line in lines if not re.search("--base-url|gguf:|e5-multilingual|rerank", line)]


def test_the_commands_for_ollama_run(
    ollama: Ollama, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in PAPERS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    commands = sorted(for_ollama(), key=lambda words: words[0] != "index")
    named = {word.removeprefix("ollama:") for words in commands for word in words if word.startswith("ollama:")}
    ollama.models |= dict.fromkeys(named, 32768)
    for words in commands:
        assert run(words) == 0, capsys.readouterr().err
    asked = {word.removeprefix("ollama:") for words in commands if words[0] == "ask" for word in words if word.startswith("ollama:")}
    assert {request["model"] for request in ollama.requests} == {"llama3.1:8b", *asked}
    assert {cell.strip("`") for cell, *_ in rows("model")} == {"llama3.1:8b", *asked}
    assert any(text.startswith("text: ") for text in ollama.embedded)
