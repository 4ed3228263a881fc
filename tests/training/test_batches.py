"""What of the material is learned, and what is read together."""

from dataclasses import replace
from pathlib import Path

import hypothesis
import hypothesis.strategies as st

from ramify.tools.reader.network import KINDS
from tests.training.samples import write_all
from tests.training.test_training import tiny
from training import phases, train
from training.example import Example
from training.material import material
from training.prepared import of_like_length, prepare, wanted

WHERE = Example("squad", "a", "Where?", "Nowhere.", "yes", (), False)


def test_every_phase_names_sources_that_there_are(tmp_path: Path) -> None:
    sources = {example.source.removesuffix("_other") for example in material(write_all(tmp_path / "train"))}
    assert {source.removesuffix("_other") for shares in phases.PHASES.values() for source in shares} <= sources
    assert phases.PHASES.keys() == phases.REST.keys()


def test_only_what_is_known_is_learned() -> None:
    bears = replace(WHERE, kind="", bears=True)
    asked = wanted(prepare([WHERE, bears, replace(WHERE, kind="none", bears=None)]))
    assert asked.kind.tolist() == [KINDS.index("yes"), -1, KINDS.index("none")]
    assert asked.bears.tolist() == [0, 1, -1]
    network = tiny()
    for example, untold in ((bears, network.kind), (replace(WHERE, bears=None), network.relevance), (WHERE, network.span)):
        network.zero_grad()
        one = wanted(prepare([example]))
        train.loss(network(one.batch), one).backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
        assert all(parameter.grad is None or not parameter.grad.any() for parameter in untold.parameters()), example
        assert any(parameter.grad is not None and parameter.grad.any() for parameter in network.encoder.parameters())


@hypothesis.given(st.lists(st.integers(1, 512), max_size=60))
def test_what_is_only_read_is_read_with_others_of_about_its_length(lengths: list[int]) -> None:
    groups = of_like_length(lengths)
    assert sorted(number for group in groups for number in group) == [*range(len(lengths))]
    for group in groups:
        assert len(group) <= 16
        assert 2 * min(lengths[number] for number in group) >= max(lengths[number] for number in group)
