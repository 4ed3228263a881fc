"""What the tests here share."""

import json
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.inspection.test_groups import GONE, HOSTILE
from ramify.studio.cli import run
from tests.studio.conftest import Ramify
from tests.tools.index.manual import change_records, records, write


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of paragraphs, of which some lack their chapter, and one chapter has a hostile name."""
    folder = tmp_path_factory.mktemp("grouped")
    hostile = {f"p4-{place}": {"chapter": HOSTILE} for place in range(1, 17)}
    file = write(folder, change_records(records(), {**GONE, **hostile}))
    assert run(["index", str(file), "--out", str(folder / "plain")]) == 0
    return folder / "plain"


@pytest.fixture(scope="session")
def grouped(plain: Path) -> Path:
    """The same with a hierarchy."""
    folder = plain.with_name("grouped")
    assert run(["index", str(plain.with_name("manual.jsonl")), "--out", str(folder), "--kind", "hierarchy", "--group-by", "chapter"]) == 0
    return folder


@pytest.fixture
def inspected(ramify: Ramify, grouped: Path) -> dict[str, Any]:
    """What --json says of the hierarchy."""
    done = ramify("inspect", grouped, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)
