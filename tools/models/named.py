"""Resolve a model's name to a model that is ready for calls."""

import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from ramify.tools.errors import ModelError, UsageError
from ramify.tools.models import _clients as clients
from ramify.tools.models import gguf
from ramify.tools.models._model import Model, ModelOptions, PerLoop
from ramify.tools.models.concurrency import DEFAULT_CONCURRENCY, get_cap
from ramify.tools.models.server_info import (
    OLLAMA_KEY,
    OLLAMA_PULL,
    REQUEST_LIMIT,
    find_entry,
    get_window,
    ollama_model,
    ollama_names,
    ollama_parallel,
    parameters_of,
)
from ramify.tools.models.servers import Server
from ramify.tools.models.structured_call import DEFAULT_MODE
from ramify.tools.released import DOWNLOADS
from ramify.tools.scrub import mask_address, register_address
from ramify.tools.server_address import OLLAMA_START, ollama_host

T = TypeVar("T")

RECOMMENDED = ("qwen3.5:9b", "gemma4:e4b", "llama3.1:8b", "qwen3:8b", "qwen3.5:4b", "llama3.2:3b", "gemma4:e2b", "qwen3.5:2b")
"""Models of Ollama's library that "auto" takes, the first of them that is there; docs/models.md says what is known of each."""
PREFERRED_MODEL = "llama3.1:8b"
"""The one that "auto" asks for where none of them is there."""
FALLBACK_NOTICE = "using the extractive model, which quotes instead of reasoning"
"""Part of the notice if `auto` finds no language model."""


class LookupCache(Generic[T]):
    """A cache of the latest results; concurrent callers of one key share one look-up, and failures are not cached."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._results: OrderedDict[Hashable, Future[T]] = OrderedDict()
        self._expiry: dict[Hashable, float] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, look_up: Callable[[], T]) -> T:
        """Return the cached result, or look it up; blocking."""
        with self._lock:
            if self._expiry.get(key, math.inf) < time.time():
                self._remove(key)
            result = self._results.get(key)
            if first := result is None:
                result = self._results[key] = Future()
                while len(self._results) > self._size:
                    self._remove(next(iter(self._results)))
        assert result is not None
        if first:
            try:
                result.set_result(look_up())
            except BaseException as error:
                with self._lock:
                    if self._results.get(key) is result:
                        self._remove(key)
                result.set_exception(error)
                raise
        return result.result()

    def expire(self, key: Hashable, at: float) -> None:
        """Remove a result at a time, in seconds since the epoch."""
        with self._lock:
            self._expiry[key] = at

    def clear(self) -> None:
        """Remove all results."""
        with self._lock:
            self._results.clear()
            self._expiry.clear()

    def _remove(self, key: Hashable) -> None:
        self._results.pop(key, None)
        self._expiry.pop(key, None)


_CACHE: LookupCache[Model] = LookupCache(64)
_BEST: LookupCache[str] = LookupCache(64)
"""The model for "auto" by the server's address."""


def resolve_model(model: str | BaseChatModel, options: ModelOptions) -> Model:
    """Return a model that is ready for calls; blocking. Names are cached with their options (see `clear_cache`), objects are wrapped.

    UsageError for an invalid name, ModelError for a model that is not available.
    """
    if options.base_url:
        register_address(options.base_url)
    if isinstance(model, BaseChatModel):
        gguf.check_adapter(options.adapter, type(model).__name__)
        return clients.from_chat_model(model, options)
    name = model.strip()
    gguf.check_adapter(options.adapter, name)
    key = (name, options, os.environ.get("OLLAMA_HOST"))
    return _CACHE.get(key, partial(_look_up, name, options, key))


def clear_cache() -> None:
    """Clear the cache of resolved models, so that newly started servers are found; call it between questions."""
    _CACHE.clear()
    _BEST.clear()


def _look_up(model: str, options: ModelOptions, key: Hashable) -> Model:
    """Return the model of a name; its `key` expires if its server had too little time to describe it."""
    provider, _, name = model.partition(":")
    if not name:
        hint = f"for a model of Ollama's write ollama:{model}; " if model and ":" not in model else ""
        hint = f"did you mean gguf:{model}? " if model in DOWNLOADS else hint
        raise UsageError(f"{model!r} does not name a model", hint + clients.MODEL_NAME_FORMS)
    limit = REQUEST_LIMIT.get()
    cut_short = limit.cut_short if limit else 0
    find = {"gguf": _from_gguf, "ollama": _from_ollama}.get(provider, partial(_from_provider, provider))
    resolved = find(name, options)
    if limit and limit.cut_short > cut_short:  # little is known of the server: ask it again for the next question
        _CACHE.expire(key, limit.deadline)
    return resolved


