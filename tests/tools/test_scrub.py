"""What is taken out of a text, and what is left in it."""

import json
import math
import traceback
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI

from ramify.prompts.answer import ANSWER
from ramify.tools import scrub as scrubbing
from ramify.tools.errors import RamifyError, ReplyError
from ramify.tools.models import ModelOptions, resolve_model
from ramify.tools.models.reply_parsing import read_reply, span_confidence
from ramify.tools.models.servers import safe_cause
from ramify.tools.scrub import mask_address, mask_known, register_address, register_named_secrets, register_secrets, scrub
from ramify.tools.server_address import is_server_address
from tests.tools.echo_server import echoing
from tests.tools.questions import QUESTION, Answered, fresh

__all__ = ["fresh"]

KEY = "9f8e7d6c5b4a39281706"


@pytest.fixture(autouse=True)
def nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrubbing, "_registered", set())


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://api.example/openai/deployments/gpt-4o/", "https://api.example/openai/deployments/gpt-4o/"),
        ("http://me:secret@box:4000/v1", "http://box:4000/v1"),
        ("http://me:sec/ret@box:4000/v1", "http://box:4000/v1"),
        ("http://me:s?e#c/r@t@box:4000/v1", "http://box:4000/v1"),
        ("me:secret@box:4000", "box:4000"),
        ("http://token@[::1]:80/v1", "http://[::1]:80/v1"),
        ("http://box/v1?key=secret&version=2", "http://box/v1?key=***&version=***"),
        ("http://box/v1?secret", "http://box/v1?***"),
        ("http://box/v1?mail=me@example.org", "http://box/v1?mail=***"),
        ("http://box/v1#secret", "http://box/v1#***"),
        (f"http://box/{KEY}/v1", "http://box/***/v1"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, told: str) -> None:
    assert mask_address(url) == told
    assert mask_address(told) == told
    if "://" in url:
        assert scrub(f"no server answers at {url} today") == f"no server answers at {told} today"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("refused: Authorization: Bearer abc.def-123", "refused: Authorization: *** ***"),
        ("sent with bearer abcdefgh", "sent with bearer ***"),
        ("sent with Basic bWU6c2VjcmV0", "sent with Basic ***"),
        ('{"api_key": "abcdefgh"}', '{"api_key": "***"}'),
        ("Incorrect API key provided: sk-proj-abcdef", "Incorrect API key provided: ***"),
        ("basic information on a risk-assessment", "basic information on a risk-assessment"),
        ("set OPENAI_API_KEY, and check base_url", "set OPENAI_API_KEY, and check base_url"),
    ],
)
def test_what_looks_like_a_key_is_taken_out(text: str, told: str) -> None:
    assert scrub(text) == told
    assert scrub(told) == told


def test_what_is_known_is_taken_out_in_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", 'a/b"c+d e12')
    monkeypatch.setenv("OLLAMA_HOST", "me:pa%2Fss1234@box:4000")
    monkeypatch.setenv("OTHER_TOKEN", "yes")  # a switch
    for form in ('a/b"c+d e12', "a%2Fb%22c%2Bd%20e12", 'a/b\\"c+d e12', "pa%2Fss1234", "pa/ss1234", "bWU6cGEvc3MxMjM0"):
        assert scrub(f"got {form}!") == "got ***!"
    assert scrub("yes") == "yes"


def test_data_loses_only_what_is_known() -> None:
    register_secrets("abcdefgh")
    register_address("http://me:1234@box/v1?api-version=2024-02-01")
    passage = "In 1234, see https://example.org/2024-02-01-a-long-title?page=2, Bearer of news; abcdefgh."
    assert mask_known({"texts": [passage], "n": 1234}) == {"texts": [passage.replace("abcdefgh", "***")], "n": 1234}


def test_the_first_parameter_of_an_address_is_known() -> None:
    register_address("http://box/v1?key=abcdefgh")
    assert mask_known("abcdefgh") == "***"


def test_every_error_goes_through_it() -> None:
    error = RamifyError("http://me:secret@box says: Bearer abcdefgh", "set it at http://box?key=secret")
    assert str(error) == "http://box says: Bearer *** — set it at http://box?key=***"
    assert (error.what, error.remedy) == ("http://box says: Bearer ***", "set it at http://box?key=***")


async def test_the_key_of_a_model_made_by_a_program_is_known_and_in_no_traceback() -> None:
    with echoing(400) as (place, heard):
        chat = ChatOpenAI(model="m", base_url=f"http://{place}/v1", api_key=KEY, max_retries=0)
        with pytest.raises(ReplyError) as caught:
            await resolve_model(chat, ModelOptions()).reply(QUESTION, Answered)
    assert KEY in heard[0]
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_cause_that_quotes_a_key_in_what_caused_it_is_left_out() -> None:
    inner, outer = ValueError("POST http://box/v1?key=secret"), RuntimeError("no reply")
    outer.__cause__ = inner
    assert safe_cause("busy", outer) is None
    assert safe_cause("busy", RuntimeError("no reply")) is not None


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ({"default_headers": {"Authorization": f"Bearer {KEY}"}}, [KEY]),
        ({"client_kwargs": {"headers": {"api-key": "abcdefgh"}}}, ["abcdefgh"]),
        ({"default_query": {"subscription": KEY, "api-version": "2024-02-01"}}, [KEY]),
        ({"default_headers": {"Connection": "close", "User-Agent": "a program of mine", "Referer": "https://example.org/" + "x" * 30}}, []),
    ],
)
def test_keys_are_known_from_headers_and_parameters(sent: dict[str, Any], keys: list[str]) -> None:
    register_named_secrets(sent)
    plain = "Bearer close 2024-02-01 a program of mine https://example.org/" + "x" * 30
    assert mask_known(f"{plain} {' '.join(keys)}") == f"{plain} {' '.join('***' for _ in keys)}"


@pytest.mark.parametrize("client_parsed", [True, False])
def test_a_reply_loses_its_keys_before_it_is_cut_and_keeps_its_confidence(client_parsed: bool) -> None:
    register_secrets(KEY)
    text = json.dumps({"answer": f"{'x ' * 95}{KEY}", "confidence": 0.5, "citations": []})
    raw = AIMessage(text, response_metadata={"logprobs": [{"token": text, "logprob": -0.5}]})
    found = read_reply(raw, ANSWER.reply.model_validate_json(text) if client_parsed else None, ANSWER.reply)
    assert found.parsed is not None
    assert found.parsed.answer == "x " * 95 + "***"  # type: ignore[attr-defined]
    assert span_confidence(found.raw, "answer") == pytest.approx(math.exp(-0.5))


@pytest.mark.parametrize("url", ["http://me:a/b@box", "http://", "box:4000", "http://box:port", "http://[::1", "http://box:0"])
def test_what_is_no_address(url: str) -> None:
    assert not is_server_address(url)


@pytest.mark.parametrize("placeholder", ["ollama", "EMPTY", "none", "dummy"])
def test_a_placeholder_key_is_not_masked(placeholder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", placeholder)
    resolve_model(ChatOpenAI(model="local", base_url="http://127.0.0.1:9/v1"), ModelOptions())
    assert scrub(f"start it with `{placeholder} serve`") == f"start it with `{placeholder} serve`"
