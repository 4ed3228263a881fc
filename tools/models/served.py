"""The tokenizer of a llama.cpp or vLLM server, asked over the address that the user named for it."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from ramify.tools.models.address import is_loopback

if TYPE_CHECKING:
    import httpx

PATIENCE = 5.0
"""Seconds to wait for a count."""


class Tokenizer:
    """Ask `/tokenize` at a server's root."""

    def __init__(self, address: str, model: str, key: SecretStr | None) -> None:
        self._url = address.rstrip("/").removesuffix("/v1") + "/tokenize"
        self._model = model
        self._key = key

    def count(self, text: str) -> int | None:
        """Count a text's tokens; None where the server does not tell."""
        import httpx

        # llama.cpp reads `content`, vLLM `model` and `prompt`; each passes over the other's names.
        asked = {"content": text, "model": self._model, "prompt": text}
        try:
            told = self._client.post(self._url, json=asked)
        except (httpx.HTTPError, httpx.InvalidURL):
            return None
        return _number(told.json()) if told.is_success and "json" in told.headers.get("content-type", "") else None

    @cached_property
    def _client(self) -> "httpx.Client":
        """One client for all counts, since making one reads certificates; no connection outlives its count."""
        import httpx

        headers = {"Connection": "close"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key.get_secret_value()}"
        return httpx.Client(headers=headers, timeout=PATIENCE, trust_env=not is_loopback(self._url))


def tokenizer_of(chat: BaseChatModel) -> Tokenizer | None:
    """Find the tokenizer behind an OpenAI-compatible address; None where there is no such address or it offers none."""
    address, key = getattr(chat, "openai_api_base", None), getattr(chat, "openai_api_key", None)
    if not isinstance(address, str):
        return None
    tokenizer = Tokenizer(address, getattr(chat, "model_name", ""), key if isinstance(key, SecretStr) else None)
    return tokenizer if tokenizer.count("ready") is not None else None


def _number(told: Any) -> int | None:
    tokens = told.get("tokens") if isinstance(told, dict) else None
    return len(tokens) if isinstance(tokens, list) else None
