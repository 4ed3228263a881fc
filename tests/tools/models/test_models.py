import subprocess
import sys
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

from ramify.tools.errors import ModelError, UsageError
from ramify.tools.models import ModelOptions, clear_cache, resolve_model
from tests.tools.ollama_replies import Say
from tests.tools.ollama_server import Ollama, ollama
from tests.tools.openai_server import completion, serving
from tests.tools.questions import GOOD, NOWHERE, QUESTION, Answered, auto, fresh

__all__ = ["fresh", "ollama"]


def test_importing_it_is_cheap() -> None:
    heavy = "('torch', 'transformers', 'langchain_openai', 'langchain_ollama', 'openai', 'ollama', 'httpx')"
    code = f"import sys, ramify.tools.models; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_auto_takes_ollama_where_it_answers(ollama: Ollama) -> None:
    model = auto()
    assert (model.name, model.notices) == ("ollama:llama3.1:8b", [])


def test_auto_takes_the_best_of_the_recommended_models_that_are_there(ollama: Ollama) -> None:
    ollama.models |= {"qwen2:0.5b": 32768, "llama3.2:3b": 131072, "gemma4:e4b": 131072}
    assert auto().name == "ollama:gemma4:e4b"
    clear_cache()
    del ollama.models["gemma4:e4b"], ollama.models["llama3.1:8b"]
    assert auto().name == "ollama:llama3.2:3b"


def test_auto_reports_its_fallback(ollama: Ollama, monkeypatch: pytest.MonkeyPatch) -> None:
    ollama.models.clear()
    (lacking,) = auto().notices
    monkeypatch.setenv("OLLAMA_HOST", NOWHERE)
    model = auto()
    (absent,) = model.notices
    assert (model.name, model.num_ctx) == ("extractive", None)
    assert "no Ollama server answers at http://127.0.0.1:9: using the extractive model" in absent
    assert "`ollama serve`" in absent
    assert "`ollama pull llama3.1:8b`" in lacking
    assert "\n" not in lacking + absent


def test_an_address_is_never_passed_over_for_the_model_that_needs_none(ollama: Ollama) -> None:
    with pytest.raises(
        ModelError, match=r"no Ollama server answers at http://127.0.0.1:9.*--model openai:NAME --base-url http://127.0.0.1:9/v1"
    ):
        auto(base_url=f"{NOWHERE}/v1")
    assert auto(base_url=ollama.address).name == "ollama:llama3.1:8b"
    ollama.models.clear()
    with pytest.raises(ModelError, match=r"`ollama pull llama3.1:8b`; or name the model with its server: `--model ollama:NAME`"):
        auto(base_url=ollama.address, seed=1)


def test_a_name_as_ollama_writes_it_is_recognised() -> None:
    with pytest.raises(UsageError, match=r"did you mean ollama:llama3.1:8b\?"):
        resolve_model("llama3.1:8b", ModelOptions())


def test_auto_finds_a_server_started_meanwhile(ollama: Ollama) -> None:
    held = ollama.models.copy()
    ollama.models.clear()
    assert auto().name == "extractive"
    ollama.models.update(held)
    assert auto().name == "ollama:llama3.1:8b"


def test_a_name_is_looked_up_once(ollama: Ollama) -> None:
    first = resolve_model("ollama:llama3.1:8b", ModelOptions())
    assert resolve_model("ollama:llama3.1:8b", ModelOptions()) is first
    other = resolve_model("ollama:llama3.1:8b", ModelOptions(seed=1))
    assert other is not first
    assert other.cap.limiter is first.cap.limiter


@pytest.mark.parametrize("name", ["llama3.1:8b", "gpt-4o", "", "ollama:", "nonsense:model", "claude:x"])
def test_names_that_mean_nothing(name: str) -> None:
    with pytest.raises(UsageError, match="ollama:NAME"):
        resolve_model(name, ModelOptions())


