"""An answer holds as it was given; whatever is changed in it is found, or changes nothing that it claims."""

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from plugins.testing.tests.verifying.conftest import BRIDGE, COMPARISON, Answered
from ramify.testing import verify
from ramify.tools.demo import demo_index
from ramify.tools.errors import UsageError

Change = Callable[[dict[str, Any]], Any]


def put(path: str, value: Any) -> Change:
    """Return a change of one value, by the keys and numbers that lead to it."""

    def change(answer: dict[str, Any]) -> None:
        *above, last = (int(key) if key.isdecimal() else key for key in path.split("/"))
        place: Any = answer
        for key in above:
            place = place[key]
        place[last] = value(place[last]) if callable(value) else value

    return change


FOUND = {
    "the quote": (BRIDGE, put("citations/0/quote", lambda quote: quote.replace("1938", "1939")), "quote"),
    "where the quote stands": (BRIDGE, put("citations/0/start", 3), "quote"),
    "the passage": (BRIDGE, put("citations/0/text", lambda text: text.replace("1888", "1889")), "hash"),
    "the hash": (BRIDGE, put("citations/1/sha256", "0" * 64), "hash"),
    "the answer": (BRIDGE, put("answer", "Vienna"), "answer"),
    "the answer, to another name in the passages": (BRIDGE, put("answer", "Buenos Aires"), "answer"),
    "the root's answer": (BRIDGE, put("tree/0/answer", "Buenos Aires"), "answer"),
    "the answer of the first hop": (BRIDGE, put("tree/1/answer", "Milton Reynolds"), "filled"),
    "the answer of the last hop": (BRIDGE, put("tree/2/answer", "Vienna"), "answer"),
    "the filled question": (BRIDGE, put("tree/2/question", "In which city was Milton Reynolds born?"), "filled"),
    "the question before it was filled": (BRIDGE, put("tree/2/template", "In which city did {1} die?"), "filled"),
    "what it waited for": (BRIDGE, put("tree/2/awaits", "0.2"), "filled"),
    "whose answer was inserted": (BRIDGE, put("tree/2/note", "filled with 'László Bíró' from 0"), "filled"),
    "a confidence": (BRIDGE, put("tree/1/confidence", 0.3), "confidence"),
    "tau": (BRIDGE, put("tau", 0.9), "confidence"),
    "a branch to a pruned one without a note": (BRIDGE, put("tree/1/status", "pruned"), "pruned"),
    "a branch to a failed one without a note": (BRIDGE, put("tree/1/status", "failed"), "failed"),
    "a sentence": (BRIDGE, put("sentences/1/text", "László Bíró was born in Vienna in 1899."), "sentence"),
    "what a sentence cites": (BRIDGE, put("sentences/1/citations", [7]), "sentence"),
    "the text": (BRIDGE, put("text", "László Bíró was born in Vienna. [1]"), "text"),
    "a compared date": (COMPARISON, put("tree/1/answer", "7 January 1943"), "answer"),
    "the winner": (COMPARISON, put("answer", "J. J. Thomson"), "answer"),
    "what is compared": (COMPARISON, put("tree/0/together", "later"), "answer"),
}
"""By what is changed: the question, the change, and the check that fails."""
UNCHECKED = {
    "no template": (BRIDGE, put("tree/2/template", ""), "filled"),
    "no hash": (BRIDGE, put("citations/0/sha256", ""), "hash"),
    "no passage": (BRIDGE, put("tree/1/cited", []), "answer"),
    "a passage that is not among the citations": (BRIDGE, put("tree/1/cited", ["wroclaw"]), "answer"),
    "no comparison": (COMPARISON, put("tree/0/together", ""), "answer"),
    "a sentence without citations": (BRIDGE, put("sentences/0/citations", []), "sentence"),
}
"""What is left out cannot be checked, and no longer counts as holding."""
HARMLESS = {
    "the strategy": put("strategy", "tor"),
    "the model": put("model", "another"),
    "the index": put("index", ""),
    "the confidence of the answer": put("confidence", 0.1),
    "the cost": put("usage/llm_calls", 99),
    "notices": put("notices", ["odd"]),
    "the root's evidence": put("tree/0/evidence", []),
    "the name of a bridge": put("tree/0/together", ""),
    "a field of a later version": put("tree/0/later", 1),
    "a place that the reader sees": put("citations/0/page", 3),
}
"""What the answer's steps do not rest on."""


