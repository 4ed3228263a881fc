"""Models that an Ollama server runs: whether it has one, what it tells of it, and the client for it."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ramify.tools.errors import ModelError
from ramify.tools.models.client_logs import mask_logs
from ramify.tools.models.server_questions import inquire
from ramify.tools.models.structured_call import LITTLE, OFF, PLAIN, Way
from ramify.tools.server_address import OLLAMA_START, is_loopback, without_credentials

if TYPE_CHECKING:
    from langchain_ollama import ChatOllama

    from ramify.tools.models.model import ModelOptions

PULL = "run `ollama pull {}`"
"""What to do when the server does not have the model."""
KEY = "OLLAMA_API_KEY"
THINKING = "thinking"
BY_LEVELS = ("gptoss", "gpt-oss")
"""Families that take how much to think, and think whatever they are told."""
PATIENCE = 3.0
"""Seconds that the server may take to say whether it has a model."""


@dataclass(frozen=True)
class Shown:
    """What the server tells of a model."""

    context: int | None
    """The longest context that the model was trained for."""
    way: Way
    """How it is asked first."""


def show(name: str, address: str) -> Shown:
    """Ask the server about a model; ModelError where it does not run or does not have it."""
    key = os.environ.get(KEY)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    where = without_credentials(address)
    told = inquire(f"{address}/api/show", PATIENCE, {"model": name}, headers)
    if told is None:
        raise ModelError(f"no Ollama server answers at {where}", OLLAMA_START)
    if told.status == 404:
        raise ModelError(f"Ollama at {where} does not have {name!r}", PULL.format(name))
    if told.status in (401, 403):
        raise ModelError(f"Ollama at {where} refuses access", f"set {KEY} to a valid key")
    if not 200 <= told.status < 300 or not isinstance(told.body, dict):
        raise ModelError(f"{where} does not answer as Ollama does (status {told.status})", "check base_url or OLLAMA_HOST")
    return Shown(_context(told.body.get("model_info")), _way(told.body))


def parallel(address: str) -> int | None:
    """Read how many calls the server takes at once, where it was told so in this environment."""
    told = os.environ.get("OLLAMA_NUM_PARALLEL", "").strip() if is_loopback(address) else ""
    return int(told) or None if told.isdecimal() else None  # 0 leaves it to the server


def client(name: str, address: str, options: "ModelOptions") -> "ChatOllama":
    """Make the chat model; a connection is closed after its call, so that none outlives its event loop."""
    from httpx import Timeout
    from langchain_ollama import ChatOllama

    from ramify.tools.models.broken_characters import mend
    from ramify.tools.models.odd_counts import drop_odd_counts

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
        # How long a reply may take is watched from outside, where it is known what else the server does meanwhile.
        # A prompt for this machine is no business of a proxy's.
        client_kwargs={
            "timeout": Timeout(None, connect=options.timeout),
            "trust_env": not is_loopback(address),
            "headers": {"Connection": "close"},
            "follow_redirects": False,
        },
        async_client_kwargs={"event_hooks": {"response": [mend, drop_odd_counts]}},
    )
    mask_logs()
    return made


def _way(told: dict[str, Any]) -> Way:
    """Ask one that can think not to; gpt-oss knows only how much."""
    capabilities, details = told.get("capabilities"), told.get("details")
    if not isinstance(capabilities, list) or THINKING not in capabilities:
        return PLAIN
    return LITTLE if isinstance(details, dict) and details.get("family") in BY_LEVELS else OFF


def _context(info: Any) -> int | None:
    """The name carries the architecture: `llama.context_length`."""
    told = info.items() if isinstance(info, dict) else ()
    return next((value for name, value in told if name.endswith(".context_length") and type(value) is int and value > 0), None)
