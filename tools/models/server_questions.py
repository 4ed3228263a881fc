"""Questions to a server about itself, and what llama.cpp and vLLM answer of a model: its tokenizer, its window, whether it is there."""

import asyncio
import json
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from ramify.tools.errors import ModelError
from ramify.tools.models.client_logs import mask_logs
from ramify.tools.server_address import is_loopback, without_credentials

LONGEST = 2**24
"""Bytes of an answer that are read."""
PATIENCE = 5.0
"""Seconds that one answer may take."""
MOST = 8
"""Names of models that an error lists."""


@dataclass(frozen=True)
class Told:
    """What a server answered; `body` is None where that was no JSON."""

    status: int
    body: Any


def inquire(url: str, patience: float, asked: object = None, headers: Mapping[str, str] | None = None) -> Told | None:
    """Ask an address, by POST where there is something to say; None where no answer came whole in time. Blocking."""
    asking = partial(_inquire, url, patience, asked, dict(headers or {}))
    # An event loop of its own: only there can a trickling answer be cut off. A thread that has none is as good as another.
    if threading.current_thread() is not threading.main_thread() and not _has_loop():
        return asyncio.run(asking())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(asking())).result()


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _inquire(url: str, patience: float, asked: object, headers: dict[str, str]) -> Told | None:
    import httpx

    # Reading certificates takes longer than the question.
    client = httpx.AsyncClient(headers=headers, timeout=patience, trust_env=not is_loopback(url), verify=url.startswith("https:"))
    mask_logs()
    method, read = ("GET" if asked is None else "POST"), bytearray()
    try:
        async with asyncio.timeout(patience), client, client.stream(method, url, json=asked) as reply:
            async for part in reply.aiter_bytes():
                read += part
                if len(read) > LONGEST:
                    return None
            return Told(reply.status_code, _json(bytes(read)))
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError):
        return None


def _json(read: bytes) -> Any:
    try:
        return json.loads(read)
    except (ValueError, RecursionError):
        return None


class Tokenizer:
    """Ask `/tokenize` at a server's root."""

    def __init__(self, address: str, model: str, key: SecretStr | None) -> None:
        self._url = _root(address) + "/tokenize"
        self._model = model
        self._headers = _headers(key)
        self._silent = False
        """Whether a count was waited for in vain: a prompt takes many, and the next would be, too."""

    def count(self, text: str) -> int | None:
        """Count a text's tokens; None where the server does not tell."""
        # llama.cpp reads `content`, vLLM the others; each passes over the other's names.
        asked = {"content": text, "model": self._model, "prompt": text, "add_special_tokens": False}
        told = None if self._silent else inquire(self._url, PATIENCE, asked, self._headers)
        self._silent = told is None
        tokens = told.body.get("tokens") if told and 200 <= told.status < 300 and isinstance(told.body, dict) else None
        return len(tokens) if isinstance(tokens, list) else None


def tokenizer_of(chat: BaseChatModel) -> Tokenizer | None:
    """Find the tokenizer behind an OpenAI-compatible address; None where there is no such address or it offers none."""
    address, key = getattr(chat, "openai_api_base", None), getattr(chat, "openai_api_key", None)
    if not isinstance(address, str):
        return None
    tokenizer = Tokenizer(address, getattr(chat, "model_name", ""), key if isinstance(key, SecretStr) else None)
    return tokenizer if tokenizer.count("ready") is not None else None


def listed(address: str, model: str, key: SecretStr | None) -> dict[str, Any] | None:
    """Ask for the server's entry of a model; empty where its list has none, None where it gives no list."""
    told = inquire(f"{address.rstrip('/')}/models", PATIENCE, headers=_headers(key))
    known = _entries(told)
    if known is None:
        return None
    return next((entry for entry in known if entry.get("id") == model), known[0] if len(known) == 1 else {})


def require(address: str, model: str, key: SecretStr | None) -> None:
    """Make sure that a server is there and offers a model, as far as it tells; ModelError where not."""
    where = f"openai:{model} at {without_credentials(address)}"
    told = inquire(f"{address.rstrip('/')}/models", PATIENCE, headers=_headers(key))
    if told is None:
        raise ModelError(f"{where} cannot be reached", "check base_url and the network, and that the server runs")
    if told.status in (401, 403):
        raise ModelError(f"{where} refuses access", "set OPENAI_API_KEY to a valid key")
    if told.status >= 500:
        raise ModelError(f"{where} is not ready (status {told.status})", "wait until the server has started, or look into its log")
    entries = _entries(told)
    if entries is None or any(entry.get("id") == model for entry in entries):
        return
    if len(entries) == 1 and entries[0].get("owned_by") != "vllm":  # llama.cpp and the like take their one model by any name
        return
    offered = ", ".join(sorted(str(entry.get("id")) for entry in entries)[:MOST]) or "nothing"
    raise ModelError(f"{where} is not there: that server offers {offered}", "check the model's name, or start that server with the model")


def window(entry: dict[str, Any], address: str, key: SecretStr | None) -> int | None:
    """Find the tokens that a server reads and writes in one call: vLLM lists them, llama.cpp tells them of itself."""
    if length := _length(entry.get("max_model_len")):
        return length
    meta = entry.get("meta")
    if not isinstance(meta, dict):
        return None
    told = inquire(_root(address) + "/props", PATIENCE, headers=_headers(key))
    props = told.body.get("default_generation_settings") if told and isinstance(told.body, dict) else None
    shared = _length(props.get("n_ctx")) if isinstance(props, dict) else None  # among the calls that it serves at once
    return shared or _length(meta.get("n_ctx")) or _length(meta.get("n_ctx_train"))


def _entries(told: Told | None) -> list[dict[str, Any]] | None:
    """Read a list of models; None where it is none."""
    entries = told.body.get("data") if told and isinstance(told.body, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else None


def _root(address: str) -> str:
    return address.rstrip("/").removesuffix("/v1")


def _headers(key: SecretStr | None) -> dict[str, str]:
    return {"Connection": "close", **({"Authorization": f"Bearer {key.get_secret_value()}"} if key else {})}


def _length(told: Any) -> int | None:
    return told if type(told) is int and told > 0 else None
