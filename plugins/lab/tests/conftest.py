"""Fixtures of runs; the cache is shared by all tests of a session, so that the small corpus is indexed once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ramify.evaluation.report import write_report
from tests.evaluation.degraded_manual import write_manual
from tests.evaluation.few_lines import VARIANTS
from tests.evaluation.films import write_films
from tests.evaluation.made_run import make_run
from tests.evaluation.small_data_set import make_questions, write_data


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
