"""Fixtures of runs; the cache is shared by all tests of a session, so that the small corpus is indexed once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from plugins.lab.tests.degraded_manual import write_manual
from plugins.lab.tests.few_lines import VARIANTS
from plugins.lab.tests.films import write_films
from plugins.lab.tests.made_run import make_run
from plugins.lab.tests.small_data_set import make_questions, write_data
from ramify.lab.report import write_report
from tests.studio.conftest import built, documents, nothing_allowed, nowhere, ollama, ramify

__all__ = ["built", "documents", "nothing_allowed", "nowhere", "ollama", "ramify"]


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep indexes in a folder of the tests."""
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def data(tmp_path: Path, cache: None) -> Path:
    """Twelve questions on six towns."""
    return write_data(tmp_path / "rivers", make_questions(12))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with sweeps, an ablation and failures, reported."""
    folder = make_run(tmp_path_factory.mktemp("runs") / "run", 40, variants=VARIANTS)
    write_report(folder)
    return folder


@pytest.fixture
def films(tmp_path: Path, cache: None) -> Path:
    """Films, their directors, and much talk of directors: only a name leads from one to the other."""
    return write_films(tmp_path / "films")


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("degraded")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAMIFY_CACHE", str(folder / "cache"))
        yield write_manual(folder / "manual")
