"""What of the material is learned, and what is read together."""

from dataclasses import replace
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import torch

from plugins.embedded.tests.training.samples import write_all
from plugins.embedded.tests.training.test_training import tiny
from plugins.embedded.training import phases, train
from plugins.embedded.training.example import Example, shorten_context
from plugins.embedded.training.material import load_material
from plugins.embedded.training.prepared import collate_targets, encode_examples, group_by_length
from ramify.embedded.reader.network import ANSWER_KINDS

CPU = torch.device("cpu")
WHERE = Example("squad", "a", "Where?", "Nowhere.", "yes", (), False)


def test_every_phase_names_sources_that_there_are(tmp_path: Path) -> None:
    data, named = write_all(tmp_path / "train"), {source for shares in phases.PHASES.values() for source in shares}
    sources = {example.source.removesuffix("_other") for example in [*load_material(data), *load_material(data, named)]}
    assert {source.removesuffix("_other") for source in named} <= sources
    assert phases.PHASES.keys() == phases.OTHER_SOURCES_SHARE.keys()


def test_a_phase_that_sees_no_rest_makes_nothing_else(tmp_path: Path) -> None:
    data, wanted_ones = write_all(tmp_path / "train"), phases.phase_sources("multilingual")
    assert phases.phase_sources("broad") is None
    assert {example.source for example in load_material(data, wanted_ones)} <= (wanted_ones or set())


def test_only_what_is_known_is_learned() -> None:
    bears = replace(WHERE, kind="", bears=True)
    asked = collate_targets(encode_examples([WHERE, bears, replace(WHERE, kind="none", bears=None)]), CPU)
    assert asked.kind.tolist() == [ANSWER_KINDS.index("yes"), -1, ANSWER_KINDS.index("none")]
    assert asked.bears.tolist() == [0, 1, -1]
    network = tiny()
    for example, untold in ((bears, network.kind), (replace(WHERE, bears=None), network.relevance), (WHERE, network.span)):
        network.zero_grad()
        targets = collate_targets(encode_examples([example]), CPU)
        train.reader_loss(network(targets.batch), targets).backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
        assert all(parameter.grad is None or not parameter.grad.any() for parameter in untold.parameters()), example
        assert any(parameter.grad is not None and parameter.grad.any() for parameter in network.encoder.parameters())


@hypothesis.given(st.lists(st.integers(1, 512), max_size=60))
def test_what_is_only_read_is_read_with_others_of_about_its_length(lengths: list[int]) -> None:
    groups = group_by_length(lengths)
    assert sorted(number for group in groups for number in group) == [*range(len(lengths))]
    for group in groups:
        assert len(group) <= 16
        assert 2 * min(lengths[number] for number in group) >= max(lengths[number] for number in group)


@hypothesis.given(st.text("ab. ", max_size=200), st.integers(0, 199), st.integers(1, 30), st.integers(10, 90))
def test_a_shortened_context_holds_its_answer_and_is_short(text: str, begin: int, length: int, longest: int) -> None:
    answer = text[begin : begin + length]
    example = Example("squad", "a", "Where?", text, "span", ((begin, begin + len(answer)),)) if answer else replace(WHERE, context=text)
    short = shorten_context(example, longest)
    assert short.context in text
    if answer:
        (first, last), *_ = short.spans
        assert short.context[first:last] == answer
    assert shorten_context(replace(example, kind="yes"), longest).context == text