def test_a_missing_package_is_named() -> None:
    with pytest.raises(ModelError, match="run `pip install langchain-groq`"):
        resolve_model("groq:llama", ModelOptions())


def test_a_missing_openai_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    for name in ("openai", "langchain_openai"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModelError, match=r"run `pip install 'ramify-rag\[openai\]'`"):
        resolve_model("openai:gpt-4o", ModelOptions())


def test_a_key_is_asked_for_only_away_from_this_machine() -> None:
    assert resolve_model("openai:local", ModelOptions(base_url="http://localhost:8000/v1")).name == "openai:local"
    with pytest.raises(ModelError, match="set OPENAI_API_KEY"):
        resolve_model("openai:gpt-4o", ModelOptions())


@pytest.mark.parametrize(("name", "temperature"), [("gpt-4o", 0.3), ("o3-mini", None), ("gpt-5-mini", None), ("gpt-5.5", None)])
def test_reasoning_models_are_not_asked_for_what_they_refuse(name: str, temperature: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    chat = resolve_model(f"openai:{name}", ModelOptions(temperature=0.3, seed=5)).chat
    assert isinstance(chat, ChatOpenAI)
    assert (chat.temperature, chat.logprobs, chat.seed, chat.max_retries) == (temperature, temperature and True, 5, 0)


class Bounded(BaseModel):
    answer: str = Field(max_length=80)
    facts: list[str] = Field(max_length=5)


@pytest.mark.parametrize(("own", "told"), [(True, {}), (False, {"maxLength": 80})])
async def test_openai_s_own_service_gets_no_max_lengths(own: bool, told: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with serving(lambda body: (200, completion('{"answer": "Paris", "facts": []}'))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)  # stands for the service that the client knows by itself
        options = ModelOptions() if own else ModelOptions(base_url=server.address)
        assert (await resolve_model("openai:gpt-4o", options).reply(QUESTION, Bounded)).parsed is not None
        fields = server.asked[0]["response_format"]["json_schema"]["schema"]["properties"]
    assert {name: fields["answer"][name] for name in fields["answer"].keys() & {"maxLength"}} == told
    assert fields["facts"]["maxItems"] == 5


def test_no_key_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "secret" not in repr(resolve_model("openai:local", ModelOptions(base_url="http://me:secret@127.0.0.1:8000/v1")))


def test_a_base_url_without_its_scheme() -> None:
    with pytest.raises(UsageError, match="write it as http://"):
        resolve_model("openai:local", ModelOptions(base_url="localhost:8000/v1"))


async def test_a_fake_model_answers_in_words() -> None:
    fake = FakeListChatModel(responses=['```json\n{"answer": "Marie Curie", "confidence": 0.9}\n```', "no"])
    model = resolve_model(fake, ModelOptions())
    assert model.chat is fake
    assert model.name == "FakeListChatModel"
    assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    assert (await model.reply(QUESTION, Answered)).parsed is None


async def test_an_object_of_a_client_is_used_as_it_is(ollama: Ollama) -> None:
    ollama.when("polonium", Say(GOOD))
    chat = ChatOllama(model="llama3.1:8b", base_url=ollama.address, num_ctx=1024)
    model = resolve_model(chat, ModelOptions(num_ctx=8192))
    assert (model.name, model.num_ctx) == ("ChatOllama/llama3.1:8b", 1024)
    assert (await model.reply(QUESTION, Answered)).parsed == Answered(**GOOD)
    assert ollama.requests[0]["options"] == {"num_ctx": 1024}


async def test_what_a_model_parsed_itself_is_taken() -> None:
    class Ready(FakeListChatModel):
        def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
            told = {"raw": AIMessage(""), "parsed": schema(answer="Marie Curie", confidence=0.9), "parsing_error": None}
            return RunnableLambda(lambda _: told)

    assert (await resolve_model(Ready(responses=[]), ModelOptions()).reply(QUESTION, Answered)).parsed == Answered(**GOOD)
