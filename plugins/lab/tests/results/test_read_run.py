"""Which lines of a run a report is made from, and what it says where they cannot be read."""

import sys
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.few_lines import make_line, read_table, write_run
from ramify.lab import report
from ramify.lab.report import write_report
from ramify.tools.errors import InputError, UsageError


def test_a_half_written_last_line_is_left_out_and_named(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", make_line(1), make_line(2))
    with (folder / "results.jsonl").open("a") as file:
        file.write('{"key": "hotpotqa|naive||q3", "dat')
    write_report(folder)
    markdown = (folder / "report.md").read_text()
    assert "Line 3 of results.jsonl was being written" in markdown
    assert read_table(markdown, "Answers")[1][1] == "2"


def test_the_last_line_of_a_question_counts(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", make_line(1, em=0.0), make_line(1, em=1.0))
    write_report(folder)
    answers = read_table((folder / "report.md").read_text(), "Answers")
    assert answers[1][1:3] == ["1", "100.0 (100.0 to 100.0)"]


def test_lines_of_searching_alone_have_no_answers(tmp_path: Path) -> None:
    unasked = dict.fromkeys(("answer", "confidence", "em", "f1", "containment", "official", "usage", "model"))
    ways = [make_line(1, "search", way, **unasked, tree=[], citations=[]) for way in ("", "BM25", "mmr=0.75", "dense, mmr=0.75")]
    folder = write_run(tmp_path / "run", *ways)
    write_report(folder)
    markdown = (folder / "report.md").read_text()
    assert [cells[0] for cells in read_table(markdown, "Retrieval")[1:]] == [
        "search",
        "search BM25",
        "search mmr=0.75",
        "search dense, mmr=0.75",
    ]
    assert "### Answers" not in markdown
    assert "Sweeps" not in markdown


def test_unknown_columns_are_ignored(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", make_line(1, novelty={"a": 1}), novel=True)
    write_report(folder)
    assert (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "there is no manifest.json"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "is not a valid manifest of a run"),
        (lambda folder: (folder / "manifest.json").write_text('{"variants": 3}'), "it has no list 'variants'"),
        (lambda folder: (folder / "results.jsonl").unlink(), "there is no results.jsonl"),
        (lambda folder: (folder / "results.jsonl").write_text(""), "there are no results"),
        (lambda folder: (folder / "results.jsonl").write_text("no json\n"), "line 1 of"),
        (lambda folder: (folder / "results.jsonl").write_text('{"id": "q1"}\n'), "it has no dataset, strategy, question"),
        (lambda folder: (folder / "results.jsonl").write_text('{"em": NaN}\n'), "NaN"),
        (lambda folder: (folder / "results.jsonl").write_bytes(b"\xff\xfe\n"), "cannot read"),
    ],
)
def test_an_invalid_run_gives_one_clear_line(tmp_path: Path, spoil: Any, said: str) -> None:
    folder = write_run(tmp_path / "run", make_line(1))
    spoil(folder)
    with pytest.raises(InputError, match=said) as caught:
        write_report(folder)
    assert "\n" not in str(caught.value)
    assert not (folder / "report.html").exists()


def test_without_matplotlib_the_error_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_run(tmp_path / "run", make_line(1))
    for name in [name for name in sys.modules if name.startswith(("matplotlib", "ramify.lab.report."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(report, "_plots", raising=False)  # a package keeps its modules as attributes, too
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install 'ramify-rag\[eval\]'"):
        write_report(folder)


def test_the_form_of_a_language_model_s_replies_is_counted_by_prompt(tmp_path: Path) -> None:
    counted = [{"answer": {"valid": 2, "repaired": 1, "malformed": 0}}, {"answer": {"valid": 0, "repaired": 0, "malformed": 1}}]
    lines = [
        make_line(
            number,
            model="gguf:smollm2",
            usage={"replies": replies, "llm_calls": 2, "prompt_tokens": 100, "completion_tokens": 9, "wall_s": 1.0},
        )
        for number, replies in enumerate(counted)
    ]
    write_report(write_run(tmp_path / "named", *lines))
    assert ["answer", "2", "1", "1", "75.0"] in read_table((tmp_path / "named" / "report.md").read_text(), "Replies by prompt")
    write_report(write_run(tmp_path / "embedded", make_line(1, model="extractive", usage={"replies": counted[0]})))
    assert "Replies by prompt" not in (tmp_path / "embedded" / "report.md").read_text()
