"""Profiles that are damaged, of something else, or not files: each is one line that says what it is."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ramify.tools.errors import RamifyError
from ramify.tools.profile import load_profile
from tests.graphs.test_profile import profile

GOOD: dict[str, Any] = json.loads(profile(0.5).model_dump_json())


def changed(**values: Any) -> bytes:
    return json.dumps({**GOOD, **values}).encode()


CONTENTS = {
    "empty": b"",
    "space": b"  ",
    "null": b"null",
    "list": b"[]",
    "other JSON": b'{"a": 1}',
    "cut": changed()[:50],
    "nested": b'{"a":' * 100_000,
    "not UTF-8": b"\xff\xfe",
    "UTF-16": changed().decode().encode("utf-16"),
    "zeros": bytes(100),
    "large": b" " * 2_000_000 + changed(),
    "newer": changed(version=2),
    "threshold NaN": changed(threshold=float("nan")),
    "threshold above 1": changed(threshold=1.5),
    "threshold below 0": changed(threshold=-0.1),
    "threshold a word": changed(threshold="high"),
    "risk infinite": changed(risk=float("inf")),
    "figure NaN": changed(figures={"accuracy": float("nan")}),
    "curve that falls": changed(curve=[[0, 0.5], [1, 0.2]]),
    "curve with a step": changed(curve=[[0.5, 0.1], [0.5, 0.2]]),
    "curve with NaN": changed(curve=[[0, float("nan")], [1, 1]]),
    "curve outside": changed(curve=[[0, 0], [2, 3]]),
    "curve of three": changed(curve=[[0, 0, 0]]),
    "curve of many": changed(curve=[[number / 30_000, number / 30_000] for number in range(30_000)]),
    "no questions": changed(questions=0),
    "more fields": changed(more=1),
    "long name": changed(made_of={**GOOD["made_of"], "run": "x" * 1000}),
}


def check_refused(path: Path) -> None:
    with pytest.raises(RamifyError) as refused:
        load_profile(path)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 1500


@pytest.mark.parametrize("content", CONTENTS)
def test_a_damaged_profile_is_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "profile.json").write_bytes(CONTENTS[content])
    check_refused(tmp_path / "profile.json")


def test_what_is_not_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for name in ("folder", "pipe", "circle", "none", "x" * 300, "a\0b", "folder/none/x"):
        check_refused(tmp_path / name)
    check_refused(Path("~no-such-user/profile.json"))


def test_a_whole_profile_is_read(tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_bytes(changed())
    assert load_profile(tmp_path / "profile.json").threshold == 0.5
