"""How far long work is, on a terminal and in a log."""

from io import StringIO

import pytest
from rich.console import Console

from ramify.studio.console.progress_bar import ProgressLines, progress_bar


def test_a_bar_shows_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    file = StringIO()
    monkeypatch.setattr("ramify.studio.console.progress_bar.err", lambda: Console(file=file, force_terminal=True, width=100))
    with progress_bar() as report:
        report(7, None, "documents")
        report(5, 20, "passages")
        report(20, 20, "passages")
    drawn = file.getvalue()
    assert all(words in drawn for words in ("reading documents", "7/7", "encoding passages", "20/20"))


def test_without_a_terminal_a_line_is_printed_every_ten_seconds() -> None:
    told: list[str] = []
    now = iter([0.0, 1.0, 9.0, 11.0, 12.0, 21.5, 40.0])
    report = ProgressLines(told.append, lambda: next(now))
    for done in (10, 90, 110, 120, 215):
        report(done, 500, "files")
    report(40, None, "documents")
    assert told == ["reading files: 110 of 500, 10/s, 39 s left", "reading files: 215 of 500, 10/s, 28 s left", "reading documents: 40"]
