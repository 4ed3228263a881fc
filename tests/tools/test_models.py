import asyncio
import subprocess
import sys
import threading
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_ollama import ChatOllama
from pydantic import BaseModel, Field

from ramify.tools import models, transport
from ramify.tools.confidence import span_confidence
from ramify.tools.errors import ModelError, ReplyError, UsageError
from ramify.tools.models import ModelOptions, resolve
from ramify.tools.ollama import host
from tests.tools.ollama_server import Fail, Hang, Ollama, Say, ollama

__all__ = ["ollama"]

QUESTION = [SystemMessage("Answer in JSON."), HumanMessage("Who discovered polonium?")]
NOWHERE = "http://127.0.0.1:9"


class Answered(BaseModel):
    answer: str
    confidence: float = Field(ge=0, le=1)


GOOD = {"answer": "Marie Curie", "confidence": 0.9}


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    models.forget()
    monkeypatch.setattr(transport, "PAUSES", (0.0, 0.0))
    for name in ("OLLAMA_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


def test_importing_it_is_cheap() -> None:
    heavy = "('torch', 'transformers', 'langchain_openai', 'langchain_ollama', 'openai', 'ollama', 'httpx')"
    code = f"import sys, ramify.tools.models; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("named", "address"),
    [
        (None, "http://127.0.0.1:11434"),
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:4000", "http://127.0.0.1:4000"),
        (":4000", "http://127.0.0.1:4000"),
        ("box", "http://box:11434"),
        ("box/ollama/", "http://box:11434/ollama"),
        ("http://box", "http://box:80"),
        ("https://box", "https://box:443"),
        ("http://box:4000/", "http://box:4000"),
        ("[::1]:4000", "http://[::1]:4000"),
        ("[::]", "http://[::1]:11434"),
        ("http://me:secret@box:4000", "http://me:secret@box:4000"),
        (' "box:4000" ', "http://box:4000"),
    ],
)
def test_every_form_of_ollama_host(named: str | None, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", named or "")
    assert host(None) == address
    monkeypatch.setenv("OLLAMA_HOST", "elsewhere:1")
    if named:
        assert host(named) == address, "base_url comes first"


def test_an_ollama_host_that_is_no_address() -> None:
    with pytest.raises(UsageError, match="'box:port' is not an address"):
        host("me:secret@box:port")


async def test_what_is_sent_to_ollama(ollama: Ollama) -> None:
    ollama.when("polonium", Say(GOOD))
    model = resolve("ollama:llama3.1:8b", ModelOptions(temperature=0.2, seed=7, num_ctx=4096, num_predict=99, keep_alive="3m"))
    reply = await model.reply(QUESTION, Answered)
    assert reply.parsed == Answered(**GOOD)
    assert reply.error is None
    (sent,) = ollama.requests
    assert sent["options"] == {"temperature": 0.2, "seed": 7, "num_ctx": 4096, "num_predict": 99}
    assert (sent["model"], sent["keep_alive"], sent["logprobs"]) == ("llama3.1:8b", "3m", True)
    assert sent["format"]["properties"].keys() == {"answer", "confidence"}
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]


async def test_confidence_comes_from_the_answer_alone(ollama: Ollama) -> None:
    ollama.when("polonium", Say(GOOD, sure=lambda token: -0.5 if token.strip() in ("Marie", "Curie") else -7))
    reply = await resolve("ollama:llama3.1:8b", ModelOptions()).reply(QUESTION, Answered)
    assert span_confidence(reply.raw, "answer") == pytest.approx(0.6065, abs=1e-4)
    assert reply.raw.usage_metadata is not None
    assert reply.raw.usage_metadata["output_tokens"] > 0


def test_ollama_is_not_running() -> None:
    with pytest.raises(ModelError, match=r"no Ollama server answers at http://127\.0\.0\.1:9 — start it with `ollama serve`"):
        resolve("ollama:llama3.1:8b", ModelOptions(base_url=NOWHERE))


