"""Runs that a failing model, a full disk or Ctrl-C disturbs: what is left, and that they end as an undisturbed one."""

import resource
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from plugins.lab.tests.small_data_set import make_model, make_options, make_questions, question_rows, without_times, write_data
from ramify.embedded.extractive import model as extractive
from ramify.embedded.extractive.model import reply_to
from ramify.lab import answering as workers
from ramify.lab.run import execute
from ramify.lab.task import RESULTS, Row, read_rows
from ramify.tools.errors import InputError, ModelError
from tests.faults import fault


def scores(rows: list[Row]) -> dict[str, tuple[float, ...]]:
    return {
        key: (row["em"], row["f1"], row["containment"], row["official"]) for key, row in question_rows(rows).items() if row["error"] is None
    }


def test_a_model_that_fails_now_and_then_changes_nothing_about_the_rest(data: Path, tmp_path: Path) -> None:
    write_data(data, make_questions(20))
    calm = execute(make_options(data, tmp_path / "calm", strategies=("naive", "closed-book")))
    out, broken = tmp_path / "disturbed", {"q4", "q13"}
    wording = [question["question"] for question in make_questions(20) if question["id"] in broken]
    disturbed = execute(make_options(data, out, make_model(lambda question: question in wording), strategies=("naive", "closed-book")))
    failed = {row["id"] for row in disturbed if row["error"] is not None}
    assert failed == broken
    assert Counter(row["strategy"] for row in disturbed if row["error"]) == {"naive": 2, "closed-book": 2}
    assert all("the wire was cut" in row["error"] for row in disturbed if row["error"])
    assert all((row["answer"], row["em"], row["abstained"]) == ("", 0, False) for row in disturbed if row["error"])
    assert scores(disturbed) == {key: value for key, value in scores(calm).items() if key.rpartition("|")[2] not in broken}
    mended = make_model()
    assert without_times(execute(make_options(data, out, mended, strategies=("naive", "closed-book")))) == without_times(calm)
    assert len(mended.calls) == 4


def breaking(prompt: str, slots: Any) -> Any:
    """Reply as the embedded model over a wire that is cut in one call of ten, the same ones each time."""
    if crc32(f"{prompt} {slots}".encode()) % 10 == 0:
        raise OSError("the wire was cut")
    return reply_to(prompt, slots)


@pytest.mark.parametrize("strategy", ["prune", "tor"])
def test_trees_that_lose_a_tenth_of_their_calls_are_named_and_the_others_are_as_they_were(
    data: Path, tmp_path: Path, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_data(data, make_questions(12))
    calm = execute(make_options(data, tmp_path / "calm", "extractive", strategies=(strategy,)))
    monkeypatch.setattr(extractive, "reply_to", breaking)
    disturbed = execute(make_options(data, tmp_path / "disturbed", "extractive", strategies=(strategy,)))
    failed = {row["key"] for row in disturbed if row["error"] is not None}
    assert 0 < len(failed) < 12
    assert all("the wire was cut" in row["error"] for row in disturbed if row["error"])
    assert scores(disturbed) == {key: value for key, value in scores(calm).items() if key not in failed}


def test_a_run_stops_if_the_model_never_answers(data: Path, tmp_path: Path) -> None:
    write_data(data, make_questions(60))
    dead, out = make_model(lambda question: True), tmp_path / "run"
    with pytest.raises(ModelError, match="10 questions failed one after another") as caught:
        execute(make_options(data, out, dead, at_once=2))
    assert "the wire was cut" in str(caught.value)
    assert len(question_rows(read_rows(out / RESULTS))) < 15
    rows = execute(make_options(data, out))
    assert len(question_rows(rows)) == 60
    assert not any(row["error"] for row in rows)


@fault("disk", "full while an evaluation runs", sees="error: cannot write to the results — make room", kept="every finished row", code=1)
def test_a_full_disk_ends_the_run_and_the_next_one_resumes_it(data: Path, tmp_path: Path) -> None:
    calm = execute(make_options(data, tmp_path / "calm"))
    out, model = tmp_path / "run", make_model()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(row: Row) -> None:
        if row["id"] == "q3" and row["strategy"] != "search":
            resource.setrlimit(resource.RLIMIT_FSIZE, ((out / RESULTS).stat().st_size + 200, limits[1]))

    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with pytest.raises(InputError, match="cannot write to") as caught:
            execute(make_options(data, out, model, at_once=2), fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert "make room" in caught.value.remedy
    assert not (out / RESULTS).read_bytes().endswith(b"\n")
    kept = len(question_rows(read_rows(out / RESULTS)))
    calls = len(model.calls)
    assert 0 < kept < 12
    assert without_times(execute(make_options(data, out, model, at_once=2))) == without_times(calm)
    assert len(model.calls) - calls == 12 - kept


@pytest.fixture
def hearing() -> Iterator[None]:
    """Ctrl-C is heard: a shell that runs the tests in the background has them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("hearing")
def test_an_interruption_keeps_finished_results(data: Path, tmp_path: Path) -> None:
    out, model = tmp_path / "run", make_model()

    def interrupt(row: Row) -> None:
        if row["id"] == "q5" and row["strategy"] != "search":
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        execute(make_options(data, out, model, at_once=2), interrupt)
    kept = len(question_rows(read_rows(out / RESULTS)))
    assert 6 - 2 <= kept < 12
    asked_so_far = len(model.calls)
    assert asked_so_far - kept <= 2
    assert len(question_rows(execute(make_options(data, out, model)))) == 12
    assert len(model.calls) == asked_so_far + 12 - kept


MEASURED = 5
"""Answers that come before the others, to measure the speed: one in each worker, then three."""


class Late(ProcessPoolExecutor):
    """A pool that is left only after its process has ended: under load that happens by itself."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor_manager_thread.join(60)  # type: ignore[attr-defined]  # a name of its own
        super().shutdown(wait, cancel_futures=cancel_futures)


@pytest.mark.usefixtures("hearing")
def test_an_interruption_of_workers_is_silent(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", broken.append)
    monkeypatch.setattr(workers, "ProcessPoolExecutor", Late)

    answered: list[Row] = []

    def interrupt(row: Row) -> None:
        answered.extend([row] if row["strategy"] != "search" else [])
        if len(answered) > MEASURED:
            signal.raise_signal(signal.SIGINT)  # while others wait for a worker

    with pytest.raises(KeyboardInterrupt):
        execute(make_options(data, tmp_path / "run", "extractive", workers=2), interrupt)
    assert broken == []
    kept = len(question_rows(read_rows(tmp_path / "run" / RESULTS)))
    assert kept in (MEASURED + 1, MEASURED + 2), "an answer that the other worker gave in the same moment is kept"
