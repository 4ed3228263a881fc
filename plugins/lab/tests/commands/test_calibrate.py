"""ramify calibrate: a run becomes a profile with its report, or is told what it lacks."""

import json
import random
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from plugins.lab.tests.few_lines import make_line, read_rows, write_run
from ramify.tools.profile import load_profile
from tests.studio.conftest import Ramify

SETTINGS = {"model": "extractive", "k": 5, "style": "short", "tau": None, "max_depth": 2}


def answered(number: int, variant: str = "", better: float = 0.0, **fields: Any) -> dict[str, Any]:
    """Make a line whose answer is right as often as it is sure."""
    chance = random.Random(number)
    confidence = round(chance.uniform(0.5, 1), 4)
    right = chance.random() < confidence + better
    scores = {"em": float(right), "abstained": False, "unanswerable": False, "error": None, "answer": "x", "index_digest": "abc"}
    return make_line(number, "prune", variant, **{"confidence": confidence, **scores, "type": "odd" if number % 2 else "even", **fields})


def run_of(folder: Path, *rows: dict[str, Any]) -> Path:
    chosen = dict.fromkeys((row["strategy"], row["variant"]) for row in rows)
    variants = [{"strategy": strategy, "variant": name, "settings": SETTINGS, "arguments": {}} for strategy, name in chosen]
    return write_run(folder, *rows, variants=variants)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return run_of(tmp_path / "run", *map(answered, range(200)))


def test_a_profile_is_written_with_its_report(ramify: Ramify, run: Path) -> None:
    done = ramify("calibrate", run, "--risk", "0.1")
    assert done.code == 0, done.err
    assert f"the profile is in {run / 'profile.json'}" in done.err
    assert "Calibrated on 100 questions of 'run'; 100 others, drawn with seed 0, check it." in done.out
    assert "at most 10 % of all questions asked are wrong, in expectation (in the profile)" in done.out
    assert (run / "profile.md").read_text().rstrip() == done.out.rstrip()
    assert fromstring((run / "profile.svg").read_text()).tag.endswith("svg")
    profile = load_profile(run / "profile.json")
    made = profile.made_of
    assert (made.run, made.strategy, made.model, made.indexes) == ("run", "prune", "extractive", ("abc",))
    assert made.settings == {"k": 5, "max_depth": 2}
    wrong = sum(row["confidence"] > profile.threshold and not row["em"] for row in read_rows(run))
    assert 0 < wrong / 200 < 0.15
    assert profile.figures["wrong"] is not None
    assert profile.figures["wrong"] + 1 <= 0.1 * 101
    assert set(profile.types) == {"even", "odd"}


def test_the_same_run_makes_the_same_profile_and_another_seed_another_split(ramify: Ramify, run: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.json", "b.json", "c.json")]
    for file, seed in zip(files, (0, 0, 1), strict=True):
        assert ramify("calibrate", run, "--risk", "0.1", "--seed", seed, "--out", file).code == 0
    first, again, other = (file.read_text() for file in files)
    assert first == again != other


def test_an_impossible_bound_is_reported_and_no_profile_written(ramify: Ramify, run: Path) -> None:
    done = ramify("calibrate", run, "--risk", "0.02", "--bound", "answered")
    assert done.code == 1
    assert "No threshold keeps this: at most 2 % of the answers given are wrong, with a probability of 90 %." in done.out
    assert "the least that could be promised is" in done.out
    assert done.err.startswith(
        "error: no threshold satisfies the bound on wrong answers among those answered, so no profile was written — "
    )
    assert not (run / "profile.json").exists()


def test_an_answer_to_an_unanswerable_question_is_wrong_and_open_questions_are_left_out(ramify: Ramify, tmp_path: Path) -> None:
    rows = [answered(number, em=1.0, confidence=0.9) for number in range(20)]
    rows += [answered(number, unanswerable=True, em=0.0, confidence=0.95, gold="Unknown") for number in range(20, 40)]
    rows += [answered(number, em=None, f1=None) for number in range(40, 60)]
    done = ramify("calibrate", run_of(tmp_path / "run", *rows), "--risk", "0.1", "--split", "1")
    assert done.code == 1
    assert "Calibrated on 40 questions of 'run'; none is left to check it." in done.out
    assert "the surest answers are wrong too often" in done.out


def test_a_sweep_of_tau_recommends_one(ramify: Ramify, tmp_path: Path) -> None:
    swept = [answered(number, f"tau={tau}", better) for number in range(300) for tau, better in ((0.5, -0.2), (0.9, 0.3))]
    run = run_of(tmp_path / "run", *swept)
    done = ramify("calibrate", run, "--risk", "0.1")
    assert done.code == 0, done.err
    assert "0.9, recommended" in done.out
    profile = load_profile(run / "profile.json")
    assert (profile.tau, profile.made_of.variant, profile.questions) == (0.9, "tau=0.9", 75)


def test_wrong_uses_are_refused(ramify: Ramify, run: Path, tmp_path: Path) -> None:
    cases = [
        ((run, "--risk", "0"), "--risk 0 "),
        ((run, "--risk", "0.1", "--bound", "both"), "--bound 'both' is not valid — choose one of asked, answered"),
        ((run, "--risk", "0.1", "--strategy", "tor"), "the run has no answers of 'tor' — choose one with --strategy: prune"),
        ((run, "--risk", "0.1", "--type", "how"), "prune has no answers of type 'how' with golds"),
        ((tmp_path, "--risk", "0.1"), "there is no manifest.json"),
        ((run, "--risk", "0.1", "--out", tmp_path / "p.md"), "does not end in .json"),
    ]
    for arguments, message in cases:
        done = ramify("calibrate", *arguments)
        assert done.code in (1, 2)
        assert message in done.err
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["variants"][0]["settings"]["profile"] = "other.json"
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert "was made with a profile — calibrate on a run without --profile" in ramify("calibrate", run, "--risk", "0.1").err