def test_ollama_lacks_the_model(ollama: Ollama) -> None:
    with pytest.raises(ModelError, match="does not have 'mistral' — run `ollama pull mistral`"):
        resolve("ollama:mistral", ModelOptions())


def test_the_window_is_no_larger_than_the_model_was_trained_for(ollama: Ollama) -> None:
    ollama.models["small"] = 2048
    model = resolve("ollama:small", ModelOptions(num_ctx=8192))
    assert model.num_ctx == 2048
    assert isinstance(model.chat, ChatOllama)
    assert model.chat.num_ctx == 2048


def test_auto_takes_ollama_where_it_answers(ollama: Ollama) -> None:
    model = resolve("auto", ModelOptions())
    assert (model.name, model.notice) == ("ollama:llama3.1:8b", None)


@pytest.fixture
def extractive(monkeypatch: pytest.MonkeyPatch) -> None:
    from ramify.tools import extractive as package

    monkeypatch.setattr(package, "Extractive", lambda: FakeListChatModel(responses=["{}"]), raising=False)


@pytest.mark.usefixtures("extractive")
def test_auto_says_what_it_fell_back_to(ollama: Ollama) -> None:
    absent = resolve("auto", ModelOptions(base_url=NOWHERE))
    assert (absent.name, absent.num_ctx) == ("extractive", None)
    assert absent.notice is not None
    assert "no Ollama server answers at http://127.0.0.1:9: using the extractive model" in absent.notice
    assert "`ollama serve`" in absent.notice
    ollama.models.clear()
    lacking = resolve("auto", ModelOptions())
    assert lacking.notice is not None
    assert "`ollama pull llama3.1:8b`" in lacking.notice
    assert "\n" not in lacking.notice + absent.notice


@pytest.mark.usefixtures("extractive")
def test_a_server_started_meanwhile_is_found_after_forgetting(ollama: Ollama) -> None:
    held = ollama.models.copy()
    ollama.models.clear()
    assert resolve("auto", ModelOptions()).name == "extractive"
    ollama.models.update(held)
    assert resolve("auto", ModelOptions()).name == "extractive"
    models.forget()
    assert resolve("auto", ModelOptions()).name == "ollama:llama3.1:8b"


def test_a_name_is_looked_up_once(ollama: Ollama) -> None:
    first = resolve("ollama:llama3.1:8b", ModelOptions())
    assert resolve("ollama:llama3.1:8b", ModelOptions()) is first
    other = resolve("ollama:llama3.1:8b", ModelOptions(seed=1))
    assert other is not first
    assert other.cap.gate is first.cap.gate


@pytest.mark.parametrize("name", ["llama3.1:8b", "gpt-4o", "", "ollama:", "nonsense:model", "claude:x"])
def test_names_that_mean_nothing(name: str) -> None:
    with pytest.raises(UsageError, match="ollama:NAME"):
        resolve(name, ModelOptions())


def test_a_missing_package_is_named() -> None:
    with pytest.raises(ModelError, match="run `pip install langchain-groq`"):
        resolve("groq:llama", ModelOptions())


def test_a_missing_openai_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    for name in ("openai", "langchain_openai"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModelError, match=r"run `pip install 'ramify\[openai\]'`"):
        resolve("openai:gpt-4o", ModelOptions())


def test_a_key_is_asked_for_only_away_from_this_machine() -> None:
    assert resolve("openai:local", ModelOptions(base_url="http://localhost:8000/v1")).name == "openai:local"
    with pytest.raises(ModelError, match="set OPENAI_API_KEY"):
        resolve("openai:gpt-4o", ModelOptions())


def test_no_key_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "secret" not in repr(resolve("openai:local", ModelOptions(base_url="http://me:secret@127.0.0.1:8000/v1")))


def test_a_base_url_without_its_scheme() -> None:
    with pytest.raises(UsageError, match="write it as http://"):
        resolve("openai:local", ModelOptions(base_url="localhost:8000/v1"))


