"""Where runs keep what can be made again, for all tests of a session: the corpus of the small set is indexed once."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ramify.evaluation.report import write_report
from tests.evaluation.made_run import make_run
from tests.evaluation.small import questions, write_data
from tests.evaluation.test_degraded import write_manual
from tests.evaluation.test_kinds import FILMS, _question
from tests.evaluation.test_report import VARIANTS


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep indexes in a folder of the tests."""
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def data(tmp_path: Path, cache: None) -> Path:
    """Twelve questions on six towns."""
    return write_data(tmp_path / "rivers", questions(12))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with sweeps, an ablation and failures, reported."""
    folder = make_run(tmp_path_factory.mktemp("runs") / "run", 40, variants=VARIANTS)
    write_report(folder)
    return folder


@pytest.fixture
def films(tmp_path: Path, cache: None) -> Path:
    """Films, their directors, and much talk of directors who grow up in towns: only a name leads from film to director."""
    folder = tmp_path / "films"
    folder.mkdir()
    told = [(film, f"{film} was made by {director} in four weeks of rain.") for film, (director, _) in FILMS.items()]
    told += [(director, f"{director} spent early years beside the mill at {town}.") for director, town in FILMS.values()]
    told += [(f"Essay {number}", f"The director of a film will often grow up in a small town. {number}") for number in range(9)]
    corpus = [{"id": title.lower().replace(" ", "-"), "title": title, "text": text} for title, text in told]
    asked = [_question(number, film) for number, film in enumerate(FILMS)]
    for name, records in (("corpus.jsonl", corpus), ("questions.jsonl", asked)):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("degraded")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAMIFY_CACHE", str(folder / "cache"))
        yield write_manual(folder / "manual")
