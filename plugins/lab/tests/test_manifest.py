"""The manifest of a run, and that runs with another configuration cannot resume it."""

import json
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.small_data_set import make_model, make_options, make_questions, write_data
from ramify.embedded.reader.reading import SMALL
from ramify.lab._manifest import read_run_manifest
from ramify.lab.run import execute
from ramify.tools.demo import demo_corpus
from ramify.tools.errors import InputError, ModelError, UsageError
from ramify.tools.models import ModelOptions, resolve_model
from ramify.tools.models.tokens import LearnedCount, Ratios, estimate_tokens
from tests.tools.ollama_server import Ollama, ollama

__all__ = ["ollama"]


def told(out: Path) -> dict[str, Any]:
    manifest = read_run_manifest(out)
    assert manifest is not None
    return manifest


def test_a_manifest_has_what_is_needed_to_repeat_the_run(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    execute(make_options(data, out, seed=5, limit=4, at_once=3, options={"num_predict": 64}, sweeps={"timeout": [9.0, 120.0]}, sample=2))
    manifest = told(out)
    assert {"created", "ramify", "versions", "python", "machine", "strategies", "command"} <= manifest.keys()
    assert {"langgraph", "torch", "numpy"} <= manifest["versions"].keys()
    assert {"processor", "cores", "memory_gb", "gpu"} <= manifest["machine"].keys()
    facts = ("model", "embedding", "seed", "limit", "sample", "concurrency", "base", "retrieval_only")
    assert [manifest[name] for name in facts] == ["FakeModel", "minilm", 5, 4, 2, 3, {"num_predict": 64}, False]
    variants = {variant["variant"]: variant["settings"] for variant in manifest["variants"]}
    assert {
        name: (settings["model"], settings["seed"], settings["num_predict"], settings["timeout"]) for name, settings in variants.items()
    } == {
        "": ("FakeModel", 5, 64, 120.0),
        "timeout=9": ("FakeModel", 5, 64, 9.0),
        "timeout=120": ("FakeModel", 5, 64, 120.0),
    }
    (dataset,) = manifest["datasets"]
    assert len(dataset.pop("sha256")) == 64
    assert dataset == {
        **{"name": "rivers", "path": str(data), "questions": 4, "types": {"even": 2, "odd": 2}, "caveats": [], "hits_by": "document"}
    }


def test_strategies_variants_and_questions_can_be_added(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    execute(make_options(data, out, limit=3))
    first = told(out)
    rows = execute(make_options(data, out, limit=2, strategies=("naive",), sweeps={"k": [2]}))
    manifest = told(out)
    assert manifest["created"] == first["created"]
    assert manifest["strategies"] == ["closed-book", "naive"]
    assert [(variant["strategy"], variant["variant"]) for variant in manifest["variants"]] == [
        ("closed-book", ""),
        ("naive", ""),
        ("naive", "k=2"),
    ]
    assert manifest["datasets"] == first["datasets"]
    assert [row["strategy"] for row in rows].count("closed-book") == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 1}, ("seed 0", "not 1")),
        ({"options": {"num_predict": 99}}, ("settings none", "num_predict=99")),
        ({"options": {"model": "extractive"}}, ("model 'FakeModel'", "'extractive'")),
        ({"embedding": "ollama:other"}, ("embedding 'minilm'", "'ollama:other'")),
    ],
)
def test_a_run_with_another_configuration_is_not_resumed(data: Path, tmp_path: Path, change: dict[str, Any], words: list[str]) -> None:
    out = tmp_path / "run"
    execute(make_options(data, out, limit=1))
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    with pytest.raises(UsageError) as error:
        execute(make_options(data, out, **{"limit": 1, **change}))
    assert all(word in str(error.value) for word in (*words, "--out")), error.value
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before


def test_nor_is_one_of_another_reader(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that were trained anew answer otherwise, under the same name and version."""
    wanted = make_options(data, tmp_path / "run", "extractive", limit=1)
    execute(wanted)
    monkeypatch.setattr(SMALL, "sha256", "0" * 64)
    with pytest.raises(UsageError, match=r"reader .*weights=000000000000"):
        execute(wanted)


def test_nor_is_one_on_other_data_of_the_same_name(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    execute(make_options(data, out, limit=1))
    changed = make_questions(12)
    changed[11]["answer"] = "Rhine"  # not even among those asked
    write_data(data, changed)
    with pytest.raises(UsageError, match="data set 'rivers' of sha256"):
        execute(make_options(data, out, limit=1))


def test_a_run_that_never_began_may_be_another(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises((UsageError, InputError, ModelError)):
        execute(make_options(data, out, embedding="no-such-embedding", limit=1))
    assert len(execute(make_options(data, out, limit=1, seed=3))) == 2


@pytest.mark.parametrize("text", ["", "[]", '{"variants": []}', '{"variants": 1, "datasets": [], "strategies": []}'])
def test_an_invalid_manifest_is_left_unchanged(data: Path, tmp_path: Path, text: str) -> None:
    out = tmp_path / "run"
    out.mkdir()
    (out / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="not a valid manifest of a run"):
        execute(make_options(data, out))
    assert (out / "manifest.json").read_text(encoding="utf-8") == text


def test_passwords_of_addresses_are_not_written_down(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    address = "http://someone:secret@127.0.0.1:9/v1"
    for _ in range(2):  # and what is not written down is no difference
        execute(make_options(data, out, model=make_model(), limit=1, options={"base_url": address}))
    text = (out / "manifest.json").read_text(encoding="utf-8")
    assert "secret" not in text
    assert json.loads(text)["base"] == {"base_url": "http://127.0.0.1:9/v1"}


def test_a_run_goes_by_what_was_known_of_its_models_tokens_when_it_began(
    data: Path, tmp_path: Path, ollama: Ollama, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its prompts hold as many passages from its first question to its last, also where it is resumed."""
    used: list[Ratios] = []

    def noted(self: LearnedCount, text: str) -> int:
        used.append(self.ratios)
        return estimate_tokens(text)

    monkeypatch.setattr(LearnedCount, "__call__", noted)
    run, later = tmp_path / "run", tmp_path / "later"
    execute(make_options(data, run, model="ollama:llama3.1:8b", limit=1))
    prompt = demo_corpus().read_text(encoding="utf-8")[:20_000]
    count = resolve_model("ollama:llama3.1:8b", ModelOptions()).count
    assert isinstance(count, LearnedCount)
    count.learn([prompt], int(len(prompt) / 4.3), filled=False)
    execute(make_options(data, run, model="ollama:llama3.1:8b", limit=2))
    assert (told(run)["tokens"], set(used)) == ({}, {Ratios()})
    used.clear()
    execute(make_options(data, later, model="ollama:llama3.1:8b", limit=1))
    assert told(later)["tokens"] == {f"ollama:llama3.1:8b at {ollama.address}": count.ratios._asdict()}
    assert set(used) == {count.ratios} != {Ratios()}
