"""Classify the errors of a model's server, retry transient ones, and explain them with a remedy."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from ramify.tools.errors import ModelError, RamifyError, ReplyError
from ramify.tools.models.structured_call import DEFAULT_MODE, Feature, ThinkingMode
from ramify.tools.models.tokens import LearnedCount
from ramify.tools.scrub import scrub

T = TypeVar("T")
Trouble = Literal["unreachable", "silent", "busy", "missing", "locked", "overlong", "refused", "moved", "foreign"]

RETRY_PAUSES_S = (0.5, 2.0)
"""Seconds before each retry."""
TRANSIENT = frozenset({"busy", "foreign"})
"""Troubles that a retry may solve: a busy server, and a garbled reply."""
FOREIGN_MESSAGES = ("No data received from Ollama", "'choices'", "Unexpected response type")
"""Messages of the clients for an answer that is not in the expected protocol."""
REFUSAL_STATUSES = (400, 422, 501)
TEMPLATE_STATUSES = (*REFUSAL_STATUSES, 500)
"""Statuses with which servers report what a model's chat template refuses."""
_ROLES = (
    r"\b(?:system|developer)['\"]?[ _-]?(?:role|message|prompt|instruction)|\b(?:user and assistant|user/assistant) roles?\b|"
    r"\broles?\b.{0,80}\b(?:system|alternat)"
)
MAX_REFUSAL_CHARS = 20_000
FEATURE_WORDS: dict[Feature, re.Pattern[str]] = {
    "system": re.compile(_ROLES, re.IGNORECASE),
    "turns": re.compile(_ROLES, re.IGNORECASE),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "logprobs": re.compile(r"logprob", re.IGNORECASE),
    "form": re.compile(r"\b(tools?|tool_\w+|functions?|response_format|json_schema|structured|guided\w*|grammar)\b", re.IGNORECASE),
}
"""Words in the error with which a server refuses a feature."""
THINKING_WORDS = re.compile(r"(?<![\w:-])think(ing)?\b", re.IGNORECASE)
"""Words in the error with which a server refuses a thinking option, not as part of a model's name."""
FEATURE_NOTICES: dict[Feature, str] = {
    "form": "{name} does not support structured output: replies are parsed from its text",
    "system": "{name} does not accept the role system: the task is in the first message of the user",
    "turns": "{name} does not accept a conversation: the task and its examples are in one message",
    "temperature": "{name} does not accept a temperature: its replies may vary",
    "logprobs": "{name} provides no log probabilities: the confidence is the model's own statement",
}
"""The notice in the result for each feature that the server lacks."""


@dataclass(eq=False)
class ServerRecord:
    """What is known of one model at one server from earlier calls."""

    answered: bool = False
    """Whether it has ever answered in the expected protocol."""
    refused: set[Feature] = field(default_factory=set)
    mode: ThinkingMode = DEFAULT_MODE
    """The thinking mode in which it is called."""
    count: LearnedCount | None = None

    def counting(self, name: str) -> LearnedCount:
        """Return the token counter that learns from the server's reports; the first call is blocking."""
        if self.count is None:
            self.count = LearnedCount(name)
        return self.count

    def move(self, mode: ThinkingMode, on: ThinkingMode) -> None:
        """Replace a mode, unless a concurrent call has done so."""
        if self.mode is mode:
            self.mode = on

    def notices(self, name: str, thought: int) -> list[str]:
        """Return notices on missing features and the thinking mode; `thought` is the number of tokens for a thought."""
        notices = [self.mode.notice, *(FEATURE_NOTICES[feature] for feature in sorted(self.refused))]
        return [words.format(name=name, more=f"each reply may take {thought} additional tokens") for words in notices if words]


@dataclass(frozen=True)
class Server:
    """The server of a model, for error messages; `url` has no credentials."""

    name: str
    timeout: float
    url: str | None = None
    start: str = "check base_url and the network, and that the server runs"
    """The remedy if it cannot be reached."""
    pull: str = "check the model's name, and that base_url ends as the server's manual says (often in /v1)"
    """The remedy if it does not have the model."""
    key: str | None = None
    """The environment variable with its key."""
    reports_progress: bool = False
    """Whether `timeout` is the time without a new token, or without progress in reading the prompt, instead of that of a call."""
    remote: bool = False
    """Whether it is called over a network: then unknown errors of the client are attributed to the reply."""
    record: ServerRecord = field(default_factory=ServerRecord, compare=False)

    @property
    def label(self) -> str:
        """Return the model's name with the address."""
        return f"{self.name} at {self.url}" if self.url else self.name


class QueuedError(Exception):
    """A call timed out while the server was still serving earlier ones."""


