"""Every page, list and snapshot that is derived from the code is as the code has it now."""

import pytest

import ramify.graphs as graphs
from tests.records import RECORDS, ROOT, SNAPSHOTS


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_true(name: str) -> None:
    file = ROOT / name
    assert file.exists(), f"{name} is not on record: run `make records`"
    assert file.read_text(encoding="utf-8") == RECORDS[name](), f"{name} has changed: look at what has, then run `make records`"


def test_no_snapshot_is_left_over() -> None:
    assert [str(file) for file in SNAPSHOTS.glob("*/*") if str(file.relative_to(ROOT)) not in RECORDS] == []


def test_every_setting_and_argument_has_a_description() -> None:
    assert all(field.description for name in graphs.STRATEGIES for field in graphs.build(name).settings.model_fields.values())
    assert [name for name, strategy in graphs.STRATEGIES.items() if strategy.parameters.keys() - strategy.arguments.keys()] == []
