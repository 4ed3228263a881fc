"""Replies that servers really send: other forms of JSON, objects in other fields, refused roles."""

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ramify.tools.models import ModelOptions, _clients, clear_cache, loose_json, reply_parsing, resolve_model, servers
from ramify.tools.models.loose_json import to_json
from ramify.tools.models.reply_parsing import parse_object, split_thought, text_so_far
from ramify.tools.models.servers import find_refused_feature
from tests.faults import fault
from tests.tools.openai_server import Reply, completion, serving
from tests.tools.questions import QUESTION, Answered

NAME = "Zoë O'Hara"
OBJECT = {"answer": NAME, "confidence": 0.75}
WRITTEN = json.dumps(OBJECT)
FORMS: dict[str, str] = {
    "a Python dict": str(OBJECT),
    "a Python dict in single quotes": "{'answer': 'Zoë O\\'Hara', 'confidence': 0.75, 'sure': True, 'more': None}",
    "single quotes around an apostrophe": "{'answer': 'Zoë O'Hara', 'confidence': 0.75}",
    "a trailing comma": WRITTEN[:-1] + " ,\n}",
    "a trailing comma in a list": WRITTEN[:-1] + ', "citations": [1, 2,]}',
    "a comment at the end of a line": WRITTEN[:-1] + ", // quite sure\n}",
    "a comment of Python's": WRITTEN[:-1] + " # quite sure\n}",
    "a comment between": WRITTEN.replace(", ", ", /* how sure: 0.1 */ "),
    "names without quotes": WRITTEN.replace('"answer"', "answer").replace('"confidence"', "confidence"),
    "names in capitals": WRITTEN.replace("answer", "Answer").replace("confidence", "CONFIDENCE"),
    "curly quotes": f"{{“answer”: “{NAME}”, “confidence”: 0.75}}",
    "quotes that never close": WRITTEN.replace('"', "“"),
    "an escaped apostrophe": WRITTEN.replace("'", "\\'"),
    "a string with an object": json.dumps(WRITTEN),
    "letters escaped twice": WRITTEN.replace("\\u", "\\\\u"),
    "a list": f"[{WRITTEN}]",
    "under a name": json.dumps({"response": OBJECT}),
    "as a schema's properties": json.dumps({"properties": OBJECT, "type": "object", "required": ["answer"]}),
    "as a call's arguments": json.dumps({"name": "Answered", "arguments": OBJECT}),
    "as a call's arguments in a string": json.dumps({"name": "Answered", "arguments": WRITTEN}),
    "in a list under a name": json.dumps({"result": [OBJECT]}).replace("[", "").replace("]", ""),
    "a fence and a trailing comma": f"Here it is:\n```json\n{WRITTEN[:-1]},}}\n```\nDone.",
    "a poorer object after it": f'{WRITTEN}\nNote: an alternative is {{"answer": "Ann"}}',
    "a draft before it": f'{{"answer": "Ann", "confidence": 0.1}} or rather {WRITTEN}',
    "words around a dict": f"It's {OBJECT!s}. That's it.",
    "an end token": f"{WRITTEN}<|im_end|>",
    "a list of one under a name": json.dumps({"result": [OBJECT]}),
    "under two names": json.dumps({"data": {"output": OBJECT}}),
    "names with spaces": WRITTEN.replace('"answer"', '" Answer "'),
    "quotes in a string": WRITTEN.replace('{"', '{"note": "the "best" of them", "'),
    "a comma left out": WRITTEN.replace(", ", "\n"),
    "a brace left out": WRITTEN[:-1],
    "a brace left out in a fence": f"```json\n{WRITTEN[:-1]}\n```",
    "a number without a zero": WRITTEN.replace("0.75", ".75"),
    "a number with its sign": WRITTEN.replace("0.75", "+0.75"),
    "spaces that do not break": WRITTEN.replace(": ", ":\u00a0"),
    "wide signs": WRITTEN.replace(": ", "：").replace(", ", "，"),
    "escaped quotes": WRITTEN.replace('"', r"\"").replace("\\u", "\\\\u"),
}


