"""Every reply is bounded, so that a grammar ends it: no schema without bounds, and what is at them fits into the limit of tokens."""

import json
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from ramify.graphs import build
from ramify.prompts import DECIDE, FILTER, FINALIZE, Prompt
from ramify.prompts.decide import decide_prompt
from ramify.prompts.decompose import DECOMPOSE_SEARCHED
from ramify.prompts.global_search import map_prompt, reduce_prompt
from ramify.prompts.iterative import FILTER_RECORDS
from ramify.prompts.lenient_types import TEXT_CHARS
from ramify.prompts.prompt import schema_outline
from ramify.tools.models.structured_call import json_schema
from ramify.tools.models.tokens import passage_length
from tests.records.prompts_section import cost, longest
from tests.records.samples import ALL as TOLD
from tests.records.samples import NARROWED

ALL = [prompt.with_options(thought=True, shots=0) for prompt in TOLD]
ALL += [decide_prompt(ways).with_options(thought=True, shots=0) for ways in NARROWED]
ALL += [FILTER_RECORDS.with_options(thought=True, shots=0)]
ITERATIVE = {"plan", "filter", "compress"}
GLOBAL = {"map_report", "reduce"}
BUILDING = {"extract", "glean", "claims", "describe", "report"}


def widened() -> Iterator[Prompt[Any]]:
    """List the prompts whose bounds come from the limit of tokens, with the default limits."""
    settings = build("global").settings()
    yield from (map_prompt(settings.num_predict), reduce_prompt(settings.num_predict))
    if find_spec("ramify.kinds"):
        extract, options = import_module("ramify.kinds.prompts.extract"), import_module("ramify.kinds.settings").BuildSettings()
        for prompt in (extract.EXTRACT, extract.GLEAN, extract.CLAIMS):
            yield extract.with_lines(prompt, options.unit_tokens, options.num_predict)


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """List the types within a schema."""
    if isinstance(schema, dict):
        yield from [schema] if isinstance(schema.get("type"), str) else []
        for part in schema.values():
            yield from parts(part)


@pytest.mark.parametrize("prompt", ALL, ids=lambda prompt: prompt.name)
def test_all_that_a_reply_may_repeat_is_bounded(prompt: Prompt[Any]) -> None:
    for part in parts(json_schema(prompt.reply)):
        bound = {"string": "maxLength", "array": "maxItems", "integer": "maximum"}.get(part["type"])
        assert bound is None or {"enum", "const"} & part.keys() or 0 < part.get(bound, 0) <= TEXT_CHARS, f"{part}: bound it with AtMost(…)"


@pytest.mark.parametrize("prompt", [*ALL, *widened()], ids=lambda prompt: prompt.name)
def test_the_longest_reply_fits_into_the_limit_of_tokens(prompt: Prompt[Any]) -> None:
    strategy = "iterative" if prompt.name in ITERATIVE else "global" if prompt.name in GLOBAL else "naive"
    settings = import_module("ramify.kinds.settings").BuildSettings() if prompt.name in BUILDING else build(strategy).settings()
    said = longest(json_schema(prompt.reply))
    if prompt.name == "map_report":  # a point is a line of a form of its own
        said["points"] = [f"80 | 1, 2 | {line}"[: len(line)] for line in said["points"]]
    read = prompt.reply.model_validate(said).model_dump(mode="json", exclude_unset=True)
    assert read == said, "the bounds of the schema are those of what is read"
    assert passage_length(json.dumps(said, indent=1)) < settings.num_predict


@pytest.mark.parametrize("prompt", [*TOLD, DECOMPOSE_SEARCHED], ids=lambda prompt: prompt.name)
def test_instructions_and_examples_have_at_most_500_tokens(prompt: Prompt[Any]) -> None:
    told = cost(prompt)
    more = told.system + told.examples - 500
    assert more <= 0, f"{prompt.name} has {more} tokens too many: shorten its task, a field's description or one of the first two examples"


@pytest.mark.parametrize("prompt", ALL, ids=lambda prompt: prompt.name)
def test_the_bounds_of_a_reply_are_described_in_words(prompt: Prompt[Any]) -> None:
    told = schema_outline(prompt.reply)
    for part in parts(json_schema(prompt.reply)):
        bound = (
            f"up to {part['maxItems']} "
            if "maxItems" in part
            else f"of up to {part['maxLength']} characters"
            if "maxLength" in part
            else ""
        )
        assert bound in told


@pytest.mark.parametrize(
    ("prompt", "given", "field", "read"),
    [
        (FINALIZE, {"answer": "x" * 5000}, "answer", "x" * 200),
        (FINALIZE, {"answer": "x", "citations": list(range(1, 50))}, "citations", [1, 2, 3, 4, 5, 6, 7, 8]),
        (DECIDE, {"action": "decompose", "questions": ["a" * 1000, "b?", "c?"]}, "questions", ["a" * 240, "b?"]),
        (FILTER, {"facts": [f"Fact {n}." for n in range(9)]}, "facts", [f"Fact {n}." for n in range(5)]),
    ],
)
def test_of_what_is_longer_the_beginning_is_taken(prompt: Prompt[Any], given: dict[str, Any], field: str, read: Any) -> None:
    assert getattr(prompt.reply.model_validate(given), field) == read
