"""--profile at the doors: an answer is withheld, a file that is none is told at once, and a client of a server names none."""

import json
from pathlib import Path

import pytest

import ramify.graphs as graphs
from plugins.lab.tests.commands.eval_lines import LLAMA
from plugins.lab.tests.conftest import cache, data
from ramify.lab.task import read_rows
from ramify.serve.catalog import Catalog, name_collections
from ramify.studio.server.bounds import restrict_settings, set_allowed
from ramify.tools.errors import UsageError
from tests.graphs.test_profile import profile
from tests.studio.conftest import Ramify
from tests.tools.ollama_replies import Say
from tests.tools.ollama_server import Ollama

__all__ = ["cache", "data"]


@pytest.fixture
def file(tmp_path: Path, ollama: Ollama) -> Path:
    """A profile whose threshold is above what the model is sure of."""
    ollama.when("", Say({"answer": "Seine", "confidence": 0.9, "citations": []}))
    made_of = {"strategy": "closed-book", "model": LLAMA[1], "settings": {"style": "full"}}
    written = tmp_path / "profile.json"
    written.write_text(profile(0.95, made_of=made_of).model_dump_json())
    return written


def test_ask_withholds(ramify: Ramify, file: Path) -> None:
    asked = ("Which river runs through Paris?", *LLAMA)
    assert json.loads(ramify("ask", *asked, "--json").out)["answer"] == "Seine"
    result = json.loads(ramify("ask", *asked, "--json", "--profile", file).out)
    assert (result["answer"], result["confidence"]) == ("Unknown", None)
    assert result["withheld"].startswith("'Seine' was withheld: its confidence, 0.90")
    assert [notice for notice in result["notices"] if "calibrated otherwise" in notice] == []
    assert "'Seine' was withheld" in ramify("ask", *asked, "--profile", file).out


def test_eval_counts_what_is_withheld_as_unknown_and_another_profile_is_another_run(
    ramify: Ramify, file: Path, data: Path, tmp_path: Path
) -> None:
    command = ("eval", data, "--out", tmp_path / "run", "--limit", 2, *LLAMA, "--profile", file)
    done = ramify(*command)
    assert done.code == 0, done.err
    rows = [row for row in read_rows(tmp_path / "run" / "results.jsonl") if row["strategy"] == "closed-book"]
    assert [(row["answer"], row["abstained"], row["withheld"][:7]) for row in rows] == [("Unknown", True, "'Seine'")] * 2
    file.write_text(file.read_text().replace("0.95", "0.96"))
    assert "holds a run with profile" in ramify(*command).err


@pytest.mark.parametrize("command", [("ask", "Who?"), ("chat",), ("mcp",), ("serve",), ("studio",), ("eval", "demo", "--out", "run")])
def test_an_invalid_profile_is_rejected_immediately(ramify: Ramify, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = ramify(*command, "--profile", tmp_path / "none.json")
    assert done.code == 1
    assert done.err.startswith(f"error: the profile '{tmp_path / 'none.json'}' cannot be read (No such file or directory) — make one with ")


def test_runs_of_a_server_have_the_operator_s_profile_and_no_other(file: Path) -> None:
    assert restrict_settings(graphs.build("naive")).settings().profile is None
    set_allowed([], [], [], profile=str(file))
    settings = restrict_settings(graphs.build("naive")).settings
    assert settings().profile == str(file)
    with pytest.raises(UsageError, match="is not allowed for runs of this server"):
        settings(profile="/etc/hostname")
    catalog = Catalog(name_collections([]), "naive", ["extractive"], {"profile": str(file)})
    assert catalog.request_options("naive", catalog.selection(None))["profile"] == str(file)
    with pytest.raises(UsageError, match="cannot be set by a request"):
        catalog.request_options("naive", catalog.selection(None), settings={"profile": "/etc/hostname"})