@pytest.mark.parametrize(("question", "steps"), [(BRIDGE, 4), (COMPARISON, 3)])
def test_an_answer_of_the_demo_holds(answered: Answered, question: str, steps: int) -> None:
    verification = verify(answered(question))
    assert verification.holds
    assert (*verification.steps, verification.steps.total) == (steps, 0, 0, steps)
    assert {check.verdict for check in verification.checks} == {"holds"}


@pytest.mark.parametrize("changed", FOUND)
def test_what_is_changed_is_found(answered: Answered, changed: str) -> None:
    question, change, what = FOUND[changed]
    answer = answered(question)
    change(answer)
    verification = verify(answer)
    assert not verification.holds
    assert what in {check.what for check in verification.checks if check.verdict == "fails"}
    assert verification.documents_changed == []


@pytest.mark.parametrize("left_out", UNCHECKED)
def test_what_is_left_out_is_not_said_to_hold(answered: Answered, left_out: str) -> None:
    question, change, what = UNCHECKED[left_out]
    answer = answered(question)
    change(answer)
    verification = verify(answer)
    assert what in {check.what for check in verification.checks if check.verdict == "unchecked"}


@pytest.mark.parametrize("changed", HARMLESS)
def test_what_no_step_rests_on_changes_no_verdict(answered: Answered, changed: str) -> None:
    answer = answered(BRIDGE)
    HARMLESS[changed](answer)
    assert verify(answer).holds


COSTS = re.compile(r"usage/|stopped_by|notices|error$|asked_back|explanation|withheld|settled_by|quoted|strategy|model$|index$|tau$")
"""What a run cost, how it was set and how it ended, which is no claim about the documents."""
SHOWN = re.compile(r"citations/\d+/(name|path|link|read_by|collection|closest|cited)$|sentences/\d+/supported$")
"""How a citation or a sentence is shown; its id, text, hash, quote, source, title, heading and page are looked up."""
SEARCH = re.compile(
    r"tree/\d+/(evidence|cited|text|weaker|attempts|note|aggregated|parent|together|question|score|confidence|kind|status)\b|confidence"
)
"""How a branch was found and judged; its answer, its template and what it waited for are computed again."""
CHANGED = st.one_of(st.text("abcdefgh 123", min_size=3, max_size=12), st.integers(100, 10_000), st.booleans(), st.none(), st.just([]))


def leaves(value: Any, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the paths of all values of an answer."""
    if not value or not isinstance(value, dict | list):
        yield "/".join(above)
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(item, (*above, str(key)))


@settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_value_that_is_looked_up_or_computed_is_found_when_changed(answered: Answered, data: st.DataObject) -> None:
    question = data.draw(st.sampled_from([BRIDGE, COMPARISON]))
    answer = answered(question)
    path = data.draw(st.sampled_from(sorted(leaves(answer))))
    before = verify(answer, index=demo_index())
    assert before.holds
    given_before = copy.deepcopy(answer)
    put(path, data.draw(CHANGED))(answer)
    assume(answer != given_before)
    if COSTS.search(path) or SHOWN.search(path) or SEARCH.search(path):
        return
    try:
        after = verify(answer, index=demo_index())
    except UsageError:
        return
    found = not after.holds or after.steps.unchecked > 0
    assert found or after.steps.hold < before.steps.hold or len(after.checks) < len(before.checks)