# --- What goes wrong during a call


async def ask(server: Ollama, **options: Any) -> models.Structured:
    return await resolve("ollama:llama3.1:8b", ModelOptions(base_url=server.address, **options)).reply(QUESTION, Answered)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("", "it is empty"),
        ("I do not know.", "it holds no complete JSON object"),
        ('{"answer": "Marie Cu', "it holds no complete JSON object"),
        ('{"answer": "Marie Curie"}', "confidence: Field required"),
        ('{"answer": "Marie Curie", "confidence": 7}', "confidence: Input should be less than or equal to 1"),
    ],
)
async def test_a_malformed_reply_is_a_value(ollama: Ollama, said: str, error: str) -> None:
    ollama.when("polonium", Say(said))
    reply = await ask(ollama)
    assert (reply.parsed, reply.error) == (None, error)
    assert reply.raw.content == said
    assert len(ollama.requests) == 1


@pytest.mark.parametrize("frame", ["```json\n%s\n```", "Sure! Here it is:\n%s\nI hope that helps {you}.", "<think>{}</think>%s"])
async def test_words_around_the_object_do_no_harm(ollama: Ollama, frame: str) -> None:
    ollama.when("polonium", Say(frame % '{"answer": "Marie\nCurie", "confidence": 0.9}'))
    assert (await ask(ollama)).parsed == Answered(answer="Marie\nCurie", confidence=0.9)


async def test_a_reply_that_was_cut_off_is_not_completed_by_guessing(ollama: Ollama) -> None:
    ollama.when("polonium", Say({"confidence": 0.9, "answer": "Marie Curie, born Skłodowska"}))
    reply = await ask(ollama, num_predict=16)
    assert reply.parsed is None
    assert reply.error is not None
    assert "cut off" in reply.error


async def test_a_prompt_that_was_cut_silently_is_noticed(ollama: Ollama) -> None:
    long = [HumanMessage("word " * 900)]
    model = resolve("ollama:llama3.1:8b", ModelOptions(num_ctx=512))
    with pytest.raises(ReplyError, match="does not fit into num_ctx 512 — raise num_ctx"):
        await model.reply(long, Answered)


async def test_no_reply_in_time(ollama: Ollama) -> None:
    ollama.when("polonium", Hang())
    with pytest.raises(ReplyError, match=r"gave no reply within 0\.2 s — raise timeout"):
        await ask(ollama, timeout=0.2)


async def test_a_busy_server_is_asked_again(ollama: Ollama) -> None:
    ollama.when("polonium", Fail(503, "server busy"), Fail(-1, "model runner has stopped"), Say(GOOD))
    assert (await ask(ollama)).parsed == Answered(**GOOD)
    assert len(ollama.requests) == 3


async def test_a_server_that_stays_busy(ollama: Ollama) -> None:
    ollama.when("polonium", Fail(500, "out of memory"))
    with pytest.raises(ReplyError, match=r"out of memory.*, also when asked again"):
        await ask(ollama)
    assert len(ollama.requests) == 3


async def test_a_model_removed_meanwhile(ollama: Ollama) -> None:
    model = resolve("ollama:llama3.1:8b", ModelOptions())
    ollama.models.clear()
    with pytest.raises(ModelError, match=r"run `ollama pull llama3\.1:8b`"):
        await model.reply(QUESTION, Answered)


async def test_a_key_that_is_refused_is_not_repeated(ollama: Ollama) -> None:
    ollama.when("polonium", Fail(401, "invalid key sk-secret"))
    with pytest.raises(ModelError, match="set OLLAMA_API_KEY") as caught:
        await ask(ollama)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


async def test_a_request_that_is_refused(ollama: Ollama) -> None:
    ollama.when("polonium", Fail(400, "invalid format"))
    with pytest.raises(ModelError, match="invalid format"):
        await ask(ollama)
    assert len(ollama.requests) == 1


