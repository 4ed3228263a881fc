"""A run with an adapter of a model in this process: it is not continued without, and its profile is not that of the model alone."""

import json
from pathlib import Path

from plugins.lab.tests.commands.eval_lines import lines
from plugins.lab.tests.conftest import cache, data
from ramify.tools.released import SMOLLM2
from tests.studio.conftest import Ramify
from tests.tools.llamacpp import write_adapter

__all__ = ["cache", "data"]

WIDTH_OF_SMOLLM2 = 576


def test_a_run_with_an_adapter_is_that_of_another_model(ramify: Ramify, data: Path, tmp_path: Path) -> None:
    adapter, out = tmp_path / "trees.gguf", tmp_path / "run"
    write_adapter(adapter, width=WIDTH_OF_SMOLLM2, scale=0.01)
    asked = ["eval", data, "--out", out, "--strategy", "closed-book", "--limit", 1, "--model", "gguf:smollm2"]
    done = ramify(*asked, "--set", f"adapter={adapter}")
    assert done.code == 0, done.err
    assert "answers with the adapter 'trees.gguf'" in done.err
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["model"].startswith("gguf:smollm2+adapter-")
    assert manifest["model_file"]["name"] == SMOLLM2.file.name
    assert {row["model"] for row in lines(out)} == {manifest["model"]}
    alone = ramify(*asked)
    assert alone.code == 2
    assert "holds a run with model" in alone.err
