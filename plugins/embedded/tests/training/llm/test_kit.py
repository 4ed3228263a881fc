"""What is made of a trained adapter: PEFT's files, what the GGUF file tells of itself, the model card, and all of it by one command."""

import argparse
import hashlib
import json
import re
from pathlib import Path

import gguf
import pytest
import torch
import yaml
from safetensors.torch import load_file
from torch.nn.functional import linear

from plugins.embedded.tests.training.llm.tiny import HEADS, INNER, KEY_HEADS, LAYERS, WIDTH, write_examples, write_model
from plugins.embedded.training.llm import __main__ as kit
from plugins.embedded.training.llm import adapter, card, lora, metadata, peft
from plugins.embedded.training.llm.base import load_network
from plugins.embedded.training.llm.licences import DATA_SETS, UNKNOWN, data_set
from plugins.embedded.training.llm.metadata import Metadata

BASE = ["--base", "somebody/tiny"]
TRAINING = ["--rate", "5e-3", "--length", "64", "--rows", "2", "--rank", "4", "--epochs", "4"]

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an adapter of a tiny model, made by the one command from examples that are there."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("kit")
    model = write_model(folder / "tiny.gguf", "llama")
    (folder / "examples").mkdir()
    for name in ("train", "kept_out"):
        write_examples(folder / "examples" / f"{name}.jsonl")
    kit.main([str(folder / "no data"), str(folder), "--model", str(model), "--compare", "2", *BASE, *TRAINING])
    return folder


