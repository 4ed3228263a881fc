"""A chat model that is handed over as an object, used as it is."""

import re

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from ramify.tools.models import ollama
from ramify.tools.models.concurrency import AT_ONCE, cap_for, lasting_cap
from ramify.tools.models.model import Model, ModelOptions
from ramify.tools.models.tokens import counter
from ramify.tools.models.transport import Server
from ramify.tools.scrub import learn, learn_address
from ramify.tools.server_address import ollama_host, without_credentials

OLLAMA_WINDOW = 4096
"""The window that Ollama gives a model when nobody asks for another."""
CLIENTS = re.compile(r"langchain_(?!core\b)")
"""The packages whose models speak to a server."""


def given(chat: BaseChatModel, options: ModelOptions) -> Model:
    """Use an object as it is; its own window counts, where it has one."""
    kind, named = type(chat).__name__, getattr(chat, "model", None) or getattr(chat, "model_name", None)
    url = getattr(chat, "base_url", None) or getattr(chat, "openai_api_base", None)
    learn(*(held.get_secret_value() for held in vars(chat).values() if isinstance(held, SecretStr)))
    if isinstance(url, str):
        learn_address(url)
    url = without_credentials(url) if isinstance(url, str) else None
    name = f"{kind}/{named}" if isinstance(named, str) else kind
    key = (kind, named if isinstance(named, str) else id(chat), url)
    limit = options.max_concurrency or (ollama.parallel(ollama_host(url)) if kind == "ChatOllama" else AT_ONCE)
    cap = lasting_cap(key, limit) if isinstance(named, str) else cap_for(key, limit)
    cap.gate.record.answered = True  # whoever made the client knows what it speaks to
    remote = url is not None or any(CLIENTS.match(kind.__module__) for kind in type(chat).__mro__)
    window = getattr(chat, "num_ctx", None) or (min(options.num_ctx, OLLAMA_WINDOW) if kind == "ChatOllama" else options.num_ctx)
    return Model(name, chat, counter(chat), cap, window, Server(name, options.timeout, url, remote=remote, record=cap.gate.record))
