"""The examples of docs/langchain.md: each loader reads a file written here, and each line prints what the page says."""

import json
import re
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.test_docs import FENCE, ROOT

PAGE = (ROOT / "docs" / "langchain.md").read_text(encoding="utf-8")
SHOWN = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)
BLOCKS = [code for language, code in FENCE.findall(PAGE) if language in ("python", "py")]
CELLS = ["# Pump P-7\n", "\n", "The pressure test of pump P-7 was run by Ida Berg on 3 May 2024."]
MESSAGES = [
    {"type": "message", "user": "U1", "ts": "1714730000.000100", "text": "The key of the pump room is kept by Mira Holm."},
    {"type": "message", "user": "U2", "ts": "1714730010.000100", "text": ""},
]
CHAT = """\
03.05.24, 10:12 - Ida Berg: The supplier of pump P-7 is Hydra Works.
03.05.24, 10:13 - Jon Lund: <Media omitted>
03.05.24, 10:14 - Jon Lund: The next meeting is on Friday.
"""
NOTES = {
    "cellar.md": "status:: closed\n\nThe cellar was painted in 2019.\n",
    "rooms/cellar.md": "---\nauthor: Ida Berg\n---\nstatus:: open\n\nThe cellar is drained by pump P-9. #urgent\n",
}


def write_sources(folder: Path) -> None:
    """Write a notebook, two chats, a vault and a database."""
    code = {"cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": [], "source": ["pressure = 12.5\n", "pressure"]}
    cells = [{"cell_type": "markdown", "metadata": {}, "source": CELLS}, code]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "pump.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    (folder / "chat.txt").write_text(CHAT, encoding="utf-8")
    with zipfile.ZipFile(folder / "slack.zip", "w") as export:
        export.writestr("channels.json", json.dumps([{"id": "C01", "name": "pumps"}]))
        export.writestr("pumps/2024-05-03.json", json.dumps(MESSAGES))
    for name, text in NOTES.items():
        (folder / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "vault" / name).write_text(text, encoding="utf-8")
    with closing(sqlite3.connect(folder / "firms.db")) as database, database:
        database.execute("CREATE TABLE firms (name TEXT, founder TEXT, city TEXT)")
        rows = [("Hydra Works", "Paula Stern", "Graz"), ("Aqua Lab", "Tom Reed", "Bergen")]
        database.executemany("INSERT INTO firms VALUES (?, ?, ?)", rows)


def test_each_line_prints_what_stands_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sources(tmp_path)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "document"}
    for block in BLOCKS:
        lines: list[str] = []
        namespace["print"] = lambda *values, lines=lines: lines.append(" ".join(map(str, values)))
        exec(compile(block, "docs/langchain.md", "exec"), namespace)  # the project's own page
        assert lines == SHOWN.findall(block)
