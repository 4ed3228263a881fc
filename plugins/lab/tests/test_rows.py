"""The file of results: complete and incomplete lines, a single writer, a full disk."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ramify.lab.task import ResultLog, read_outcomes, read_rows
from ramify.tools.errors import InputError, UsageError


def row(key: str, **more: Any) -> dict[str, Any]:
    return {"key": key, "strategy": "naive", "variant": "", "error": None, "em": 1.0, "answer": "Orléans", **more}


def read_keys(file: Path) -> list[str]:
    return [line["key"] for line in read_rows(file)]


def test_what_is_written_is_read_and_the_last_line_of_a_key_counts(tmp_path: Path) -> None:
    file = tmp_path / "run" / "results.jsonl"
    assert read_rows(file) == []
    with ResultLog(file) as log:
        log.write([row("a", error="no answer"), row("b")])
        log.write([row("a")])
    assert read_rows(file) == [row("a"), row("b")]
    assert read_outcomes(file)["a"] == {"key": "a", "strategy": "naive", "variant": "", "error": None, "em": 1.0}


@pytest.mark.parametrize("half", ['{"key": "c", "str', '{"key": "c", "answer": "Orl\udcc3'])
def test_an_incomplete_line_is_skipped_and_removed_before_writing(tmp_path: Path, half: str) -> None:
    file = tmp_path / "results.jsonl"
    with ResultLog(file) as log:
        log.write([row("a"), row("b")])
    with file.open("ab") as lines:
        lines.write(half.encode(errors="surrogateescape"))
    assert read_keys(file) == ["a", "b"]
    with ResultLog(file) as log:
        log.write([row("c")])
    assert read_keys(file) == ["a", "b", "c"]


def test_a_file_with_only_an_incomplete_line_is_emptied(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text('{"key": "a"', encoding="utf-8")
    with ResultLog(file) as log:
        log.write([row("b")])
    assert file.read_text(encoding="utf-8") == json.dumps(row("b"), ensure_ascii=False) + "\n"


@pytest.mark.parametrize("line", [b"{}", b"[1]", b"\xff\xfe", b'{"key": "a"', b"\x00\x00"])
def test_an_invalid_line_is_named_in_the_error(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "results.jsonl"
    file.write_bytes(json.dumps(row("a")).encode() + b"\n" + line + b"\n")
    with pytest.raises(InputError, match=r"line 2 of .*results\.jsonl") as caught:
        read_rows(file)
    assert "--out" in caught.value.remedy


def test_a_second_writer_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    with ResultLog(file), pytest.raises(UsageError, match="another run"), ResultLog(file):
        pass
    with ResultLog(file) as log:
        log.write([row("a")])
    assert read_keys(file) == ["a"]


FILL = """
import resource, signal, sys
from pathlib import Path
from ramify.lab.task import ResultLog
from ramify.tools.errors import InputError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    with ResultLog(Path(sys.argv[1])) as log:
        for number in range(1000):
            log.write([{"key": str(number), "strategy": "", "variant": "", "error": None, "em": 0.0}])
except InputError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="the system sets no limit to files")
def test_a_full_disk_leaves_whole_lines_and_gives_one_error(tmp_path: Path) -> None:
    """A file that may not grow beyond a size stands for the disk: the system writes what fits, then refuses."""
    file = tmp_path / "results.jsonl"
    done = subprocess.run([sys.executable, "-c", FILL, str(file)], capture_output=True, text=True, check=True)
    assert "cannot write to" in done.stdout
    assert "make room" in done.stdout
    assert done.stderr == ""
    size = file.stat().st_size
    assert size == 5000
    assert not file.read_bytes().endswith(b"\n")
    written = read_keys(file)
    assert written == [str(number) for number in range(len(written))]
    with ResultLog(file) as log:
        log.write([row("more")])
    assert read_keys(file) == [*written, "more"]


def test_a_line_with_a_lone_surrogate_is_written(tmp_path: Path) -> None:
    with ResultLog(tmp_path / "results.jsonl") as log:
        log.write([row("a", answer="half \ud800 of it")])
    assert read_rows(tmp_path / "results.jsonl")[0]["answer"].startswith("half ")


def test_a_folder_in_the_place_of_the_file_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").mkdir()
    with pytest.raises(InputError, match=r"cannot write to .* — move the folder"), ResultLog(tmp_path / "results.jsonl"):
        pass
