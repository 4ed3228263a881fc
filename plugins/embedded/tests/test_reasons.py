"""Why an answer of the embedded model is Unknown: what was unsure is named, and nothing that was sure."""

import pytest

from ramify.nodes.step.reasons import unknown_reason
from ramify.nodes.tree import Branch, Passage

ASKED = "Who pays more, Lindqvist or Voss?"
PASSAGE = Passage(id="a", text="Lindqvist pays 1474.50 euros.", source="a", score=1.0)


@pytest.mark.parametrize(
    ("confidence", "told"), [(0.79, "it does not settle the whole question"), (0.4, "only 0.40 sure, but it does not settle")]
)
def test_what_is_found_of_a_part_is_said_with_how_unsure_it_is(confidence: float, told: str) -> None:
    asked = {"path": "0.0", "question": "How much does Lindqvist pay?", "note": "not above tau 0.6" if confidence < 0.6 else ""}
    half = Branch(status="leaf", answer="1474.50 euros", confidence=confidence, **asked)
    tree = {"0": Branch(path="0", question=ASKED, status="inner", answer="Unknown"), "0.0": half}
    state = {"tree": tree, "question": ASKED, "model": "extractive", "index": "i", "passages": {"a": PASSAGE}}
    reason = unknown_reason({**state, "explanation": "", "error": "", "stopped_by": "finished", "notices": [], "settled_by": ""})
    assert "'1474.50 euros'" in reason
    assert told in reason
