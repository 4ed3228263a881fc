"""From a model's name to a model that can be asked."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from ramify.tools.errors import ModelError, UsageError
from ramify.tools.models import gguf, langchain_models, ollama
from ramify.tools.models.caches import Lookup, PerLoop
from ramify.tools.models.concurrency import AT_ONCE, lasting_cap
from ramify.tools.models.langchain_models import given
from ramify.tools.models.model import Model, ModelOptions
from ramify.tools.models.reply_parsing import Structured
from ramify.tools.models.server_errors import Server
from ramify.tools.models.server_pool import pooled
from ramify.tools.models.server_questions import listed, require, window
from ramify.tools.models.shipped import SHIPPED
from ramify.tools.models.structured_call import PLAIN
from ramify.tools.scrub import learn_address
from ramify.tools.server_address import OLLAMA_START, addresses, ollama_host, without_credentials

__all__ = ["Model", "ModelOptions", "Structured", "find_best", "forget", "resolve"]

BEST = "llama3.1:8b"
"""The model that `auto` hopes for."""

_FOUND: Lookup[Model] = Lookup(64)


def resolve(model: str | BaseChatModel, options: ModelOptions) -> Model:
    """Make a model ready; blocking. A name and its options are looked up once (see `forget`), an object is used as it is.

    UsageError for a name that means nothing, ModelError for a model that is not there.
    """
    _learn_addresses(options)
    if isinstance(model, BaseChatModel):
        return given(model, options)
    return _looked_up(model.strip(), options)


def _learn_addresses(options: ModelOptions) -> None:
    if options.base_url:
        for address in (options.base_url, *addresses(options.base_url)):
            learn_address(address)


def forget() -> None:
    """Look every model up afresh, so that a server started meanwhile is found; call it between questions."""
    _FOUND.clear()


def _looked_up(model: str, options: ModelOptions) -> Model:
    return _FOUND.get((model, options, os.environ.get("OLLAMA_HOST")), lambda: _named(model, options))


def _named(model: str, options: ModelOptions) -> Model:
    provider, _, name = model.partition(":")
    if not name:
        meant = f"for a model of Ollama's write ollama:{model}; " if model and ":" not in model else ""
        meant = f"did you mean gguf:{model}? " if model in SHIPPED else meant
        raise UsageError(f"{model!r} does not name a model", meant + langchain_models.FORMS)
    if provider == "gguf":
        return _from_gguf(name, options)
    if len(several := addresses(options.base_url)) > 1:
        return _at_each(provider, name, options, several)
    return _from_ollama(name, options) if provider == "ollama" else _from_provider(provider, name, options)


def _at_each(provider: str, name: str, options: ModelOptions, several: Sequence[str]) -> Model:
    """Find a model at several servers."""

    def at(address: str) -> Model:
        alone = replace(options, base_url=address)
        if provider == "ollama":
            return _from_ollama(name, alone)
        if provider == "openai":
            require(address, name, _secret())
        return _from_provider(provider, name, alone)

    if provider != "ollama":
        for address in several:
            langchain_models.check_address(address)
    hosts = [ollama_host(address) for address in several] if provider == "ollama" else several
    looks = {without_credentials(host): partial(at, address) for host, address in zip(hosts, several, strict=True)}
    return pooled(f"{provider}:{name}", looks)


def find_best(options: ModelOptions) -> Model | str:
    """Return the model that "auto" means: Ollama's where it answers, else the reason why the embedded one is used; blocking.

    That Ollama does not answer is never remembered, since it may be started at any time.
    """
    _learn_addresses(options)
    try:
        return _looked_up(f"ollama:{BEST}", options)
    except ModelError as error:
        if options.base_url:  # a server was meant: a model without one is not what was asked for
            named = f"`--model openai:NAME {' '.join(f'--base-url {without_credentials(one)}' for one in addresses(options.base_url))}`"
            remedy = f"{error.remedy}; or name the model with its server: `--model ollama:NAME`, or for another kind of server {named}"
            raise ModelError(error.what, remedy) from error
        return f"{error.what}: using the extractive model, which quotes instead of reasoning — for a language model, {error.remedy}"


def _from_ollama(name: str, options: ModelOptions) -> Model:
    address = ollama_host(options.base_url)
    shown = ollama.show(name, address)
    trained = shown.context or options.num_ctx
    # The server lowers a window that the model was not trained for, and then cuts prompts without a word.
    fitting = replace(options, num_ctx=min(options.num_ctx, trained))
    url = without_credentials(address)
    server = Server(f"ollama:{name}", options.timeout, url, start=OLLAMA_START, pull=ollama.PULL.format(name), key=ollama.KEY)
    model = _connected(lambda: ollama.client(name, address, fitting), server, fitting, options.max_concurrency or ollama.parallel(address))
    model.server.record.answered = True
    model.server.record.move(PLAIN, shown.way)
    return model


def _from_gguf(name: str, options: ModelOptions) -> Model:
    engine = gguf.engine(name, options)
    inside = replace(options, base_url=engine.address, num_ctx=engine.form.window)
    server = Server(f"gguf:{name}", options.timeout, start="ask again: llama.cpp has ended in this process")

    def make() -> BaseChatModel:  # holds the engine for as long as there is a model of it
        return langchain_models.client("openai", gguf.ALIAS, inside, engine.key)

    model = _connected(make, server, inside, engine.form.slots)
    model.server.record.answered = True
    return replace(model, load=engine.loading, notice=engine.notice)


def _from_provider(provider: str, name: str, options: ModelOptions) -> Model:
    address = options.base_url if provider == "openai" else None
    secret = _secret()
    entry = listed(address, name, secret) if address else None
    if address and entry and (told := window(entry, address, secret)):
        options = replace(options, num_ctx=min(options.num_ctx, told))
    url = without_credentials(options.base_url) if options.base_url else None
    server = Server(f"{provider}:{name}", options.timeout, url, key=langchain_models.key_variable(provider))
    model = _connected(lambda: langchain_models.client(provider, name, options), server, options, options.max_concurrency or AT_ONCE)
    model.server.record.answered |= entry is not None
    return model


def _secret() -> SecretStr | None:
    key = os.environ.get("OPENAI_API_KEY")
    return SecretStr(key) if key else None


def _connected(make: Callable[[], BaseChatModel], server: Server, options: ModelOptions, limit: int | None) -> Model:
    began = time.perf_counter()
    first = make()
    client_s = time.perf_counter() - began
    cap = lasting_cap((*server.name.split(":", 1), server.url), limit)
    server = replace(server, remote=True, record=cap.gate.record)
    count, chats = langchain_models.count_of(first, server), PerLoop(make, first)
    return Model(server.name, first, count, cap, options.num_ctx, server, client_s=client_s, chats=chats, num_predict=options.num_predict)
