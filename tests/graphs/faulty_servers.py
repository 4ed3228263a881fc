"""A model's server that answers the questions about a river, in either protocol, and fails where it is told to."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from json import dumps
from typing import Any

from ramify.prompts.decompose import DECOMPOSE_SEARCHED
from ramify.prompts.iterative import FILTER_RECORDS
from tests.records.samples import ALL
from tests.river import FIRST, QUESTION, replies
from tests.tools import ollama_server, openai_server
from tests.tools.ollama_replies import Answer, Fail, Hang, Raw, Request, Reset, Say

PROTOCOLS = ["ollama", "openai"]
NAMES = {prompt.reply.__name__: prompt.name for prompt in ALL} | {
    "Answered": "answer",
    FILTER_RECORDS.reply.__name__: "filter",
    DECOMPOSE_SEARCHED.reply.__name__: "decompose",
}
"""The prompts by what they ask for."""
USAGE = {"prompt_tokens": 2000, "completion_tokens": 20, "total_tokens": 2020}
Fault = Fail | Raw | Reset | Hang
FaultOf = Callable[[int, str], Answer | None]
"""Gives the fault of a request by its number, from 1, and the name of its prompt."""


@dataclass
class Faulty:
    """The server, and what each request was for."""

    fault: FaultOf
    requests: list[str] = field(default_factory=list)
    elsewhere: list[Any] = field(default_factory=list)
    """What was sent to where it redirects."""
    options: dict[str, Any] = field(default_factory=dict)
    """The model and its address, as settings."""
    _replies: Counter[str] = field(default_factory=Counter)

    def answer(self, form: str | None) -> Answer:
        name = NAMES.get(form or "", "")
        self.requests.append(name)
        if fault := self.fault(len(self.requests), name):
            return fault
        before = self._replies[name]
        self._replies[name] += 1
        slots = {"question": FIRST if before else QUESTION, "history": [None] * before, "sentences": [None] * before}
        return Say(dict(replies(name, slots)))


@contextmanager
def faulty(protocol: str, fault: FaultOf) -> Iterator[Faulty]:
    """Serve in a protocol."""
    served = Faulty(fault)
    with ollama_server.serving() as other:
        other.when("", lambda request: served.elsewhere.append(request) or Say("{}"))
        with _ollama(served) if protocol == "ollama" else _openai(served) as server:
            server.elsewhere = f"{other.address}/api/chat"
            yield served


@contextmanager
def _ollama(served: Faulty) -> Iterator[ollama_server.Ollama]:
    with ollama_server.serving() as server:
        server.when("", lambda request: served.answer((request.get("format") or {}).get("title")))
        served.options = {"model": "ollama:llama3.1:8b", "base_url": server.address}
        yield server


@contextmanager
def _openai(served: Faulty) -> Iterator[openai_server.OpenAI]:
    def reply(request: Request) -> openai_server.Reply:
        form = request.get("response_format") or {}
        answer = served.answer(form.get("json_schema", {}).get("name"))
        if isinstance(answer, Fail):
            return abs(answer.status), {"error": {"message": answer.message}}
        if isinstance(answer, Say):
            return 200, openai_server.completion(dumps(answer.content), usage=USAGE)
        assert isinstance(answer, Raw | Reset | Hang)
        return answer

    with openai_server.serving(reply, v1_models=lambda request: (200, {"data": [{"id": "local"}]})) as server:
        served.options = {"model": "openai:local", "base_url": server.address}
        yield server
