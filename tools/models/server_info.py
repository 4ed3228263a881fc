"""Query Ollama, llama.cpp and vLLM for a model's availability, window, tokenizer and thinking capability."""

import asyncio
import json
import math
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from ramify.tools.errors import ModelError
from ramify.tools.models.structured_call import DEFAULT_MODE, THINK_LITTLE, THINKING_OFF, ThinkingMode
from ramify.tools.scrub import mask_address, mask_logs
from ramify.tools.server_address import OLLAMA_START, is_loopback

MAX_ANSWER_BYTES = 2**24
"""Longer answers are discarded."""
INFO_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class Response:
    """A server's answer; `body` is None if it was not JSON."""

    status: int
    body: Any


@dataclass
class RequestLimit:
    """The time for requests for information within a budget: each may take a share of what is left, since the replies need the rest."""

    deadline: float
    """Seconds since the epoch."""
    waited: float = 0.0
    """Seconds that all requests have taken."""
    cut_short: int = 0
    """Requests without an answer that would have had more time otherwise."""


REQUEST_LIMIT: ContextVar[RequestLimit | None] = ContextVar("ramify_request_limit", default=None)
MAX_SHARE_OF_TIME = 0.25


@contextmanager
def limited_requests(deadline: float) -> Iterator[RequestLimit]:
    """Limit the requests for information in this context to a deadline, in seconds since the epoch."""
    limit = RequestLimit(deadline)
    before = REQUEST_LIMIT.set(limit)
    try:
        yield limit
    finally:
        REQUEST_LIMIT.reset(before)


def request_json(url: str, timeout: float, payload: object = None, headers: Mapping[str, str] | None = None) -> Response | None:
    """Return the answer of a URL, by POST if there is a payload; None without a complete answer in time. Blocking.

    The time is `timeout`, or less if the budget of the question has little left.
    """
    limit = REQUEST_LIMIT.get()
    seconds = timeout if limit is None else min(timeout, max(0.0, limit.deadline - time.time()) * MAX_SHARE_OF_TIME)
    request = partial(_request_json, url, seconds, payload, dict(headers or {}))
    began = time.monotonic()
    # In its own event loop, where a slow answer can be cancelled; in a thread, since the caller's may have a loop.
    with ThreadPoolExecutor(1) as pool:
        response = pool.submit(lambda: asyncio.run(request())).result() if seconds else None
    if limit is not None:
        limit.waited += time.monotonic() - began
        limit.cut_short += response is None and seconds < timeout
    return response


async def _request_json(url: str, seconds: float, payload: object, headers: dict[str, str]) -> Response | None:
    import httpx

    # Reading certificates takes longer than the request.
    client = httpx.AsyncClient(headers=headers, timeout=seconds, trust_env=not is_loopback(url), verify=url.startswith("https:"))
    mask_logs()
    method, read = ("GET" if payload is None else "POST"), bytearray()
    try:
        async with asyncio.timeout(seconds), client, client.stream(method, url, json=payload) as reply:
            async for part in reply.aiter_bytes():
                read += part
                if len(read) > MAX_ANSWER_BYTES:
                    return None
            status = reply.status_code
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError):
        return None
    try:
        return Response(status, json.loads(read))
    except (ValueError, RecursionError):
        return Response(status, None)


class Tokenizer:
    """The `/tokenize` endpoint at a server's root."""

    def __init__(self, address: str, model: str, key: SecretStr | None) -> None:
        self._url = _root(address) + "/tokenize"
        self._model = model
        self._headers = _headers(key)
        self._silent_until = 0.0
        """Seconds since the epoch until which no request is made: after one timed out, the others of a prompt would, too."""

    def count(self, text: str) -> int | None:
        """Return a text's number of tokens; None if the server does not provide it."""
        # llama.cpp reads `content`, vLLM the others; each ignores the other's names.
        payload = {"content": text, "model": self._model, "prompt": text, "add_special_tokens": False}
        limit = REQUEST_LIMIT.get()
        cut_short = limit.cut_short if limit else 0
        response = None if time.time() < self._silent_until else request_json(self._url, INFO_TIMEOUT_S, payload, self._headers)
        if response is None and self._silent_until < time.time():
            self._silent_until = limit.deadline if limit and limit.cut_short > cut_short else math.inf
        tokens = response.body.get("tokens") if response and 200 <= response.status < 300 and isinstance(response.body, dict) else None
        return len(tokens) if isinstance(tokens, list) else None


def find_tokenizer(chat: BaseChatModel) -> Tokenizer | None:
    """Return the tokenizer of an OpenAI-compatible server; None if the model has no such server or endpoint."""
    address, key = getattr(chat, "openai_api_base", None), getattr(chat, "openai_api_key", None)
    if not isinstance(address, str):
        return None
    tokenizer = Tokenizer(address, getattr(chat, "model_name", ""), key if isinstance(key, SecretStr) else None)
    return tokenizer if tokenizer.count("ready") is not None else None


def find_entry(address: str, model: str, key: SecretStr | None) -> dict[str, Any] | None:
    """Return the server's entry for a model; empty if the list has none, None if there is no list."""
    response = request_json(f"{address.rstrip('/')}/models", INFO_TIMEOUT_S, headers=_headers(key))
    known = _entries(response)
    if known is None:
        return None
    return next((entry for entry in known if entry.get("id") == model), known[0] if len(known) == 1 else {})


