"""The guided tour runs from top to bottom, offline, and is kept without outputs."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

TOUR = Path(__file__).parents[3] / "studio" / "chat.ipynb"


@pytest.fixture(scope="module")
def tour() -> nbformat.NotebookNode:
    return nbformat.read(TOUR, as_version=4)


def test_it_is_stored_without_outputs(tour: nbformat.NotebookNode) -> None:
    nbformat.validate(tour)
    assert [(cell.outputs, cell.execution_count) for cell in tour.cells if cell.cell_type == "code"] == [([], None)] * 10


def test_it_runs(tour: nbformat.NotebookNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = NotebookClient(tour, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    told = "".join(_texts(done))
    for words in (
        "Budapest",
        "Who is the inventor of the ballpoint pen?",
        "László Bíró",
        "Adolphe Sax",
        "closed-book",
        "turn.mmd",
        "Uppsala",
    ):
        assert words in told
    assert '<div class="ramify">' in told
    assert '<article class="card pruned"' in told
    assert "a chat with tor, 0 turns" in told


def _texts(notebook: nbformat.NotebookNode) -> list[str]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    return [text for output in outputs for text in (output.get("text", ""), *output.get("data", {}).values()) if isinstance(text, str)]