async def test_a_server_that_went_away() -> None:
    model = resolve("openai:local", ModelOptions(base_url=f"{NOWHERE}/v1"))
    with pytest.raises(ModelError, match=r"openai:local at http://127\.0\.0\.1:9/v1 cannot be reached"):
        await model.reply(QUESTION, Answered)


async def test_an_error_that_is_not_about_the_server_stays_what_it_is() -> None:
    class Broken(FakeListChatModel):
        def _call(self, *args: Any, **kwargs: Any) -> str:
            raise ZeroDivisionError("a mistake in the model's own code")

    with pytest.raises(ZeroDivisionError):
        await resolve(Broken(responses=[]), ModelOptions()).reply(QUESTION, Answered)


# --- Objects


async def test_a_fake_model_answers_in_words() -> None:
    fake = FakeListChatModel(responses=['```json\n{"answer": "Marie Curie", "confidence": 0.9}\n```', "no"])
    model = resolve(fake, ModelOptions())
    assert model.chat is fake
    assert model.name == "FakeListChatModel"
    assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    assert (await model.reply(QUESTION, Answered)).parsed is None


async def test_an_object_of_a_client_is_used_as_it_is(ollama: Ollama) -> None:
    ollama.when("polonium", Say(GOOD))
    chat = ChatOllama(model="llama3.1:8b", base_url=ollama.address, num_ctx=1024)
    model = resolve(chat, ModelOptions(num_ctx=8192))
    assert (model.name, model.num_ctx) == ("ChatOllama/llama3.1:8b", 1024)
    assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    assert ollama.requests[0]["options"] == {"num_ctx": 1024}


async def test_what_a_model_parsed_itself_is_taken() -> None:
    class Ready(FakeListChatModel):
        def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
            from langchain_core.runnables import RunnableLambda

            told = {"raw": AIMessage(""), "parsed": schema(answer="Marie Curie", confidence=0.9), "parsing_error": None}
            return RunnableLambda(lambda _: told)

    assert (await resolve(Ready(responses=[]), ModelOptions()).reply(QUESTION, Answered)).parsed == Answered(**GOOD)


# --- Many calls


async def test_64_calls_keep_a_cap_of_8_busy(ollama: Ollama) -> None:
    ollama.wait_for = 8
    model = resolve("ollama:llama3.1:8b", ModelOptions(max_concurrency=8))
    replies = await asyncio.gather(*(model.reply([HumanMessage(f"Question {number}")], Answered) for number in range(64)))
    assert all(reply.parsed for reply in replies)
    assert (ollama.most_busy, len(ollama.requests)) == (8, 64)


def test_event_loops_one_after_another_and_side_by_side(ollama: Ollama) -> None:
    model = resolve("ollama:llama3.1:8b", ModelOptions(max_concurrency=2))
    parsed: list[Any] = []

    async def some() -> None:
        parsed.extend(reply.parsed for reply in await asyncio.gather(*(model.reply(QUESTION, Answered) for _ in range(3))))

    threads = [threading.Thread(target=asyncio.run, args=(some(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    asyncio.run(some())
    assert len(parsed) == 15
    assert all(parsed)
    assert ollama.most_busy <= 2


async def test_a_cancelled_call_gives_its_place_back(ollama: Ollama) -> None:
    ollama.when("hang", Hang())
    model = resolve("ollama:llama3.1:8b", ModelOptions(max_concurrency=1))
    hanging = asyncio.create_task(model.reply([HumanMessage("hang")], Answered))
    await asyncio.to_thread(ollama.wait_for_a_call)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert (await model.reply(QUESTION, Answered)).parsed is not None


async def test_time_spent_waiting_for_a_place_is_not_the_servers(ollama: Ollama) -> None:
    model = resolve("ollama:llama3.1:8b", ModelOptions(max_concurrency=1, timeout=5))
    async with model.cap:
        waiting = asyncio.create_task(model.reply(QUESTION, Answered))
        await asyncio.sleep(0.01)
        assert not ollama.requests
    assert (await waiting).parsed is not None
