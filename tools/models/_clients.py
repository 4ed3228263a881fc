"""Create LangChain's chat models for Ollama, OpenAI-compatible servers and other providers, and adapt those of the caller."""

import os
import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from ramify.tools.errors import ModelError, UsageError
from ramify.tools.models._model import Model, ModelOptions
from ramify.tools.models.concurrency import DEFAULT_CONCURRENCY, get_cap
from ramify.tools.models.server_info import ollama_parallel
from ramify.tools.models.servers import Server
from ramify.tools.models.tokens import TokenCounter, create_counter
from ramify.tools.scrub import mask_address, mask_logs, register_address, register_named_secrets, register_secrets
from ramify.tools.server_address import is_loopback, is_server_address, ollama_host

if TYPE_CHECKING:
    from langchain_ollama import ChatOllama

MODEL_NAME_FORMS = (
    "name it as ollama:NAME, gguf:PATH, openai:NAME (with base_url for vLLM or llama.cpp), another provider:model of "
    "LangChain, extractive, extractive:large or auto"
)
KEY_VARIABLES = {
    "google_genai": "GOOGLE_API_KEY",
    "mistralai": "MISTRAL_API_KEY",
    "huggingface": "HUGGINGFACEHUB_API_TOKEN",
    "perplexity": "PPLX_API_KEY",
}
"""Environment variables of providers whose name differs from PROVIDER_API_KEY."""
NO_SAMPLING = re.compile(r"(o\d|gpt-5)(\b|-)")
"""OpenAI's reasoning models refuse a temperature and log probabilities."""
PLACEHOLDER_KEY = "none"
"""The key for a local server without authentication; the client requires one."""
OLLAMA_DEFAULT_WINDOW = 4096
"""Ollama's default window."""
REQUEST_FIELDS = ("default_headers", "default_query", "client_kwargs", "async_client_kwargs", "sync_client_kwargs")
"""Attributes of clients with the headers and parameters of each request."""
CLIENT_PACKAGES = re.compile(r"langchain_(?!core\b)")
"""Packages whose models call a server."""


def key_variable(provider: str) -> str:
    """Return the environment variable of a provider's key."""
    return KEY_VARIABLES.get(provider, f"{provider.upper()}_API_KEY")


def provider_client(provider: str, name: str, options: ModelOptions, key: str | None = None) -> BaseChatModel:
    """Create a chat model; `key` replaces the one of the environment.

    UsageError for an unknown provider, ModelError for a missing package or key.
    """
    arguments = _arguments(provider, name, options, key)
    try:
        chat = _create_chat(provider, name, arguments)
    except ImportError as error:
        raise ModelError(f"{provider}:{name} needs a package that is not installed", _install_remedy(provider, error)) from error
    except ValueError as error:
        if "Unsupported" in str(error):
            hint = f"did you mean ollama:{provider}:{name}? Otherwise {MODEL_NAME_FORMS}"  # names of Ollama's models contain a colon
            raise UsageError(f"there is no model provider {provider!r}", hint) from None
        # The client's message may quote a key.
        what = f"{provider}:{name} cannot be set up ({type(error).__name__})"
        raise ModelError(what, f"set {key_variable(provider)}, and check base_url") from None
    fields = type(chat).model_fields
    wanted: dict[str, Any] = {} if provider == "openai" and NO_SAMPLING.match(name) else {"logprobs": True}
    wanted |= {"seed": options.seed, "disable_streaming": True}
    mask_logs()
    return chat.model_copy(update={field: value for field, value in wanted.items() if field in fields})


def _create_chat(provider: str, name: str, arguments: dict[str, Any]) -> BaseChatModel:
    if provider == "openai":
        from ramify.tools.models._openai import ThinkingChatOpenAI

        return ThinkingChatOpenAI(model=name, **arguments)
    from langchain.chat_models import init_chat_model

    chat: BaseChatModel = init_chat_model(name, model_provider=provider, **arguments)
    return chat


def ollama_client(name: str, address: str, options: ModelOptions) -> "ChatOllama":
    """Create Ollama's chat model; each connection is closed after its call, so that none outlives its event loop."""
    from httpx import Timeout
    from langchain_ollama import ChatOllama

    made = ChatOllama(
        model=name,
        base_url=address,
        temperature=options.temperature,
        seed=options.seed,
        num_ctx=options.num_ctx,
        num_predict=options.num_predict,
        keep_alive=options.keep_alive,
        logprobs=True,
        disable_streaming=True,
        # The timeout of a reply is that of `Limiter.track`. A prompt for this machine never goes through a proxy.
        client_kwargs={
            "timeout": Timeout(None, connect=options.timeout),
            "trust_env": not is_loopback(address),
            "headers": {"Connection": "close"},
            "follow_redirects": False,
        },
        async_client_kwargs={"event_hooks": {"response": [repair_response]}},
    )
    mask_logs()
    return made


def check_base_url(base_url: str) -> None:
    """Raise UsageError unless `base_url` is an address."""
    if not is_server_address(base_url):
        what = f"base_url {mask_address(base_url)!r} is not an address"
        raise UsageError(what, "write it as http://127.0.0.1:8000/v1, and a / in a password as %2F")


def _arguments(provider: str, name: str, options: ModelOptions, key: str | None) -> dict[str, Any]:
    """Return the arguments that LangChain's chat models share; calls are retried by this package."""
    arguments: dict[str, Any] = {"max_tokens": options.num_predict, "timeout": options.timeout, "max_retries": 0}
    if not (provider == "openai" and NO_SAMPLING.match(name)):
        arguments["temperature"] = options.temperature
    if options.base_url:
        check_base_url(options.base_url)
        arguments["base_url"] = options.base_url
    if provider == "openai":
        arguments |= _openai_arguments(options, key)
    return arguments


