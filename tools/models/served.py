"""The tokenizer of a llama.cpp or vLLM server, asked over the address that the user named for it."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from ramify.tools.models.inquiry import inquire

PATIENCE = 5.0
"""Seconds to wait for a count."""


class Tokenizer:
    """Ask `/tokenize` at a server's root."""

    def __init__(self, address: str, model: str, key: SecretStr | None) -> None:
        self._url = address.rstrip("/").removesuffix("/v1") + "/tokenize"
        self._model = model
        self._headers = {"Connection": "close", **({"Authorization": f"Bearer {key.get_secret_value()}"} if key else {})}
        self._silent = False
        """Whether a count was waited for in vain: a prompt takes many, and the next would be, too."""

    def count(self, text: str) -> int | None:
        """Count a text's tokens; None where the server does not tell."""
        # llama.cpp reads `content`, vLLM `model` and `prompt`; each passes over the other's names.
        asked = {"content": text, "model": self._model, "prompt": text}
        told = None if self._silent else inquire(self._url, PATIENCE, asked, self._headers)
        self._silent = told is None
        return _number(told.body) if told and 200 <= told.status < 300 else None


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
