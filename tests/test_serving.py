"""What serves Ramify: an image of LangGraph's server, one of our own, and the containers beside it. No container runs in these tests."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ramify.studio.cli import app
from ramify.tools.index.index_store import is_store_address, store_at

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8")))


def test_langgraph_writes_an_image_of_its_server_with_our_graphs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "langgraph_cli", "dockerfile", "-c", ROOT / "langgraph.json", tmp_path / "Dockerfile"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "Dockerfile").read_text(encoding="utf-8")
    told = re.search(r"^ENV LANGSERVE_GRAPHS='(.*)'$", written, re.MULTILINE)
    assert told is not None
    assert {name: graph["path"] for name, graph in json.loads(told[1]).items()}["prune"] == "ramify.studio.server.app:prune"
    assert re.search(r"^ADD \. /deps/", written, re.MULTILINE)
    assert "ENV LANGGRAPH_STRICT_MSGPACK=true" in written
    assert "ENV LANGSMITH_TRACING=false" in written


def test_every_service_is_pinned_whole_and_looked_after(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"app", "ollama", "milvus", "postgres"}
    for name, service in services.items():
        assert name == "app" or re.search(r":v?\d+\.\d+", service["image"]), f"{name} names no version"
        assert name == "app" or service["healthcheck"]["test"]
        assert set(service.get("depends_on", {})) <= set(services)
        for volume in service.get("volumes", []):
            assert volume.partition(":")[0] in compose["volumes"]


def test_nothing_listens_beyond_this_machine_and_no_password_is_written_down(compose: dict[str, Any]) -> None:
    ports = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    variables = re.findall(r"\$\{([^}]*)\}", text)
    assert {variable.partition(":?")[0] for variable in variables} == {"POSTGRES_PASSWORD", "RAMIFY_SERVE_TOKEN"}
    assert all(":?" in variable for variable in variables), "a missing password is an error"


def test_the_container_s_commands_are_valid(compose: dict[str, Any]) -> None:
    import typer

    name, *arguments = compose["services"]["app"]["command"]
    command = typer.main.get_command(app).get_command(None, name)  # type: ignore[attr-defined]
    told = command.make_context(name, list(arguments)).params
    [index] = told["index"]
    assert (told["host"], is_store_address(index), store_at(index).where) == ("0.0.0.0", True, index)
    assert told["base_url"] == ["http://ollama:11434"]
    assert (name, told["allow_origin"]) == ("serve", [f"http://app:{told['port']}"])
    assert compose["services"]["app"]["ports"] == [f"127.0.0.1:{told['port']}:{told['port']}"]


def test_our_own_image_installs_what_the_app_needs() -> None:
    written = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    [extras] = re.findall(r"'\.\[([\w,]+)\]'", written)
    assert {"milvus", "postgres", "serve", "studio"} <= set(extras.split(","))
    assert "USER ramify" in written
    assert "EXPOSE 8484" in written
    assert 'CMD ["serve", ' in written
