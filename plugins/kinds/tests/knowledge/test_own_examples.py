"""Own worked examples for extraction: shown instead of ramify's, part of the cache's key, refused in one line where they are wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from plugins.kinds.tests.knowledge.graph_model import build_with_model, graph_model
from plugins.kinds.tests.knowledge.valley import VALLEY
from ramify.tools.errors import InputError, UsageError
from tests.fakes import FakeModel

PUMP: dict[str, Any] = {
    "title": "Pumps",
    "text": "Pump P-101 feeds boiler B-7. Boiler B-7 was built by Arden Works.",
    "entities": ["P-101 | pump | It feeds a boiler.", "B-7 | boiler | It was built by Arden Works.", "Arden Works | maker | A maker."],
    "relations": ["P-101 | B-7 | P-101 feeds B-7.", "B-7 | Arden Works | B-7 was built by Arden Works."],
}
NOTHING_IN_IT = {"text": "Check the oil once a week."}


def write(file: Path, *examples: Any) -> str:
    file.write_text(json.dumps(examples), encoding="utf-8")
    return str(file)


def shown(chat: FakeModel, prompt: str) -> list[str]:
    """Return the messages of the first call of a prompt, without the first and the last, which are no examples."""
    messages = next(heard for (name, _), heard in zip(chat.calls, chat.heard, strict=True) if name == prompt)
    return [message.text for message in messages[1:-1]]


def test_are_shown_instead_of_those_of_ramify(folder: Path, tmp_path: Path) -> None:
    options = {"examples": write(tmp_path / "pumps.json", PUMP, NOTHING_IN_IT), "entity_types": "pump, boiler, maker", "gleanings": 1}
    build_with_model(folder, chat := graph_model(), **options)
    asked, reply, asked_again, nothing = shown(chat, "extract")
    assert "Pumps" in asked
    assert PUMP["text"] in asked
    assert json.loads(reply) == {"entities": PUMP["entities"], "relations": PUMP["relations"]}
    assert NOTHING_IN_IT["text"] in asked_again
    assert json.loads(nothing) == {"entities": [], "relations": []}
    assert {slots["kinds"] for slots in chat.asked("extract")} == {"pump, boiler, maker"}
    missing, missed, _, none = shown(chat, "glean")
    assert "Arden Works" not in missing.partition("Found already")[2]
    assert json.loads(missed) == {"entities": PUMP["entities"][-1:], "relations": PUMP["relations"][-1:]}
    assert json.loads(none) == {"entities": [], "relations": []}


def test_of_another_content_ask_again_and_of_another_name_do_not(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "pumps.json"
    build_with_model(folder, examples=write(file, PUMP))
    build_with_model(folder, same := graph_model(), examples=write(tmp_path / "copy.json", PUMP))
    assert same.calls == []
    build_with_model(folder, other := graph_model(), examples=write(file, {**PUMP, "relations": PUMP["relations"][:1]}))
    assert len(other.asked("extract")) == len(VALLEY)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "Invalid JSON"),
        ("[]", "at least 1 item"),
        ('{"text": "Vane"}', "valid array"),
        ([{"entities": ["Vane"]}], "example 1, text: Field required"),
        ([{"text": ""}], "example 1, text: .*at least 1 character"),
        ([PUMP, {"text": "Vane", "names": ["Vane"]}], "example 2, names: .*not permitted"),
        ([{"text": "It is old.", "entities": ["Vane | place | A town."]}], "example 1: the name 'Vane' does not occur in its text"),
        ([{**PUMP, "relations": ["P-101"]}], "the relation 'P-101' has no second name"),
        ([{**PUMP, "relations": ["P-101 | Oskel"]}], "'P-101 | Oskel' is of 'Oskel', which is not among its entities"),
        ([{"text": "Vane", "entities": ["Vane"] * 11}], "example 1, entities: .*at most 10 items"),
        ([{"text": "Vane", "entities": [f"Vane | place | {'old ' * 40}"]}], "example 1, entities, 0: .*at most 120 characters"),
    ],
)
def test_that_are_wrong_are_refused_in_one_line_before_a_call(folder: Path, tmp_path: Path, content: Any, said: str) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match=said) as caught:
        build_with_model(folder, chat := graph_model(), examples=str(file))
    assert "wrong.json" in str(caught.value)
    assert '"entities": [' in caught.value.remedy
    assert "\n" not in str(caught.value)
    assert chat.calls == []


def test_a_file_that_is_not_there_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the examples '.*absent.json' cannot be read"):
        build_with_model(folder, examples=str(tmp_path / "absent.json"))


def test_more_than_are_shown_are_refused_with_the_setting_that_shows_them(folder: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "three.json", PUMP, NOTHING_IN_IT, PUMP)
    with pytest.raises(UsageError, match=r"3 examples, of which shots=2 shows 2 — set shots=3"):
        build_with_model(folder, examples=file)
    build_with_model(folder, chat := graph_model(), examples=file, shots=3)
    assert len(shown(chat, "extract")) == 6