def _best_of_ollama(address: str) -> str:
    """Return the first recommended model that a server has; LookupError if it has none, ModelError if it does not answer."""
    have = ollama_names(address)
    for name in RECOMMENDED:
        if name in have:
            return name
    raise LookupError(address)


def find_best(options: ModelOptions) -> Model | str:
    """Return the model for "auto": one of Ollama's if any is available, else the reason why the embedded model is used; blocking.

    A failure is never cached, since Ollama may be started at any time.
    """

    address = ollama_host(options.base_url)
    try:
        try:
            name = _BEST.get(address, partial(_best_of_ollama, address))
        except LookupError:
            name = PREFERRED_MODEL
        return resolve_model(f"ollama:{name}", options)
    except ModelError as error:
        if options.base_url:  # with a server given, the embedded model is not what the user wants
            named = f"`--model openai:NAME --base-url {mask_address(options.base_url)}`"
            remedy = f"{error.remedy}; or name the model with its server: `--model ollama:NAME`, or for another kind of server {named}"
            raise ModelError(error.what, remedy) from error
        return f"{error.what}: {FALLBACK_NOTICE} — for a language model, {error.remedy}"


def _from_ollama(name: str, options: ModelOptions) -> Model:
    address = ollama_host(options.base_url)
    info = ollama_model(name, address)
    # The server lowers a window larger than the model's, and then truncates prompts silently.
    fitting = replace(options, num_ctx=min(options.num_ctx, info.context or options.num_ctx))
    url = mask_address(address)
    server = Server(f"ollama:{name}", options.timeout, url, start=OLLAMA_START, pull=OLLAMA_PULL.format(name), key=OLLAMA_KEY)
    limit = options.max_concurrency or ollama_parallel(address) or DEFAULT_CONCURRENCY
    model = _connect(lambda: clients.ollama_client(name, address, fitting), server, fitting, limit)
    model.server.record.answered = True
    model.server.record.move(DEFAULT_MODE, info.mode)
    return replace(model, parameters=info.parameters)


def _from_gguf(name: str, options: ModelOptions) -> Model:
    engine = gguf.get_engine(name, options)
    inside = replace(options, base_url=engine.address, num_ctx=engine.form.window)
    start = "ask again: llama.cpp has ended in this process"
    adapted = engine.form.adapter.suffix if engine.form.adapter else ""
    server = Server(f"gguf:{name}{adapted}", options.timeout, start=start, reports_progress=True)

    def make() -> BaseChatModel:  # keeps a reference to the engine
        chat = clients.provider_client("openai", gguf.ALIAS, inside, engine.key)
        return chat.model_copy(update={"extra_body": dict(gguf.REPORT_PROGRESS)})

    model = _connect(make, server, inside, engine.form.slots)
    model.server.record.answered = True
    return replace(model, load=engine.take_loading_time, notices=engine.notices, measures=True, parameters=engine.parameters)


def _from_provider(provider: str, name: str, options: ModelOptions) -> Model:
    address = options.base_url if provider == "openai" else None
    key = _openai_key()
    entry = find_entry(address, name, key) if address else None
    if address and entry and (window := get_window(entry, address, key)):
        options = replace(options, num_ctx=min(options.num_ctx, window))
    url = mask_address(options.base_url) if options.base_url else None
    server = Server(f"{provider}:{name}", options.timeout, url, key=clients.key_variable(provider))
    limit = options.max_concurrency or DEFAULT_CONCURRENCY
    model = _connect(lambda: clients.provider_client(provider, name, options), server, options, limit)
    model.server.record.answered |= entry is not None
    return replace(model, parameters=parameters_of(entry) if entry else None)


def _openai_key() -> SecretStr | None:
    key = os.environ.get("OPENAI_API_KEY")
    return SecretStr(key) if key else None


def _connect(make: Callable[[], BaseChatModel], server: Server, options: ModelOptions, limit: int) -> Model:
    began = time.perf_counter()
    first = make()
    client_s = time.perf_counter() - began
    if (requests := REQUEST_LIMIT.get()) is not None:  # loading a client is no part of the budget
        requests.deadline += client_s
    cap = get_cap((*server.name.split(":", 1), server.url), limit, lasting=True)
    server = replace(server, remote=True, record=cap.limiter.record)
    count, chats = clients.token_counter(first, server), PerLoop(make, first)
    return Model(server.name, first, count, cap, options.num_ctx, server, client_s=client_s, chats=chats, num_predict=options.num_predict)
