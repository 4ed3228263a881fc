"""ramify report and ramify export on the command line."""

import json
import webbrowser
from pathlib import Path

import pytest

from plugins.lab.tests.few_lines import make_line, write_run
from tests.studio.conftest import Ramify


@pytest.fixture
def run(tmp_path: Path) -> Path:
    calls = [{"prompt": "answer", "question": "Who?", "messages": [{"role": "user", "content": "Who?"}], "reply": {"answer": "Ada"}}]
    return write_run(tmp_path / "run", make_line(1, em=1.0, error=None, answer="Ada", calls=calls))


def test_without_a_screen_the_path_is_printed(ramify: Ramify, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    done = ramify("report", run, "--open")
    assert (done.code, done.out) == (0, f"{run / 'report.html'}\n")
    assert "no browser" in done.err
    assert (run / "report.md").exists()


@pytest.mark.parametrize("works", [True, False])
def test_with_a_screen_the_page_is_opened(ramify: Ramify, run: Path, monkeypatch: pytest.MonkeyPatch, works: bool) -> None:
    opened: list[str] = []

    def open_page(address: str) -> bool:
        opened.append(address)
        if not works:
            raise webbrowser.Error("could not locate runnable browser")
        return True

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", open_page)
    done = ramify("report", run, "--open")
    assert (done.code, opened) == (0, [(run / "report.html").as_uri()])
    assert ("no browser" in done.err) is not works


def test_several_runs_are_one_page_where_it_is_wanted(ramify: Ramify, run: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", make_line(1), model="gguf:smollm2")
    done = ramify("report", run, other, "--out", tmp_path / "pages")
    assert done.out == f"{tmp_path / 'pages' / 'side-by-side.html'}\n", done.err
    assert "naive · gguf:smollm2" in (tmp_path / "pages" / "side-by-side.md").read_text()
    assert ramify("report", run, "--out", tmp_path).code == 2
    assert ramify("report", tmp_path / "none").code == 1


def test_export_writes_and_counts_lines(ramify: Ramify, run: Path, tmp_path: Path) -> None:
    done = ramify("export", run, "--as", "sft")
    assert done.out == f"{run / 'sft.jsonl'}\n", done.err
    assert done.err == "1 right trees, 1 trees, 1 chat examples\n"
    [example] = [json.loads(line) for line in (run / "sft.jsonl").read_text().splitlines()]
    assert example["messages"][-1] == {"role": "assistant", "content": '{"answer": "Ada"}'}
    again = ramify("export", run, "--as", "sft", "--out", tmp_path / "own.jsonl")
    assert again.code == 0
    assert (tmp_path / "own.jsonl").read_bytes() == (run / "sft.jsonl").read_bytes()


def test_an_empty_export_is_rejected_with_the_reason(ramify: Ramify, run: Path) -> None:
    done = ramify("export", run, "--as", "dpo")
    assert done.code == 1
    assert "both a decomposition" in done.err
    assert not (run / "dpo.jsonl").exists()
    assert ramify("export", run, "--as", "other").code == 2