async def with_retries(call: Callable[[], Awaitable[T]], server: Server) -> T:
    """Make a call and retry it after transient errors; ModelError or ReplyError if it keeps failing."""
    for pause in (*RETRY_PAUSES_S, None):
        try:
            return await call()
        except Exception as error:
            trouble = classify(error) or ("foreign" if server.remote and not isinstance(error, RamifyError) else None)
            if trouble is None:
                raise
            if trouble not in TRANSIENT or pause is None:
                raise explain_error(trouble, error, server) from safe_cause(trouble, error)
        await asyncio.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def safe_cause(trouble: Trouble, error: Exception) -> Exception | None:
    """Return the error as a cause, or None if its traceback would show a key that the server quotes."""
    quotes_key = any(scrub(str(cause)) != str(cause) for cause in _chain(error))
    return None if trouble == "locked" or quotes_key else error


def explain_error(trouble: Trouble, error: Exception, server: Server) -> RamifyError:
    """Return the error to raise, with its remedy."""
    where = server.label
    message = f"{where} reports: {_one_line(error)}"
    match trouble:
        case "unreachable":
            return ModelError(f"{where} cannot be reached", server.start)
        case "missing":
            return ModelError(f"{where} is not available", server.pull)
        case "locked":  # the server's message may quote the key
            return ModelError(f"{where} refuses access", f"set {server.key} to a valid key" if server.key else "check its credentials")
        case "refused":
            return ReplyError(message, "check the model's name and settings")
        case "moved":  # not followed: prompts go only to the named server
            what = f"{where} redirects the call (status {getattr(error, 'status_code', None)})"
            return ReplyError(what, "set base_url to the address that it redirects to, if you trust that one")
        case "foreign" if server.record.answered:
            what = f"{where} gave a reply that cannot be read ({type(error).__name__}: {_one_line(error)}), also on a retry"
            return ReplyError(what, "try again later, or look into the server's log")
        case "foreign":
            return ModelError(message, "check that base_url is the address of such a server")
        case "silent":
            what = (
                f"read and wrote nothing for {server.timeout:g} s"
                if server.reports_progress
                else f"gave no reply within {server.timeout:g} s"
            )
            return ReplyError(f"{where} {what}", "raise timeout, or lower max_concurrency")
        case "busy":
            return ReplyError(f"{message}, also on a retry", "try again later, or lower max_concurrency")
        case "overlong":
            return ReplyError(message, "lower num_ctx to the context length that the server was started with")


def classify(error: Exception) -> Trouble | None:
    """Return the trouble that a client's error indicates, by its class names and status, so that no client has to be imported.

    None for errors of other origin, such as those of this package.
    """
    if isinstance(error, RamifyError):
        return None
    if isinstance(error, QueuedError):
        return "busy"
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _by_status(status, error)
    names = {kind.__name__ for cause in _chain(error) for kind in type(cause).__mro__}
    if names & {"ConnectError", "ConnectTimeout", "ProxyError", "ConnectionRefusedError", "gaierror"} or type(error) is ConnectionError:
        return "unreachable"
    if names & {"TimeoutException", "TimeoutError", "APITimeoutError"}:
        return "silent"
    if names & {"TransportError", "APIConnectionError"}:
        return "busy"
    return "foreign" if "JSONDecodeError" in names or any(words in str(error) for words in FOREIGN_MESSAGES) else None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, as in a traceback, since clients wrap errors of other clients."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def was_received(error: Exception) -> bool:
    """Return whether a server received the request that failed."""
    return classify(error) != "unreachable"


def was_refused(error: Exception) -> bool:
    """Return whether a server refused a request by its status, before reading the prompt."""
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and status >= 300


def find_refused_feature(error: Exception, without: Collection[Feature] = ()) -> Feature | None:
    """Return the feature that a server refuses of a call `without` some; None if the error has another reason."""
    status = getattr(error, "status_code", None)
    message = f"{error} {getattr(error, 'body', None) or ''}"[:MAX_REFUSAL_CHARS]  # FastAPI's {"detail": […]} is in the body alone
    for feature, words in FEATURE_WORDS.items():
        statuses = TEMPLATE_STATUSES if feature in ("system", "turns") else REFUSAL_STATUSES
        if feature not in without and status in statuses and words.search(message):
            return feature
    return None


def refuses_thinking(error: Exception) -> bool:
    """Return whether a server refuses the thinking option."""
    return getattr(error, "status_code", None) in REFUSAL_STATUSES and bool(THINKING_WORDS.search(str(error)))


def _by_status(status: int, error: Exception) -> Trouble:
    if 0 <= status < 300:
        return "foreign"
    if 300 <= status < 400:
        return "moved"
    if status in (401, 403):
        return "locked"
    if status == 404:
        return "missing"
    if status in (408, 409, 425, 429) or status >= 500 or status < 0:  # Ollama's client gives -1 to what fails on the way
        return "busy"
    return "overlong" if "context" in str(error).lower() else "refused"


def _one_line(error: Exception) -> str:
    words = " ".join(scrub(str(error)).split())
    return words if len(words) <= 300 else words[:300] + " …"
