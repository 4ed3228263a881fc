"""Training: examples as the network sees them, a run that is killed and goes on, and what is packed of it."""

import argparse
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor

from plugins.embedded.tests.training.samples import squad, write
from plugins.embedded.training import network, pack, phases, train
from plugins.embedded.training.example import Example
from plugins.embedded.training.network import WEIGHTS, new_network
from plugins.embedded.training.prepared import EncodedExample, encode_examples, group_batches
from plugins.embedded.training.public_sets import squad_span_examples as read_squad
from plugins.embedded.training.source import load_data_folder
from ramify.embedded.reader import reading
from ramify.embedded.reader.network import Network
from ramify.embedded.reader.reading import collate_pairs, encode_pairs
from ramify.tools.embeddings.bert import Shape
from ramify.tools.embeddings.pretrained import Pretrained, minilm_folder

TINY = Shape(width=8, layers=2, heads=2, inner=16)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "squad", *squad())


@pytest.fixture(scope="module")
def examples(data: Path) -> list[Example]:
    return read(data)


@pytest.fixture(scope="module")
def items(examples: list[Example]) -> list[EncodedExample]:
    return encode_examples(examples)


def read(data: Path) -> list[Example]:
    return [replace(example, bears=example.kind == "span") for example in read_squad(load_data_folder(data))]


def tiny() -> Network:
    torch.manual_seed(0)
    return Network(TINY)


def given(out: Path, **more: object) -> argparse.Namespace:
    out.mkdir(exist_ok=True)
    return argparse.Namespace(
        **{
            "out": out,
            "trunk": "minilm",
            "phase": "broad",
            "epochs": 4,
            "rate": 1e-2,
            "frozen": 1,
            "rank": None,
            "pieces": 60,
            "steps": None,
            "seed": 0,
            **more,
        }
    )


def trained(network: Network, examples: list[Example], asked: argparse.Namespace) -> list[tuple[int, float]]:
    """Train; give each step with its loss."""
    return [(number, wrong) for number, _, wrong in train.train(network, train.plan_batches(examples, asked), asked)]


def train_and_die(data: Path, out: Path, last: int) -> None:
    """Train, saving every second step, and be killed after one; run in a process of its own."""
    torch.set_num_threads(1)
    network.SAVE_INTERVAL = 2
    for number, *_ in train.train(tiny(), train.plan_batches(read(data), given(out)), given(out)):
        if number == last:
            os.kill(os.getpid(), signal.SIGKILL)


DIE = "import sys; from pathlib import Path; from plugins.embedded.tests.training.test_training import train_and_die as die; "
DIE += "die(Path(sys.argv[1]), Path(sys.argv[2]), 5)"


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_the_pieces_that_are_to_be_found_say_the_answer(items: list[EncodedExample]) -> None:
    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    spans = [item for item in items if item.example.kind == "span"]
    assert spans
    for item in spans:
        ((start, end),) = item.example.spans
        assert tokenizer.decode(item.pair.ids[item.start : item.end + 1]) == item.example.context[start:end]
    assert all((item.start, item.end) == (-1, -1) for item in items if item.example.kind == "none")


def test_an_answer_behind_the_last_position_is_left_out() -> None:
    context = "word " * 600 + "end"
    far = Example("squad", "a", "Where?", context, "span", ((len(context) - 3, len(context)),))
    near = Example("squad", "a", "Where?", context, "span", ((0, 4),))
    assert [item.example for item in encode_examples([far, near])] == [near]


def test_every_example_is_in_one_batch_and_none_is_too_large(items: list[EncodedExample]) -> None:
    for groups in (list(group_batches(items * 3, 200)), list(group_batches(items * 3, 200, random.Random(0)))):
        assert sorted(id(item) for group in groups for item in group) == sorted(id(item) for item in items * 3)
        assert len(groups) < 3 * len(items)
    groups = list(group_batches(items * 3, 200))
    assert all(len(group) * max(len(item.pair) for item in group) <= 200 for group in groups)


