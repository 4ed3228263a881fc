"""The skill: agents' loaders read it, every command in it runs, and what it says of an answer is there."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from deepagents.backends import FilesystemBackend
from deepagents.middleware.skills import SkillsMiddleware

import ramify.agents
from ramify.studio.cli import run

SKILL = Path(ramify.agents.__path__[0]) / "skills" / "ramify" / "SKILL.md"
TEXT = SKILL.read_text(encoding="utf-8")
FILES = {
    "papers/pen.md": "# Ballpoint pen\n\nThe first practical ballpoint pen was patented in 1938 by László Bíró, its inventor.\n",
    "papers/biro.md": "# László Bíró\n\nLászló Bíró was a Hungarian-Argentine inventor who was born in Budapest in 1899.\n",
    "papers/manual.txt": "ERR-17: the pump is dry. Order the part AX-4711.\n",
    "notes.md": "# Notes\n\nThe pen is on the desk.\n",
}


def test_an_agent_s_loader_finds_it_where_its_folder_is_copied(tmp_path: Path) -> None:
    shutil.copytree(SKILL.parent, tmp_path / "skills" / "ramify")
    loader = SkillsMiddleware(backend=FilesystemBackend(root_dir=tmp_path, virtual_mode=True), sources=["/skills/"])
    update = loader.before_agent({"messages": []}, None, {})  # type: ignore[arg-type, typeddict-item]
    assert update is not None
    [skill] = update["skills_metadata"]
    assert skill["name"] == "ramify"
    assert len(skill["description"]) <= 1024
    assert skill["path"] == "/skills/ramify/SKILL.md"


def test_every_command_in_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = [line for code in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in code.splitlines()]
    for line in commands:
        command, _, file = line.partition(" > ")
        assert run(shlex.split(command)[1:]) == 0, f"{line}\n{capsys.readouterr()}"
        printed = capsys.readouterr().out
        if file:
            (tmp_path / file).write_text(printed, encoding="utf-8")
    named = set(re.findall(r"`ramify (\w+)", TEXT))
    assert named == {shlex.split(line)[1] for line in commands}
    answer = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    assert answer["answer"] == "Budapest"


def test_the_fields_that_it_names_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "Who invented the ballpoint pen?", "--model", "extractive", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    rows = TEXT.split("| field | use it so |")[1].split("\n\n")[0]
    fields = re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE)
    assert set(fields) <= set(answer)
    assert {"source", "page", "heading", "quote", "closest"} <= set(answer["citations"][0])
    assert {"question", "answer", "confidence", "status", "note"} <= set(answer["tree"][0])
