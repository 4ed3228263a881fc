"""Whatever comes in: a value, an error of the family or a refusal in JSON. `make fuzz` runs the same functions under coverage guidance."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS, Target
from tests.tools.questions import fresh

__all__ = ["fresh"]
CORPUS = Path(__file__).with_name("corpus")
EXAMPLES = 60


def inputs(target: Target) -> st.SearchStrategy[bytes]:
    return st.lists(st.sampled_from(target.parts) | st.binary(max_size=4), max_size=24).map(b"".join)


@pytest.mark.parametrize("name", TARGETS)
def test_any_input_gives_a_value_or_an_error_of_ours(name: str) -> None:
    target = TARGETS[name]

    @settings(max_examples=EXAMPLES // target.cost, derandomize=True, database=None)
    @given(inputs(target))
    def holds(data: bytes) -> None:
        target.run(data)

    holds()


@pytest.mark.parametrize("file", sorted(CORPUS.glob("*/*")), ids=lambda file: f"{file.parent.name} {file.name}")
def test_former_failures_are_fixed(file: Path) -> None:
    TARGETS[file.parent.name].run(file.read_bytes())


def test_a_row_that_is_one_long_number_is_read_in_one_pass() -> None:
    TARGETS["csv"].run(b"name,text\n" + b"9" * 2_000_000 + b"x\nfirst,one\n")