@fault("models", "JSON in another form", sees="nothing", kept="all")
@pytest.mark.parametrize("form", FORMS)
def test_an_object_is_read_however_it_is_written(form: str) -> None:
    found, error = parse_object(FORMS[form], Answered)
    assert (found, error) == (Answered(**OBJECT), None)


@pytest.mark.parametrize(
    "text",
    [
        "Zoë O'Hara wrote it [1].",
        WRITTEN[:20],
        "{'answer': 'Zoë",
        "{'answer'",
        '{"response": {"response": {"response": 1}}}',
        "{answer}",
        "'{'",
        "“{",
        '{"answer": "Zoë O"',  # a field that is asked for is missing
        '{"confidence": 0.75, "answer": "Zoë',
    ],
)
def test_prose_and_what_is_cut_off_stay_malformed(text: str) -> None:
    found, error = parse_object(text, Answered)
    assert found is None
    assert error


def test_what_a_server_cut_off_is_not_completed() -> None:
    assert parse_object(WRITTEN[:-1], Answered, cut_off=True)[0] is None


def test_valid_json_is_not_rewritten() -> None:
    text = json.dumps({"answer": "None, 'True' // “x” # y /* z */ ,}", "confidence": 0.5})
    assert parse_object(text, Answered)[0] == Answered(**json.loads(text))
    assert json.loads(to_json(text)) == json.loads(text)


def answer(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    choice = {**completion()["choices"][0], "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
    return completion(choices=[choice])


async def reply_of(reply: Callable[[dict[str, Any]], Reply], **paths: Any) -> tuple[Any, list[dict[str, Any]], list[str]]:
    """Return the object read, the requests, and the notices."""
    clear_cache()
    with serving(reply) as server:
        model = resolve_model("openai:m", ModelOptions(base_url=server.address))
        read = await model.reply(QUESTION, Answered)
        return read.parsed, server.asked, model.learned_notices


@fault("models", "reply in the field for thoughts", sees="nothing", kept="all")
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("text", [WRITTEN, f"Ann? {{}} No.\n{WRITTEN}", f"```json\n{WRITTEN}\n```", f"{WRITTEN}<|end|>\n"])
async def test_a_reply_in_the_field_for_thoughts_is_read_if_there_is_no_other(field: str, text: str) -> None:
    found, asked, _ = await reply_of(lambda body: (200, answer({field: text})))
    assert found == Answered(**OBJECT)
    assert len(asked) == 1


@pytest.mark.parametrize("text", [f"{WRITTEN} was my first idea, but", f"perhaps {WRITTEN}, {{}}"])
async def test_a_draft_within_a_thought_is_no_reply(text: str) -> None:
    assert (await reply_of(lambda body: (200, answer({"reasoning": text}))))[0] is None


async def test_what_a_thought_says_does_not_count_beside_a_reply_or_when_it_is_cut_off() -> None:
    beside = {"reasoning_content": '{"answer": "Ann", "confidence": 0.1}', "content": WRITTEN}
    assert (await reply_of(lambda body: (200, answer(beside))))[0] == Answered(**OBJECT)
    assert (await reply_of(lambda body: (200, answer({"reasoning": WRITTEN}, "length"))))[0] is None


async def test_a_thought_that_is_not_closed_ends_with_the_reply() -> None:
    assert (await reply_of(lambda body: (200, completion(f"<think>hm, so {WRITTEN}"))))[0] == Answered(**OBJECT)


def refusing(refuses: Callable[[dict[str, Any]], bool], message: str, status: int = 400) -> Callable[[dict[str, Any]], Reply]:
    return lambda body: (status, {"error": {"message": message}}) if refuses(body) else (200, completion(WRITTEN))


def roles(body: dict[str, Any]) -> list[str]:
    return [message["role"] for message in body["messages"]]


@fault("models", "role of a message refused (400, 422, 500)", sees="a notice once", kept="all")
@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("System role not supported", 400),
        ("Jinja Exception: System role not supported", 500),
        ("Only user and assistant roles are supported! (no system)", 400),
        ("'system' role is not allowed for this model", 422),
        ("Only user and assistant roles are supported!", 400),
        ("Developer message is not supported", 400),
        ("Developer instruction is not enabled for models/m", 400),
        ("Conversation roles must alternate user/assistant/user/assistant/...", 400),
    ],
)
async def test_a_server_without_the_role_system_is_told_the_task_by_the_user(message: str, status: int) -> None:
    found, asked, notices = await reply_of(refusing(lambda body: "system" in roles(body), message, status))
    assert found == Answered(**OBJECT)
    assert [roles(body) for body in asked] == [["system", "user"], ["user"]]
    said = [message["content"] for message in asked[0]["messages"]]
    assert all(text in asked[1]["messages"][0]["content"] for text in said)
    assert len(notices) == 1


