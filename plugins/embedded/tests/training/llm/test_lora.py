"""The adapter of a language model: a run that is interrupted and goes on, rows of several examples, and what llama.cpp makes of it."""

import json
import math
import os
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from plugins.embedded.tests.training.llm.tiny import write_examples, write_model
from plugins.embedded.training.llm import adapter, lora, rows
from plugins.embedded.training.llm.base import load_network, load_tokenizer

OPTIONS = ["--rate", "5e-3", "--length", "64", "--rows", "2", "--rank", "4", "--save", "0"]

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module", params=["qwen2", "llama"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    return write_model(tmp_path_factory.mktemp("model") / "tiny.gguf", request.param)


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    return write_examples(tmp_path / "examples.jsonl")


def losses(printed: str) -> list[float]:
    return [float(found) for found in re.findall(r"loss ([\d.]+)", printed)]


def test_examples_in_a_row_do_not_see_each_other(model: Path, examples: Path) -> None:
    network, tokenizer = load_network(model, torch.float32), load_tokenizer(model)
    encoded = [rows.encode(tokenizer, example) for example in rows.read_examples(examples)[:3]]
    together = lora.reply_losses(network, encoded)
    alone = [lora.reply_losses(network, [example]).item() for example in encoded]
    assert together.tolist() == pytest.approx(alone, rel=1e-4)


def test_a_file_with_a_weight_that_is_not_used_is_refused(tmp_path: Path) -> None:
    scaled = write_model(tmp_path / "scaled.gguf", "llama", {"rope_freqs.weight": (4,)})  # as in Llama 3.1
    with pytest.raises(SystemExit, match=r"rope_freqs\.weight"):
        load_network(scaled, torch.float32)


def test_a_row_is_never_longer_than_asked_and_no_example_is_lost() -> None:
    encoded = [rows.Tokens([number] * (1 + number % 9), 1) for number in range(100)]
    packed = rows.pack(encoded, 10)
    assert max(sum(len(example.ids) for example in row) for row in packed) <= 10
    assert sorted(example.ids[0] for row in packed for example in row) == list(range(100))
    assert len(packed) < 60


def test_the_loss_falls_and_llama_cpp_agrees(
    model: Path, examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lora, "default_device", lambda: (torch.device("cpu"), torch.float32))
    lora.main([str(model), str(examples), str(tmp_path), "--epochs", "10", "--kept-out", str(examples), *OPTIONS])
    printed = capsys.readouterr().out
    seen = losses(printed)
    assert seen[-1] < 0.7 * seen[0]
    before, after = (float(found) for found in re.findall(r"kept out, .*: \w+ ([\d.]+)", printed))
    assert after < 0.7 * before
    adapter.write_adapter(model, tmp_path / lora.ADAPTER, tmp_path / "adapter.gguf")
    engine, network = adapter.LlamaCpp(model, tmp_path / "adapter.gguf"), adapter.load_trained(model, tmp_path / lora.ADAPTER)
    sequences = list(adapter.places(load_tokenizer(model), examples, 4))
    for scale in (0.0, 1.0):
        difference = adapter.compare(network, engine, sequences, scale)
        assert difference.same_top == difference.positions, scale
        assert difference.greatest < 0.05, scale
    adapter.set_scale(network, 0.0)
    mixed = adapter.Difference()
    ids = sequences[0][0]
    mixed.add(network(torch.tensor([ids])).logits[0, -2].log_softmax(-1), engine.next_tokens(ids[:-1], 1.0))
    assert mixed.greatest > 0.3  # the adapter changes something


def test_pairs_teach_what_to_prefer(examples: Path, tmp_path: Path) -> None:
    model = write_model(tmp_path / "tiny.gguf", "qwen2")
    known = rows.read_examples(examples)
    pairs = [rows.Pair(messages=one["messages"], chosen=one["reply"], rejected=other["reply"]) for one, other in pairwise(known)]
    different = [pair for pair in pairs if pair["chosen"] != pair["rejected"]]
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(pair)}\n" for pair in different))
    learned = tmp_path / "learned"
    lora.main([str(model), str(examples), str(learned), "--steps", "2", *OPTIONS])
    again = ["--epochs", "10", *OPTIONS]
    lora.main([str(model), str(tmp_path / "pairs.jsonl"), str(tmp_path), "--pairs", "--start", str(learned / lora.ADAPTER), *again])
    tokenizer = load_tokenizer(model)

    def preferred(folder: Path) -> float:
        network = adapter.load_trained(model, folder / lora.ADAPTER)
        return sum(lora.preference(network, rows.encode_pair(tokenizer, pair)).item() for pair in different)

    assert preferred(tmp_path) > preferred(learned) + 1


def test_a_killed_run_goes_on_and_ends_as_if_undisturbed(examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(0)
    model = write_model(tmp_path / "tiny.gguf", "qwen2")
    options = ["--epochs", "12", "--kept-out", str(examples), *OPTIONS]
    lora.main([str(model), str(examples), str(tmp_path / "whole"), *options])
    command = [sys.executable, "-m", lora.__name__, str(model), str(examples), str(tmp_path / "killed"), *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("step 3 "):
                process.send_signal(signal.SIGKILL)
                break
    capsys.readouterr()
    lora.main([str(model), str(examples), str(tmp_path / "killed"), *options])
    rest = capsys.readouterr().out
    assert "step 1 of" not in rest
    assert "before:" not in rest  # the base is measured once
    assert "after:" in rest
    whole, killed = (load_file(tmp_path / name / lora.ADAPTER) for name in ("whole", "killed"))
    assert all(torch.equal(whole[name], killed[name]) for name in whole)


def test_a_folder_of_another_run_is_refused(examples: Path, tmp_path: Path) -> None:
    model = write_model(tmp_path / "tiny.gguf", "qwen2")
    lora.main([str(model), str(examples), str(tmp_path), "--steps", "1", *OPTIONS])
    with pytest.raises(SystemExit, match="another folder"):
        lora.main([str(model), str(examples), str(tmp_path), "--steps", "2", *OPTIONS, "--seed", "1"])


def test_examples_of_which_none_fits_are_an_error(examples: Path, tmp_path: Path) -> None:
    model = write_model(tmp_path / "tiny.gguf", "qwen2")
    with pytest.raises(SystemExit, match="at most 2 tokens"):
        lora.main([str(model), str(examples), str(tmp_path), *OPTIONS, "--length", "2"])


def test_pairs_that_go_on_are_compared_with_the_start(examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(0)
    model = write_model(tmp_path / "tiny.gguf", "qwen2")
    known = rows.read_examples(examples)
    pairs = [{"messages": one["messages"], "chosen": one["reply"], "rejected": other["reply"]} for one, other in pairwise(known)]
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(f"{json.dumps(pair)}\n" for pair in pairs if pair["chosen"] != pair["rejected"]))
    command = [str(model), str(file), str(tmp_path / "out"), "--pairs", "--epochs", "2", *OPTIONS]
    lora.main([*command, "--steps", "2"])
    (first, _) = losses(capsys.readouterr().out)
    assert first == pytest.approx(math.log(2), abs=1e-4)  # it prefers nothing yet
    lora.main(command)
    resumed = capsys.readouterr().out
    assert "step 1 of" not in resumed
    assert abs(losses(resumed)[0] - math.log(2)) > 1e-3