def test_a_killed_run_is_resumed(examples: list[Example], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "SAVE_INTERVAL", 2)
    whole = trained(tiny(), examples, given(tmp_path / "whole"))
    root = Path(__file__).parents[4]
    killed = subprocess.run([sys.executable, "-c", DIE, str(data), str(tmp_path / "cut")], cwd=root, check=False, timeout=300)
    assert killed.returncode == -signal.SIGKILL
    torch.manual_seed(1)
    rest = trained(Network(TINY), examples, given(tmp_path / "cut"))
    assert rest[0][0] == 5, "it was last saved after four steps"
    assert rest == whole[4:]
    assert same(load_file(tmp_path / "cut" / WEIGHTS), load_file(tmp_path / "whole" / WEIGHTS))
    assert trained(tiny(), examples, given(tmp_path / "whole")) == []


def test_only_what_an_epoch_sees_is_cut_into_pieces(examples: list[Example], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[Example] = []

    def prepared(some: Sequence[Example], trunk: Pretrained) -> list[EncodedExample]:
        cut.extend(some)
        return encode_examples(some, trunk)

    monkeypatch.setattr(train, "encode_examples", prepared)
    monkeypatch.setattr(phases, "PHASES", {"broad": {"squad": 0.5}})
    monkeypatch.setattr(phases, "OTHER_SOURCES_SHARE", {"broad": 0.0})
    many = [replace(example, question=f"{example.question} {number}") for number in range(40) for example in examples]
    asked = given(tmp_path / "out", epochs=2)
    groups = train.plan_batches(many, asked)
    seen = [item.example for group in groups for item in group]
    assert {example.source for example in seen} == {"squad"}
    assert set(seen) == set(cut)
    assert len(cut) == len(set(cut)) < len(many)
    assert len(seen) > len(set(seen)), "the second epoch sees some of the first one's again"
    assert [[item.example for item in group] for group in train.plan_batches(many, asked)] == [
        [item.example for item in group] for group in groups
    ]
    assert len(train.plan_batches(many, given(tmp_path / "out", epochs=2, steps=3))) == 3


def test_training_learns_and_leaves_the_frozen_layers_alone(examples: list[Example], tmp_path: Path) -> None:
    network, before = tiny(), tiny().state_dict()
    losses = [wrong for _, wrong in trained(network, examples, given(tmp_path / "out", epochs=20))]
    assert sum(losses[-5:]) < sum(losses[:5])
    frozen = ("encoder.embeddings.", "encoder.encoder.layer.0.")
    for name, weight in network.state_dict().items():
        assert torch.equal(weight, before[name]) == name.startswith(frozen) or weight.numel() == 0, name


def test_at_low_rank_only_changes_and_heads_are_learned(examples: list[Example], tmp_path: Path) -> None:
    network, before = tiny(), tiny().state_dict()
    trained(network, examples, given(tmp_path / "out", epochs=3, frozen=0, rank=2))
    after = network.state_dict()
    kept = {name.replace(".base.", "."): weight for name, weight in after.items() if not name.endswith((".up", ".down"))}
    changed = {name for name, weight in kept.items() if not torch.equal(weight, before[name]) and weight.numel()}
    assert changed == {name for name in before if not name.startswith("encoder.")}
    assert all(weight.any() for name, weight in after.items() if name.endswith(".up"))


def test_quantized_weights_are_close_to_trained_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = new_network().eval()
    home = tmp_path / "reader"
    home.mkdir()
    shutil.copy(Path(reading.__file__), home)
    save_file(network.state_dict(), tmp_path / WEIGHTS)
    monkeypatch.setattr(pack, "_CODE", home / "reading.py")
    monkeypatch.setattr("sys.argv", ["pack", str(tmp_path), "--frozen", "2"])
    pack.main()
    hashes = re.findall(r'^SMALL_WEIGHTS_SHA256 = "(\w+)"$', (home / "reading.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert hashes == [hashlib.sha256((home / reading.SMALL_WEIGHTS_FILE).read_bytes()).hexdigest()]
    monkeypatch.setattr(reading, "files", lambda package: home)
    asked = collate_pairs(encode_pairs(["Who directed Solaris?"], ["Solaris: a film directed by Andrei Tarkovsky."]))
    with torch.inference_mode():
        output, wanted = replace(reading.SMALL, sha256=hashes[0], _network=None).load()(asked), network(asked)
    assert torch.allclose(output.kind, wanted.kind, atol=0.1)
    assert torch.allclose(output.start[asked.readable], wanted.start[asked.readable], atol=0.2)