def test_one_command_makes_everything_and_nothing_twice(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = [out / name for name in kit.STAGES]
    assert all(path.exists() for path in made)
    assert not list(out.glob("partial-*"))
    before = [path.stat().st_mtime_ns for path in made]
    kit.main([str(out / "no data"), str(out), "--model", "none"])
    assert [path.stat().st_mtime_ns for path in made] == before
    assert capsys.readouterr().out.count("exists") == len(made)


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").mkdir()
    file = write_examples(tmp_path / "examples" / "train.jsonl")
    model = write_model(tmp_path / "tiny.gguf", "qwen2")
    arguments = [str(tmp_path), str(tmp_path), "--model", str(model), "--until", "run", *TRAINING, "--save", "0"]
    monkeypatch.setattr(lora.Run, "save", interrupted(lora.Run.save))
    with pytest.raises(KeyboardInterrupt):
        kit.main(arguments)
    assert not (tmp_path / "run").exists()
    monkeypatch.undo()
    kit.main(arguments)
    lora.main([str(model), str(file), str(tmp_path / "whole"), *TRAINING])
    whole, resumed = (load_file(tmp_path / name / lora.ADAPTER) for name in ("whole", "run"))
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert not (tmp_path / "adapter.gguf").exists()


def interrupted(save: object) -> object:
    """Return a `save` that is interrupted after it has saved once."""

    def once(run: lora.Run) -> None:
        save(run)  # type: ignore[operator]
        raise KeyboardInterrupt

    return once


def test_peft_s_files_are_the_update_that_was_trained(out: Path) -> None:
    config = json.loads((out / "peft" / peft.CONFIG).read_text())
    assert (config["peft_type"], config["r"], config["lora_alpha"]) == ("LORA", 4, 4)
    assert config["base_model_name_or_path"] == "somebody/tiny"
    projections = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
    assert set(config["target_modules"]) == projections
    weights = load_file(out / "peft" / peft.WEIGHTS)
    assert len(weights) == LAYERS * len(projections) * 2
    prefix = "base_model.model.model.layers.1."
    keys = WIDTH // HEADS * KEY_HEADS
    assert weights[f"{prefix}self_attn.k_proj.lora_A.weight"].shape == (4, WIDTH)
    assert weights[f"{prefix}self_attn.k_proj.lora_B.weight"].shape == (keys, 4)
    assert weights[f"{prefix}mlp.down_proj.lora_A.weight"].shape == (4, INNER)
    trained = adapter.load_trained(out / "tiny.gguf", out / "run" / lora.ADAPTER)
    frozen = load_network(out / "tiny.gguf", torch.float32)
    states = torch.randn(3, WIDTH)
    for layer in ("self_attn.q_proj", "mlp.up_proj"):
        down, up = (weights[f"{prefix}{layer}.lora_{part}.weight"].float() for part in "AB")
        name = f"model.layers.1.{layer}"
        updated = frozen.get_submodule(name)(states) + config["lora_alpha"] / config["r"] * linear(linear(states, down), up)
        assert torch.allclose(updated, trained.get_submodule(name)(states), atol=1e-3)
        assert not torch.allclose(frozen.get_submodule(name)(states), updated, atol=1e-2)


def test_a_gguf_adapter_tells_where_it_comes_from(out: Path, tmp_path: Path) -> None:
    told = Metadata.read(gguf.GGUFReader(out / "adapter.gguf"))
    assert (told.base, told.licence) == ("somebody/tiny", "cc-by-sa-4.0")
    run = json.loads(told.run)
    assert run["examples"] == hashlib.sha256((out / "examples" / "train.jsonl").read_bytes()).hexdigest()
    assert (run["model"], run["rank"]) == ("tiny.gguf", 4)
    options = ["--name", "Mine: 1", "--base", "somebody/small", "--licence", "mit"]
    adapter.main([str(out / "tiny.gguf"), str(out / "run" / lora.ADAPTER), str(tmp_path / "own.gguf"), *options])
    told = Metadata.read(gguf.GGUFReader(tmp_path / "own.gguf"))
    assert (told.name, told.base, told.licence) == ("Mine: 1", "somebody/small", "mit")


def test_the_base_model_is_known_by_the_file_s_name_or_asked_for(out: Path, tmp_path: Path) -> None:
    def told(file: str) -> str:
        return metadata.base_of(argparse.Namespace(base=None), {"run": json.dumps({"model": file})})

    assert told("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf") == "Qwen/Qwen2.5-Coder-1.5B-Instruct"
    with pytest.raises(SystemExit, match="'SmolLM2' does not tell its base model"):
        told("SmolLM2")
    with pytest.raises(SystemExit, match="--base"):
        peft.main([str(out / "run" / lora.ADAPTER), str(tmp_path / "peft")])


@pytest.mark.parametrize("wrong", [["--longets", "9"], ["--minutes", "0"], ["--steps", "0"], ["--until", "examples", "--rank", "4"]])
def test_wrong_options_are_told_before_examples_are_made(tmp_path: Path, wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as told:
        kit.main([str(tmp_path), str(tmp_path / "out"), "--model", "none", *wrong])
    assert told.value.code == 2
    assert not (tmp_path / "out").exists()


def test_a_card_tells_the_facts(out: Path, tmp_path: Path) -> None:
    text = (out / "README.md").read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    read = yaml.safe_load(head)
    assert read["base_model"] == "somebody/tiny"
    assert (read["license"], read["base_model_relation"], read["language"]) == ("cc-by-sa-4.0", "adapter", ["en"])
    assert hashlib.sha256((out / "adapter.gguf").read_bytes()).hexdigest() in body
    assert "| made | 12 |" in body  # a prompt and its examples
    assert "| made | 12 | unknown |" in body  # a source that is not listed
    assert "None were measured" in body
    assert "are those of the run" in body


def test_a_card_shows_figures_and_that_examples_are_others(out: Path, tmp_path: Path) -> None:
    figures, others = tmp_path / "figures.json", write_examples(tmp_path / "others.jsonl", 5)
    figures.write_text(json.dumps([{"strategy": "split", "EM": 38.3}, {"strategy": "a|b", "F1": 2}]))
    card.main([str(out / "adapter.gguf"), str(others), str(tmp_path / "README.md"), "--figures", str(figures)])
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| strategy | EM | F1 |\n| --- | --- | --- |\n| split | 38.3 |  |\n| a\\|b |  | 2 |" in text
    assert "not those of the run" in text


@pytest.mark.parametrize(
    ("source", "name", "licence"),
    [
        ("musique_train_step", "MuSiQue", "CC BY 4.0"),
        ("musique_inner_inner_hop", "MuSiQue", "CC BY 4.0"),
        ("wiki", "2WikiMultihopQA", "Apache-2.0"),
        ("single_squad_dev", "SQuAD", "CC BY-SA 4.0"),
        ("break_inner", "BREAK", "MIT"),
        ("somewhere", "somewhere", UNKNOWN),
    ],
)
def test_each_source_has_the_licence_of_its_data_set(source: str, name: str, licence: str) -> None:
    assert data_set(source)[:2] == (name, licence)


def test_the_licences_are_those_of_the_readme() -> None:
    readme = (Path(kit.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    told: dict[str, str] = {}
    for line in readme.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.search(r"\b(?:CC|MIT|Apache)", cells[-1]) and len(cells) > 2:
            told |= dict.fromkeys(re.findall(r"`(\w+)`", cells[0]), cells[-1])
    both = told.keys() & DATA_SETS.keys()
    assert len(both) > 15
    assert {name: DATA_SETS[name].licence.split(" (")[0] for name in both} == {name: told[name].split("; the")[0] for name in both}
