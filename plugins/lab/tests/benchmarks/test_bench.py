"""The table of all benchmarks: each row has its figure, or says that it needs data."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[4]))  # benchmarks/ is not installed

from plugins.lab.benchmarks.bench import DATA, RUNS, main


def test_every_row_has_its_figure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv(DATA, raising=False)  # with the data it takes minutes
    monkeypatch.setattr(sys, "argv", ["bench.py", "--smallest"])
    main()
    lines = capsys.readouterr().out.splitlines()
    head, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    assert head == ["quantity", "figure", "target or note"]
    assert [name for name, *_ in rows] == [figure.name for run in RUNS for figure in run.figures]
    without = {figure.name for run in RUNS for figure in run.figures if run.data}
    assert {
        name: note for name, figure, note in rows if name not in without and float(figure.partition(" ")[0].replace("–", "0")) <= 0
    } == {}
    assert all(DATA in note for name, _, note in rows if name in without)