async def test_a_refused_role_is_remembered() -> None:
    clear_cache()
    with serving(refusing(lambda body: "system" in roles(body), "System role not supported")) as server:
        for seed in (0, 1):
            model = resolve_model("openai:m", ModelOptions(base_url=server.address, seed=seed))
            assert (await model.reply(QUESTION, Answered)).parsed == Answered(**OBJECT)
        assert [roles(body) for body in server.asked] == [["system", "user"], ["user"], ["user"]]


async def test_a_refused_temperature_is_left_out() -> None:
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    found, asked, notices = await reply_of(refusing(lambda body: "temperature" in body, message))
    assert (found, len(asked), len(notices)) == (Answered(**OBJECT), 2, 1)


async def test_a_feature_that_only_the_details_of_a_refusal_name_is_left_out() -> None:
    details = {"detail": [{"loc": ["body", "logprobs"], "msg": "Extra inputs are not permitted"}]}
    found, asked, _ = await reply_of(lambda body: (422, details) if body.get("logprobs") else (200, completion(WRITTEN)))
    assert (found, len(asked)) == (Answered(**OBJECT), 2)


HOSTILE = [
    *" '“\"/#,\\a",
    "'a ",
    "“a” ",
    '"\\',
    "{'",
    "{'a':",
    "/*",
    "//",
    ", ",
    "{,",
    "\\u00",
    "a :",
    "{a",
    "\n ",
    "', ",
    "“ ",
    "a ",
    "}\n ",
]
HOSTILE += ["<think>", "<|a", "```", "role ", "token_1", "1 of "]
SIZE = 100_000


def hostile_text(piece: str) -> str:
    return "{" + piece * (SIZE // len(piece))


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_replies_take_linear_time(piece: str) -> None:
    """A hundred thousand signs would take minutes if each were compared with each."""
    text = hostile_text(piece)
    assert seconds(lambda: parse_object(text, Answered)) < 10
    assert seconds(lambda: split_thought(text)) < 2
    assert seconds(lambda: text_so_far(text, "answer")) < 2
    assert seconds(lambda: find_refused_feature(refusal(text))) < 2


def refusal(text: str) -> Exception:
    error = Exception(text)
    error.status_code = 400  # type: ignore[attr-defined]
    return error


MATCHED_AT_ONE_PLACE = {"MEMBER_NAME", "SCALAR", "SEPARATOR_OR_END", "OPTIONAL_SPACE", "CLOSING_BRACKET", "LEADING_THOUGHT"}


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield the patterns of the package that search texts; the others are matched at one place."""
    for module in (loose_json, reply_parsing, servers, _clients):
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and name not in MATCHED_AT_ONE_PLACE:
                yield f"{module.__name__}.{name}", value


PATTERNS = dict(patterns())


@pytest.mark.parametrize("name", PATTERNS)
def test_no_pattern_for_replies_grows_faster_than_its_text(name: str) -> None:
    pattern = PATTERNS[name]
    for piece in HOSTILE:
        text: Any = hostile_text(piece)
        taken = seconds(lambda text=text: sum(1 for _ in pattern.finditer(text if isinstance(pattern.pattern, str) else text.encode())))  # type: ignore[misc]
        assert taken < 3, piece
