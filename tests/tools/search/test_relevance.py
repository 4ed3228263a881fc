"""What a search found is put into another order: by the reader or a cross-encoder; scores stay, and `none` leaves all as it was."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ramify.tools.embeddings.pretrained import minilm_folder
from ramify.tools.errors import ModelError, PluginError
from ramify.tools.passage import Passage
from ramify.tools.reader import READER
from ramify.tools.search import relevance
from ramify.tools.search.relevance import (
    NO_RERANKER,
    cross_encoder_scores,
    entailment_probabilities,
    load_reranker,
    rerank_passages,
    search_width,
)
from tests.installing import Installer

TEXTS = ("Rome is on the Tiber.", "Berlin has many bridges.", "The Seine runs through Paris.")
SCORES = (0.9, 0.8, 0.7)
QUESTION = "Which river runs through Paris?"


def hits() -> list[Passage]:
    """Make the hits of a search, the best first."""
    return [
        Passage(id=str(number), text=text, source="a.txt", score=score, value=score, metadata={"title": f"T{number}"})
        for number, (text, score) in enumerate(zip(TEXTS, SCORES, strict=True))
    ]


def ids(found: list[Passage]) -> str:
    return "".join(hit.id for hit in found)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str, ...]]]:
    """Let a reader of ours find the last passage the most likely to hold the answer; list what it was asked."""
    asked: list[tuple[str, tuple[str, ...]]] = []

    def rank_values(question: str, contexts: list[str]) -> list[float]:
        asked.append((question, tuple(contexts)))
        return [0.45 if "Seine" in text else -0.15 * place for place, text in enumerate(contexts)]

    monkeypatch.setattr(relevance, "find_reader", lambda: SimpleNamespace(rank_values=rank_values))
    return asked


def test_none_leaves_the_search_alone(reader: list[tuple[str, tuple[str, ...]]]) -> None:
    assert rerank_passages(QUESTION, hits(), NO_RERANKER, 2) == hits()[:2]
    assert (search_width(NO_RERANKER, 5, 20), load_reranker(NO_RERANKER), reader) == (5, 0.0, [])


def test_the_reader_changes_the_order_and_not_the_scores(reader: list[tuple[str, tuple[str, ...]]]) -> None:
    found = rerank_passages(QUESTION, hits(), READER, 2)
    assert ids(found) == "20"
    assert {hit.id: (hit.score, hit.value) for hit in found} == {"0": (0.9, 0.9), "2": (0.7, 0.7)}
    assert reader == [(QUESTION, tuple(f"T{number}: {text}" for number, text in enumerate(TEXTS)))], "all at once, with their titles"
    assert (search_width(READER, 5, 20), search_width(READER, 30, 20)) == (20, 30)


def test_nothing_found_is_nothing_read(reader: list[tuple[str, tuple[str, ...]]]) -> None:
    assert (rerank_passages(QUESTION, [], READER, 5), reader) == ([], [])


def test_the_scheme_of_an_address_finds_the_package_that_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "class Ranker:\n    def __init__(self, address): self.address = address\n    def load(self): return 2.5\n"
        "    def rank_values(self, query, texts): return [float(self.address[-1] in text) for text in texts]\n"
    )
    Installer(tmp_path, monkeypatch)("elder", "[ramify.rerankers]\nelder = elder:Ranker\n", code)
    assert load_reranker("small@elder://host/2") == 2.5
    assert ids(rerank_passages(QUESTION, hits(), "elder://host/2", 3)) == "201"
    with pytest.raises(PluginError, match=r"'alder'.*ramify\.rerankers"):
        load_reranker("alder://host/2")


def test_a_reader_that_is_not_installed_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relevance, "find_reader", lambda: None)
    for rank in (lambda: load_reranker(READER), lambda: rerank_passages(QUESTION, hits(), READER, 2)):
        with pytest.raises(ModelError, match="'reader' is not installed"):
            rank()


def made(folder: Path, **labels: Any) -> Path:
    """Make a cross-encoder that has learned nothing."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "initializer_range": 1.0}
    BertForSequenceClassification(BertConfig(vocab_size=30522, **labels, **shape)).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copy(minilm_folder() / name, folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder of one score."""
    return made(tmp_path_factory.mktemp("models") / "tiny", num_labels=1)


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder of three labels."""
    labels = {0: "contradiction", 1: "entailment", 2: "neutral"}
    return made(tmp_path_factory.mktemp("models") / "nli", id2label=labels, label2id={name: number for number, name in labels.items()})


def test_a_cross_encoder_in_a_folder_is_loaded_once_and_orders_by_its_scores(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert load_reranker(str(tiny)) > 0
    assert load_reranker(f"{tiny}/") == 0.0
    scores = cross_encoder_scores(str(tiny), QUESTION, [f"T{number}: {text}" for number, text in enumerate(TEXTS)])
    assert len(set(scores)) == 3
    found = rerank_passages(QUESTION, hits(), str(tiny), 3)
    assert [int(hit.id) for hit in found] == sorted(range(3), key=lambda number: -scores[number])
    assert {hit.score for hit in found} == set(SCORES)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["nowhere/at-all", "no such name", "/no/such/folder"])
def test_a_missing_model_is_one_error_and_is_not_downloaded(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError, match=f"{name!r} is not on this machine — download it once with `hf download"):
        load_reranker(name)
    assert capfd.readouterr().err == ""


def test_a_folder_without_a_model_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot be loaded.*use reader, none, or a cross-encoder"):
        load_reranker(str(tmp_path))


def test_an_encoder_without_a_scoring_head_is_rejected() -> None:
    with pytest.raises(ModelError, match=r"is not a cross-encoder \(BertModel\)"):
        load_reranker(str(minilm_folder()))


def test_support_of_a_claim_is_a_probability_for_both_kinds_of_models(tiny: Path, nli: Path) -> None:
    for folder in (tiny, nli):
        scores = entailment_probabilities(str(folder), "Paris lies on the Seine.", list(TEXTS))
        assert len(scores) == len(TEXTS)
        assert all(0 < one < 1 for one in scores)
    both = entailment_probabilities(str(tiny), QUESTION, TEXTS), cross_encoder_scores(str(tiny), QUESTION, TEXTS)
    ranked = [sorted(range(3), key=lambda number: scores[number]) for scores in both]
    assert ranked[0] == ranked[1]


def test_a_model_of_entailment_orders_nothing_and_another_of_several_labels_neither_checks(nli: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="gives 3 scores, not one"):
        load_reranker(str(nli))
    with pytest.raises(ModelError, match="gives 2 scores, not one"):
        entailment_probabilities(str(made(tmp_path / "two", num_labels=2)), QUESTION, TEXTS)
