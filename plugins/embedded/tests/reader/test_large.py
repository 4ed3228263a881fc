"""The large reader: chosen by the model's name, built on an encoder that is downloaded."""

import math
from importlib.resources import as_file, files
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from transformers import MPNetConfig, MPNetModel

from plugins.embedded.training.network import LowRank, make_low_rank, merge_low_rank
from ramify.embedded.encoders.mpnet import READER
from ramify.embedded.reader import calibration, large, reading, short_answers
from ramify.embedded.reader.network import Network
from ramify.embedded.reader.reading import PassageReading, Reader, TextSpan
from ramify.graphs import ask
from ramify.nodes.asking.budget import call_context
from ramify.nodes.settings import LARGE, Settings
from ramify.tools.embeddings.bert import Shape, distance_buckets
from ramify.tools.errors import ModelError
from ramify.tools.released_weights import dequantize, verify_weights

QUESTION = "Who founded Arda?"
TEXT = "Arda was founded by Berka in 1999."


def test_what_was_trained_at_low_rank_is_the_same_merged() -> None:
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4))
    plain = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4))
    make_low_rank(layers, 2)
    for module in layers.modules():
        if isinstance(module, LowRank):
            nn.init.normal_(module.up)
    plain.load_state_dict(merge_low_rank(layers.state_dict()))
    given = torch.randn(3, 6)
    assert torch.allclose(layers(given), plain(given), atol=1e-5)
    assert not torch.allclose(plain(given), plain[2](torch.tanh(layers[0].base(given))), atol=1e-3), "the changes change something"


def test_only_what_has_a_change_is_changed() -> None:
    weights = {"a.weight": torch.zeros(2, 3), "b.weight": torch.ones(2, 3)}
    updated = large.apply_low_rank(weights, {"a" + large.UP_SUFFIX: torch.ones(2, 1), "a" + large.DOWN_SUFFIX: torch.full((1, 3), 2.0)})
    assert {name: weight.unique().tolist() for name, weight in updated.items()} == {"a.weight": [2.0]}


def test_what_is_packaged_is_whole_and_fits_the_encoder() -> None:
    with as_file(files(large.__package__) / large.LARGE_WEIGHTS_FILE) as path:
        packed = dequantize(load_file(verify_weights(path, large.LARGE_WEIGHTS_SHA256, "the large reader", "")))
    with torch.device("meta"):
        network = Network(Shape(768, layers=12, heads=12, inner=3072, vocabulary=30527, types=1, buckets=32))
    shapes = {name: weight.shape for name, weight in network.state_dict().items()}
    heads = {name for name in shapes if not name.startswith("encoder.")}
    layers = {name.removesuffix(large.DOWN_SUFFIX) for name in packed if name.endswith(large.DOWN_SUFFIX)}
    assert packed.keys() == heads | {layer + end for layer in layers for end in (large.DOWN_SUFFIX, large.UP_SUFFIX)}
    assert len(layers) == 12 * 6, "every matrix of every layer"
    assert all((packed[layer + large.UP_SUFFIX] @ packed[layer + large.DOWN_SUFFIX]).shape == shapes[f"{layer}.weight"] for layer in layers)


@pytest.mark.parametrize("pieces", [3, 40, 300])
def test_distances_fall_into_the_buckets_of_mpnet(pieces: int) -> None:
    config = MPNetConfig(vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    places = torch.arange(pieces)
    theirs = MPNetModel(config).encoder.relative_position_bucket(places[None, :] - places[:, None], num_buckets=32)
    assert torch.equal(distance_buckets(pieces, 32, torch.device("cpu")), theirs)


def test_is_read_with_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    by: list[str] = []

    def read(question: str, context: str, reader: Reader) -> PassageReading:
        by.append(reader.label)
        start = TEXT.index("Berka") if reader is reading.LARGE else 0
        return PassageReading(0.98, 0.01, 0.01, (TextSpan(start, start + 5, 0.99),), 0.9)

    monkeypatch.setattr(reading, "read_context", read)
    passages = [{"title": "", "source": "a.txt", "text": TEXT}]
    small = short_answers.read_answer(QUESTION, passages)
    with call_context(Settings(model=LARGE)):
        answer = short_answers.read_answer(QUESTION, passages)
    assert (answer.answer, by) == ("Berka", ["the reader", "the large reader"])
    assert short_answers.read_answer(QUESTION, passages) == small, "afterwards the small one reads again"
    evidence = calibration.Evidence(0.98 * 0.99, 0.0, 3, short_answers.single_fact_probability(QUESTION))
    assert math.isclose(answer.confidence, calibration.confidence(evidence, large.LARGE_SPAN_WEIGHTS), abs_tol=0.05)


@pytest.mark.parametrize("model", [LARGE, f" {LARGE} "])
def test_a_missing_model_has_a_remedy(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="ramify download reader"):
        ask(QUESTION, strategy="naive", model=model)


@pytest.mark.real
@pytest.mark.skipif(not READER.folder.is_dir(), reason="the large reader is not downloaded: run `ramify download reader`")
def test_answers_two_hops_of_the_demo() -> None:
    result = ask("In which city was the inventor of the ballpoint pen born?", strategy="prune", model=LARGE)
    assert (result.answer, result.model) == ("Budapest", LARGE)