def _openai_arguments(options: ModelOptions, key: str | None) -> dict[str, Any]:
    """Return the arguments for a separate OpenAI client, since LangChain's is shared between event loops, which connections must not be."""
    arguments: dict[str, Any] = {"default_headers": {"Connection": "close"}, "stream_chunk_timeout": None}
    loopback = bool(options.base_url) and is_loopback(options.base_url or "")
    if key or (loopback and not os.environ.get("OPENAI_API_KEY")):
        arguments["api_key"] = key or PLACEHOLDER_KEY
    elif not os.environ.get("OPENAI_API_KEY"):
        raise ModelError("an OpenAI model needs a key", "set OPENAI_API_KEY, or base_url to a server on this machine")
    try:
        from openai import DefaultAsyncHttpxClient, Timeout
    except ImportError as error:
        raise ModelError("an OpenAI-compatible model needs a package that is not installed", _install_remedy("openai", error)) from error
    # The timeout of a reply is that of `Limiter.track`.
    arguments["timeout"] = timeout = Timeout(None, connect=options.timeout)
    arguments["http_async_client"] = DefaultAsyncHttpxClient(
        timeout=timeout, trust_env=not loopback, event_hooks={"response": [repair_response]}, follow_redirects=False
    )
    return arguments


def without_retries(chat: BaseChatModel) -> BaseChatModel:
    """Return the model without its client's own retries, since each request must be counted."""
    changed: dict[str, Any] = {"max_retries": 0} if "max_retries" in type(chat).model_fields else {}
    if (client := getattr(chat, "root_async_client", None)) is not None:  # OpenAI's, created with the model
        changed["root_async_client"] = client = client.with_options(max_retries=0)
        changed["async_client"] = client.chat.completions
    return chat.model_copy(update=changed) if changed else chat


def _install_remedy(provider: str, error: ImportError) -> str:
    if provider == "openai":
        return "run `pip install 'ramify-rag[openai]'`"
    package = re.search(r"pip install ([\w-]+)", str(error))
    return f"run `pip install {package[1] if package else f'langchain-{provider}'}`"


def from_chat_model(chat: BaseChatModel, options: ModelOptions) -> Model:
    """Wrap a caller's chat model; its window and all settings except retries are preserved."""
    kind, named = type(chat).__name__, getattr(chat, "model", None) or getattr(chat, "model_name", None)
    url = getattr(chat, "base_url", None) or getattr(chat, "openai_api_base", None)
    register_secrets(*(value.get_secret_value() for value in vars(chat).values() if isinstance(value, SecretStr)))
    register_named_secrets({name: value for name, value in vars(chat).items() if name in REQUEST_FIELDS})
    mask_logs()
    if isinstance(url, str):
        register_address(url)
    url = mask_address(url) if isinstance(url, str) else None
    name = f"{kind}/{named}" if isinstance(named, str) else kind
    key = (kind, named if isinstance(named, str) else id(chat), url)
    parallel = ollama_parallel(ollama_host(url)) if kind == "ChatOllama" else None
    cap = get_cap(key, options.max_concurrency or parallel or DEFAULT_CONCURRENCY, lasting=isinstance(named, str))
    cap.limiter.record.answered = True  # the caller has chosen the server
    remote = url is not None or any(CLIENT_PACKAGES.match(kind.__module__) for kind in type(chat).__mro__)
    window = getattr(chat, "num_ctx", None) or (min(options.num_ctx, OLLAMA_DEFAULT_WINDOW) if kind == "ChatOllama" else options.num_ctx)
    server = Server(name, options.timeout, url, remote=remote, record=cap.limiter.record)
    return Model(name, without_retries(chat), token_counter(chat, server), cap, window, server)


def token_counter(chat: BaseChatModel, server: Server) -> TokenCounter:
    """Return the token counter of a model; Ollama has no tokenizer endpoint, so its counter learns from reported tokens."""
    return create_counter(chat, server.record.counting(server.label) if type(chat).__name__ == "ChatOllama" else None)


_PAIR = rb"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPES = re.compile(rb"\\(?:" + _PAIR + rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)?", re.DOTALL)
"""The escapes of a JSON text, a surrogate pair as one; the group is half a character."""
_COUNT = re.compile(
    rb'(?<!\\)"((?:prompt_)?eval_count|[a-z_]+_tokens)"\s*:\s*(?!(?:null|-?\d{1,18})\s*[,}])'
    rb'(?:-?[\d.]+(?:[eE][-+]?\d+)?|NaN|-?Infinity|true|false|"[^"\\]*"|\[[^][]*\]|\{[^{}]*\})'
)
"""A token count that is not an integer."""


class RepairedStream:
    """A stream of JSON lines or events in which lone surrogates and invalid token counts are replaced."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield whole lines."""
        unfinished: list[bytes] = []
        async for part in self._stream:
            lines, ended, rest = part.rpartition(b"\n")
            if ended:
                yield self._repair(b"".join((*unfinished, lines, ended)))
                unfinished = []
            unfinished.append(rest)
        yield self._repair(b"".join(unfinished))

    async def aclose(self) -> None:
        """Close the original stream."""
        await self._stream.aclose()

    def _repair(self, data: bytes) -> bytes:
        return _COUNT.sub(rb'"\1":null', _ESCAPES.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], data))


async def repair_response(response: Any) -> None:
    """Replace a response's stream by a repaired one, unless it is compressed; a client would reject the whole for one invalid value.

    The response is of httpx or a compatible library; the repaired stream must be a subclass of its stream class.
    """
    if "content-encoding" not in response.headers and hasattr(response.stream, "__aiter__"):
        response.stream = type(RepairedStream.__name__, (RepairedStream, type(response.stream)), {})(response.stream)