def get_window(entry: dict[str, Any], address: str, key: SecretStr | None) -> int | None:
    """Return the window of a model's server in tokens, from the entry (vLLM) or its properties (llama.cpp)."""
    if length := _length(entry.get("max_model_len")):
        return length
    meta = entry.get("meta")
    if not isinstance(meta, dict):
        return None
    response = request_json(_root(address) + "/props", INFO_TIMEOUT_S, headers=_headers(key))
    props = response.body.get("default_generation_settings") if response and isinstance(response.body, dict) else None
    shared = _length(props.get("n_ctx")) if isinstance(props, dict) else None  # divided among parallel calls
    return shared or _length(meta.get("n_ctx")) or _length(meta.get("n_ctx_train"))


def parameters_of(entry: dict[str, Any]) -> int | None:
    """Return the number of weights of a listed model, which llama.cpp's server tells; None if it is not told."""
    meta = entry.get("meta")
    return _length(meta.get("n_params")) if isinstance(meta, dict) else None


def _entries(response: Response | None) -> list[dict[str, Any]] | None:
    """Return the listed models; None if the response is not a list."""
    entries = response.body.get("data") if response and isinstance(response.body, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else None


def _root(address: str) -> str:
    return address.rstrip("/").removesuffix("/v1")


def _headers(key: SecretStr | None) -> dict[str, str]:
    return {"Connection": "close", **({"Authorization": f"Bearer {key.get_secret_value()}"} if key else {})}


def _length(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None


OLLAMA_PULL = "run `ollama pull {}`"
"""The remedy if Ollama does not have the model."""
OLLAMA_KEY = "OLLAMA_API_KEY"
THINKING_CAPABILITY = "thinking"
THINKING_LEVEL_FAMILIES = ("gptoss", "gpt-oss")
"""Model families whose thinking has levels and cannot be turned off."""
OLLAMA_TIMEOUT_S = 3.0


@dataclass(frozen=True)
class OllamaModel:
    """What Ollama reports of a model."""

    context: int | None
    """The context length of the model in tokens."""
    mode: ThinkingMode
    """The initial thinking mode."""
    parameters: int | None
    """The number of its weights."""


def ollama_model(name: str, address: str) -> OllamaModel:
    """Return what Ollama reports of a model; ModelError if Ollama is not running or does not have it."""
    where = mask_address(address)
    response = request_json(f"{address}/api/show", OLLAMA_TIMEOUT_S, {"model": name}, _ollama_headers())
    if response is None:
        raise ModelError(f"no Ollama server answers at {where}", OLLAMA_START)
    if response.status == 404:
        raise ModelError(f"Ollama at {where} does not have {name!r}", OLLAMA_PULL.format(name))
    if response.status in (401, 403):
        raise ModelError(f"Ollama at {where} refuses access", f"set {OLLAMA_KEY} to a valid key")
    if not 200 <= response.status < 300 or not isinstance(response.body, dict):
        raise ModelError(f"{where} does not answer as Ollama does (status {response.status})", "check base_url or OLLAMA_HOST")
    described = response.body.get("model_info")
    values = described.items() if isinstance(described, dict) else ()  # the name contains the architecture: `llama.context_length`
    context = next((value for name, value in values if name.endswith(".context_length") and type(value) is int and value > 0), None)
    return OllamaModel(context, _first_mode(response.body), _length(dict(values).get("general.parameter_count")))


def _ollama_headers() -> dict[str, str]:
    key = os.environ.get(OLLAMA_KEY)
    return {"Authorization": f"Bearer {key}"} if key else {}


def ollama_names(address: str) -> frozenset[str]:
    """Return the names of the models that an Ollama server has, none if it does not list them; ModelError if no server answers."""
    response = request_json(f"{address}/api/tags", OLLAMA_TIMEOUT_S, headers=_ollama_headers())
    if response is None:
        raise ModelError(f"no Ollama server answers at {mask_address(address)}", OLLAMA_START)
    listed = response.body.get("models") if isinstance(response.body, dict) else None
    return (
        frozenset(str(model["name"]) for model in listed if isinstance(model, dict) and "name" in model)
        if isinstance(listed, list)
        else frozenset()
    )


def ollama_parallel(address: str) -> int | None:
    """Return OLLAMA_NUM_PARALLEL for a local Ollama server; None if it is not set."""
    number = os.environ.get("OLLAMA_NUM_PARALLEL", "").strip() if is_loopback(address) else ""
    return int(number) or None if number.isdecimal() else None  # 0 leaves it to the server


def _first_mode(info: dict[str, Any]) -> ThinkingMode:
    """Return the mode that turns thinking off, or to the lowest level."""
    capabilities, details = info.get("capabilities"), info.get("details")
    if not isinstance(capabilities, list) or THINKING_CAPABILITY not in capabilities:
        return DEFAULT_MODE
    return THINK_LITTLE if isinstance(details, dict) and details.get("family") in THINKING_LEVEL_FAMILIES else THINKING_OFF
