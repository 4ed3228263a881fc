"""The errors of a model's server: classified, retried where that helps, and explained with a remedy."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from ramify.tools.errors import ModelError, RamifyError, ReplyError
from ramify.tools.models.concurrency import ServerRecord
from ramify.tools.models.structured_call import Feature
from ramify.tools.scrub import scrub

T = TypeVar("T")
Trouble = Literal["unreachable", "silent", "busy", "missing", "locked", "overlong", "refused", "moved", "foreign"]

RETRY_PAUSES_S = (0.5, 2.0)
"""Seconds before each retry."""
TRANSIENT = frozenset({"busy", "foreign"})
"""Troubles that a retry may solve: a full server, and a garbled reply."""
FOREIGN_MESSAGES = ("No data received from Ollama", "'choices'", "Unexpected response type")
"""What the clients say of an answer that is not in the server's protocol."""
GATEWAY_STATUSES = (502, 503, 504)
"""What a gateway answers for a server that is not there, or not yet."""
REFUSAL_STATUSES = (400, 422, 501)
FEATURE_WORDS: dict[Feature, re.Pattern[str]] = {
    "logprobs": re.compile(r"logprob", re.IGNORECASE),
    "form": re.compile(r"\b(tools?|tool_\w+|functions?|response_format|json_schema|structured|guided\w*|grammar)\b", re.IGNORECASE),
}
"""The words by which a server refuses a feature."""
THINKING_WORDS = re.compile(r"(?<![\w:-])think(ing)?\b", re.IGNORECASE)
"""The words by which it refuses a thinking option; a model's own name may contain them, too."""


@dataclass(frozen=True)
class Server:
    """Where a model is served, for error messages; `url` carries no credentials."""

    name: str
    timeout: float
    url: str | None = None
    start: str = "check base_url and the network, and that the server runs"
    """What to do when it cannot be reached."""
    pull: str = "check the model's name, and that base_url ends as the server's manual says (often in /v1)"
    """What to do when it does not have the model."""
    key: str | None = None
    """The environment variable that holds its key."""
    remote: bool = False
    """Whether a client speaks to it: then the fault is the reply's, whatever the client raises over one."""
    record: ServerRecord = field(default_factory=ServerRecord, compare=False)

    @property
    def place(self) -> str:
        """Return its name with its address."""
        return f"{self.name} at {self.url}" if self.url else self.name


class QueuedError(Exception):
    """A call timed out while the server was still serving earlier ones."""


async def with_retries(call: Callable[[], Awaitable[T]], server: Server) -> T:
    """Make a call, and retry it after a pause where that may help; ModelError or ReplyError where it keeps failing."""
    for pause in (*RETRY_PAUSES_S, None):
        try:
            return await call()
        except Exception as error:
            trouble = classify_call(error, server)
            if trouble is None:
                raise
            if trouble not in TRANSIENT or pause is None:
                raise explain_error(trouble, error, server) from safe_cause(trouble, error)
        await asyncio.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def classify_call(error: Exception, server: Server) -> Trouble | None:
    """Classify an error of a call to a server; None where it is not the server's."""
    return classify(error) or ("foreign" if server.remote and not isinstance(error, RamifyError) else None)


def safe_cause(trouble: Trouble, error: Exception) -> Exception | None:
    """Return the error to raise another from, or None where its traceback would show a key that the server quotes."""
    quoted = any(scrub(str(one)) != str(one) for one in _chain(error))
    return None if trouble == "locked" or quoted else error


def explain_error(trouble: Trouble, error: Exception, server: Server, again: bool = True) -> RamifyError:
    """Return the error to raise, with its remedy; `again` where it also happened on a retry."""
    also = ", also when asked again" if again else ""
    where = server.place
    said = f"{where} says: {_one_line(error)}"
    match trouble:
        case "unreachable":
            return ModelError(f"{where} cannot be reached", server.start)
        case "missing":
            return ModelError(f"{where} is not there", server.pull)
        case "locked":  # what the server says here may quote the key
            return ModelError(f"{where} refuses access", f"set {server.key} to a valid key" if server.key else "check its credentials")
        case "refused":
            return ReplyError(said, "check the model's name and settings")
        case "moved":  # not followed: prompts go only to the named server
            what = f"{where} sends the call elsewhere (status {getattr(error, 'status_code', None)})"
            return ReplyError(what, "set base_url to the address that it redirects to, if you trust that one")
        case "foreign" if server.record.answered:
            what = f"{where} gave a reply that cannot be read ({type(error).__name__}: {_one_line(error)}){also}"
            return ReplyError(what, "try again later, or look into the server's log")
        case "foreign":
            return ModelError(said, "check that base_url is the address of such a server")
        case "silent":
            return ReplyError(f"{where} gave no reply within {server.timeout:g} s", "raise timeout, or lower max_concurrency")
        case "busy" if not again and _is_broken_connection(error):
            return ReplyError(f"{where} broke off a call", server.start)
        case "busy":
            return ReplyError(f"{said}{also}", "try again later, or lower max_concurrency")
        case "overlong":
            return ReplyError(said, "lower num_ctx to what the server was started with")


def classify(error: Exception) -> Trouble | None:
    """Classify a client's error by its class names and status, so that no client has to be imported.

    None where it is not a client's, such as an error of this package.
    """
    if isinstance(error, RamifyError):
        return None
    if isinstance(error, QueuedError):
        return "busy"
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _by_status(status, error)
    names = {kind.__name__ for one in _chain(error) for kind in type(one).__mro__}
    if names & {"ConnectError", "ConnectTimeout", "ProxyError", "ConnectionRefusedError", "gaierror"} or type(error) is ConnectionError:
        return "unreachable"
    if names & {"TimeoutException", "TimeoutError", "APITimeoutError"}:
        return "silent"
    if names & {"TransportError", "APIConnectionError"}:
        return "busy"
    return "foreign" if "JSONDecodeError" in names or any(words in str(error) for words in FOREIGN_MESSAGES) else None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, as a traceback shows them: the clients wrap one another's errors."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def was_received(error: Exception) -> bool:
    """Return whether a server received the request that failed."""
    return classify(error) != "unreachable"


def was_refused(error: Exception) -> bool:
    """Return whether a server refused a request by its status, which it does before it reads the prompt."""
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and status >= 300


def is_server_down(trouble: Trouble, error: Exception) -> bool:
    """Return whether the server seems to be down, and not only to have failed at one call."""
    if trouble == "busy":
        return _is_broken_connection(error) or getattr(error, "status_code", None) in GATEWAY_STATUSES
    return trouble in ("unreachable", "silent", "missing", "locked")


def find_refused_feature(error: Exception) -> Feature | None:
    """Return the feature that a server refuses."""
    if getattr(error, "status_code", None) not in REFUSAL_STATUSES:
        return None
    return next((feature for feature, words in FEATURE_WORDS.items() if words.search(str(error))), None)


def refuses_thinking(error: Exception) -> bool:
    """Return whether a server refuses the thinking option."""
    return getattr(error, "status_code", None) in REFUSAL_STATUSES and bool(THINKING_WORDS.search(str(error)))


def _is_broken_connection(error: Exception) -> bool:
    """Return whether a "busy" error is a broken connection: it has no status."""
    return getattr(error, "status_code", None) is None and not isinstance(error, QueuedError)


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
