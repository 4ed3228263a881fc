"""make audit: a vulnerability fails it, and so does looking nothing up."""

import json
import subprocess
from typing import Any

import pytest

from release import audit

SAFE = {"name": "jinja2", "version": "3.1.6", "vulns": []}
HOLED = {"name": "jinja2", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
SKIPPED = {"name": "torch", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("dependencies", "code", "told"),
    [
        ([SAFE], 0, ("1 packages looked up, 0 vulnerabilities",)),
        ([SAFE, HOLED], 1, ("jinja2 2.0: PYSEC-1, fixed in 2.1",)),
        ([SAFE, SKIPPED], 1, ("error: not looked up: torch",)),
        ([SKIPPED], 1, ("error: nothing was audited",)),
        ([], 1, ("error: nothing was audited",)),
        (None, 1, ("error: nothing was audited", "no database")),
    ],
)
def test_what_was_not_looked_up_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], dependencies: Any, code: int, told: tuple[str, ...]
) -> None:
    asked: list[str] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command[command.index("-s") + 1])
        return subprocess.CompletedProcess(command, 1, "" if dependencies is None else json.dumps({"dependencies": dependencies}), "")

    monkeypatch.setattr(subprocess, "run", run)
    assert audit.main(["requirements.lock"]) == code
    printed = capsys.readouterr()
    assert all(words in (printed.err if code else printed.out) for words in told)
    assert asked == (["pypi"] if dependencies and dependencies != [SKIPPED] else ["pypi", "osv"])


def test_files_with_and_without_hashes_are_audited(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        if command.count("-r") > 1:  # as pip-audit does
            return subprocess.CompletedProcess(command, 1, "", "requirement jinja2==2.0 does not contain a hash")
        found = [SAFE, HOLED] if "constraints.txt" in command else [SAFE]
        return subprocess.CompletedProcess(command, 0, json.dumps({"dependencies": found}), "")

    monkeypatch.setattr(subprocess, "run", run)
    assert audit.main(["requirements.lock", "constraints.txt"]) == 1
    assert "2 packages looked up, 1 vulnerabilities" in capsys.readouterr().err
