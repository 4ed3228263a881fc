"""A file that cannot be run, or not as asked: one line with a remedy."""

from pathlib import Path
from typing import Any

import pytest

from ramify.tools.errors import ModelError, RamifyError, UsageError
from ramify.tools.models import ModelOptions, gguf, resolve
from ramify.tools.models.gguf_header import read_header
from tests.tools.llamacpp import write_model
from tests.tools.models.test_gguf import model, running

pytestmark = pytest.mark.usefixtures("one_thread")


def broken(tmp_path: Path, whole: bytes) -> dict[str, Any]:
    """Files and what is said of each."""
    wrong = {
        "text.gguf": (b"a text", "it is not in the format GGUF"),
        "empty.gguf": (b"", "it is not in the format GGUF"),
        "start.gguf": (whole[:200], "its header is damaged or cut off"),
        "later.gguf": (b"GGUF" + b"\x63" + whole[5:], "version 99 of GGUF"),
        "cut.gguf": (whole[: len(whole) // 2], "llama.cpp cannot load .* architecture 'llama'"),
        "other.gguf": (whole.replace(b"\x00llama", b"\x00zzzzz"), "llama.cpp cannot load .* architecture 'zzzzz'"),
    }
    for name, (content, _) in wrong.items():
        (tmp_path / name).write_bytes(content)
    write_model(tmp_path / "adapter.gguf", kind="adapter")
    return {name: words for name, (_, words) in wrong.items()} | {"adapter.gguf": "does not write text: it is a file of kind 'adapter'"}


def test_a_file_that_cannot_be_run_is_one_line_with_a_remedy(file: Path, tmp_path: Path) -> None:
    for name, words in broken(tmp_path, file.read_bytes()).items():
        with pytest.raises(ModelError, match=words) as told:
            running(tmp_path / name)
        assert "\n" not in str(told.value)
        assert " — " in str(told.value)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("nowhere.gguf", ModelError, "'nowhere.gguf' is not there — name a file as gguf:PATH"),
        ("/", ModelError, "'/' is a folder"),
    ],
)
def test_what_is_no_file_is_told(name: str, error: type[RamifyError], words: str) -> None:
    with pytest.raises(error, match=words):
        resolve(f"gguf:{name}", ModelOptions())


def test_a_missing_extra_is_told_with_its_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf, "PACKAGES", ("no_such_engine",))
    with pytest.raises(ModelError, match=r"no_such_engine\) — run `pip install 'ramify-rag\[gguf\]'`"):
        running(file)


def test_an_address_beside_it_is_refused(file: Path) -> None:
    with pytest.raises(UsageError, match="runs in this process and has no base_url"):
        running(file, base_url="http://127.0.0.1:8000/v1")


def test_a_file_without_a_chat_template_is_run_and_said_so(tmp_path: Path, file: Path) -> None:
    write_model(tmp_path / "base.gguf", template="")
    assert "base.gguf has no chat template" in (model(tmp_path / "base.gguf").notice or "")
    assert model(file).notice is None


def test_a_header_with_lengths_beyond_the_file_is_refused_at_once(tmp_path: Path, file: Path) -> None:
    whole = bytearray(file.read_bytes())
    place = whole.index(b"tokenizer.ggml.tokens") + len(b"tokenizer.ggml.tokens") + 8
    whole[place : place + 8] = (2**62).to_bytes(8, "little")
    (tmp_path / "many.gguf").write_bytes(whole)
    with pytest.raises(ValueError, match="damaged or cut off"):
        read_header(tmp_path / "many.gguf")


def test_a_shipped_model_s_bare_name_is_told_its_full_one() -> None:
    with pytest.raises(UsageError, match="did you mean gguf:smollm2"):
        resolve("smollm2", ModelOptions())
