"""OpenAI's responses, asked for by its own client."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from plugins.serve.tests.conftest import BORN, FOLLOW_UP, INVENTOR, Running, Serve
from tests.tools.ollama_server import Fail, Ollama

MODEL = "demo/prune"


@pytest.fixture
def server(serve: Serve) -> Running:
    return serve()


@pytest.fixture
def client(server: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


def test_an_answer_has_its_tree_as_reasoning_and_its_citations_as_annotations(client: openai.OpenAI) -> None:
    done: Any = client.responses.create(model=MODEL, input=BORN)
    assert (done.status, done.error) == ("completed", None)
    assert done.output_text.startswith("**Budapest**")
    reasoning, message = done.output
    assert "0.1 \u2192 Budapest" in reasoning.summary[0].text
    [text] = message.content
    assert {annotation.file_id for annotation in text.annotations} == {"ballpoint-pen", "laszlo-biro"}
    for footnote in text.annotations:
        assert (footnote.type, footnote.quote != "") == ("file_citation", True)
        assert text.text[footnote.index :].startswith(f"[^{footnote.number}]")
    assert done.usage.total_tokens == done.usage.input_tokens + done.usage.output_tokens > 0
    assert done.ramify["calls"] == 3


def test_a_stream_ends_with_the_same_response(client: openai.OpenAI) -> None:
    events = list(client.responses.create(model=MODEL, input=[{"role": "user", "content": BORN}], stream=True))
    assert [event.sequence_number for event in events] == [*range(len(events))]
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    last = max(place for place, kind in enumerate(kinds) if kind == "response.reasoning_summary_text.delta")
    assert last < kinds.index("response.output_text.delta")
    end: Any = events[-1]
    assert end.type == "response.completed"
    grown: Any = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert grown == end.response.output_text
    thought = "".join(event.delta for event in events if event.type == "response.reasoning_summary_text.delta")
    assert thought == end.response.output[0].summary[0].text
    added: Any = [event.annotation for event in events if event.type == "response.output_text.annotation.added"]
    assert len(added) == len(end.response.output[1].content[0].annotations) > 0


def test_the_output_may_be_sent_back_before_a_follow_up(client: openai.OpenAI) -> None:
    asked: Any = [{"role": "user", "content": [{"type": "input_text", "text": INVENTOR}]}]
    done = client.responses.create(model=MODEL, input=asked, instructions="Be brief.", temperature=0.5)
    asked += [*(item.model_dump() for item in done.output), {"role": "user", "content": FOLLOW_UP}]
    assert client.responses.create(model=MODEL, input=asked).output_text.startswith("**Budapest**")


def test_an_invalid_request_is_an_openai_error(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="there is no model 'gpt-4'"):
        client.responses.create(model="gpt-4", input=BORN)
    wrong: Any
    for wrong in ({"input": []}, {"input": BORN, "previous_response_id": "resp_1"}, {"input": " "}):
        with pytest.raises(openai.BadRequestError):
            client.responses.create(model=MODEL, **wrong)


def test_a_model_that_cannot_be_asked_is_a_failure(serve: Serve, ollama: Ollama) -> None:
    ollama.when("", Fail(500, "out of memory"))
    with openai.OpenAI(base_url=f"{serve(model='ollama:llama3.1:8b').url}/v1", api_key="none", max_retries=0) as client:
        with pytest.raises(openai.APIError, match="out of memory"):
            client.responses.create(model="demo/closed-book", input=BORN)
        *_, last = client.responses.create(model="demo/closed-book", input=BORN, stream=True)
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert "out of memory" in last.response.error.message
