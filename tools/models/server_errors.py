"""What can go wrong between us and a model's server: told apart, tried again where that helps, and said with its remedy."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from ramify.tools.errors import ModelError, RamifyError, ReplyError
from ramify.tools.models.server_record import Record
from ramify.tools.models.structured_call import Feature
from ramify.tools.scrub import scrub

T = TypeVar("T")
Trouble = Literal["unreachable", "silent", "busy", "missing", "locked", "overlong", "refused", "moved", "foreign"]

PAUSES = (0.5, 2.0)
"""Seconds before each further attempt at a busy server."""
AGAIN = frozenset({"busy", "foreign"})
"""What may pass: a crowd, and a reply that was garbled on its way."""
FOREIGN = ("No data received from Ollama", "'choices'", "Unexpected response type")
"""What the clients say of an answer that is not in the server's protocol."""
GATEWAY = (502, 503, 504)
"""What is said in the place of a server that is not there, or not yet."""
REFUSING = (400, 422, 501)
FEATURES: dict[Feature, re.Pattern[str]] = {
    "logprobs": re.compile(r"logprob", re.IGNORECASE),
    "form": re.compile(r"\b(tools?|tool_\w+|functions?|response_format|json_schema|structured|guided\w*|grammar)\b", re.IGNORECASE),
}
"""What a server may refuse, and the words by which it does."""
THINKING = re.compile(r"(?<![\w:-])think(ing)?\b", re.IGNORECASE)
"""The words by which it refuses what it is told of thinking; a model's own name may hold them, too."""


@dataclass(frozen=True)
class Server:
    """Where a model is served, for the errors to name; `url` carries no credentials."""

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
    record: Record = field(default_factory=Record, compare=False)

    @property
    def place(self) -> str:
        """Name it with its address."""
        return f"{self.name} at {self.url}" if self.url else self.name


class QueuedError(Exception):
    """A client lost patience with a call while the server was still serving those before it."""


async def sturdy(call: Callable[[], Awaitable[T]], server: Server) -> T:
    """Make a call, again after a pause where the trouble may pass; ModelError or ReplyError where it stays."""
    for pause in (*PAUSES, None):
        try:
            return await call()
        except Exception as error:
            trouble = trouble_with(error, server)
            if trouble is None:
                raise
            if trouble not in AGAIN or pause is None:
                raise explain(trouble, error, server) from showable(trouble, error)
        await asyncio.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def trouble_with(error: Exception, server: Server) -> Trouble | None:
    """Tell the trouble with a server from an error; None where it is none of the server's."""
    return tell(error) or ("foreign" if server.remote and not isinstance(error, RamifyError) else None)


def showable(trouble: Trouble, error: Exception) -> Exception | None:
    """Give an error as the cause of another, or none: what a server says may quote a key, and a traceback would show it."""
    quoted = any(scrub(str(one)) != str(one) for one in _chain(error))
    return None if trouble == "locked" or quoted else error


def explain(trouble: Trouble, error: Exception, server: Server, again: bool = True) -> RamifyError:
    """Word what happened and what to do; `again` where it happened when asked again, too."""
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
        case "moved":  # not followed: prompts go where they were sent to, and nowhere else
            what = f"{where} sends the call elsewhere (status {getattr(error, 'status_code', None)})"
            return ReplyError(what, "set base_url to the address that it redirects to, if you trust that one")
        case "foreign" if server.record.answered:
            what = f"{where} gave a reply that cannot be read ({type(error).__name__}: {_one_line(error)}){also}"
            return ReplyError(what, "try again later, or look into the server's log")
        case "foreign":
            return ModelError(said, "check that base_url is the address of such a server")
        case "silent":
            return ReplyError(f"{where} gave no reply within {server.timeout:g} s", "raise timeout, or lower max_concurrency")
        case "busy" if not again and _broke_off(error):
            return ReplyError(f"{where} broke off a call", server.start)
        case "busy":
            return ReplyError(f"{said}{also}", "try again later, or lower max_concurrency")
        case "overlong":
            return ReplyError(said, "lower num_ctx to what the server was started with")


def tell(error: Exception) -> Trouble | None:
    """Tell the trouble from the error, by its names and status: the clients' classes need not be imported for that.

    None where it is none of a client's, as with all errors that were worded already.
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
    return "foreign" if "JSONDecodeError" in names or any(words in str(error) for words in FOREIGN) else None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Give an error and what caused it, one after another: the clients wrap one another's errors, and the innermost tells most.

    What an error was raised from as its cause comes before what was being handled then, which `from None` leaves out.
    """
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def was_seen(error: Exception) -> bool:
    """Tell whether a server was there to see a request that ended so."""
    return tell(error) != "unreachable"


def was_refused(error: Exception) -> bool:
    """Tell whether a server refused a request by its status, which it does before it reads the prompt."""
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and status >= 300


def is_gone(trouble: Trouble, error: Exception) -> bool:
    """Tell whether a server seems not to be there at all, and not only to have failed at one call."""
    if trouble == "busy":
        return _broke_off(error) or getattr(error, "status_code", None) in GATEWAY
    return trouble in ("unreachable", "silent", "missing", "locked")


def refusal(error: Exception) -> Feature | None:
    """Tell which feature a server refuses."""
    if getattr(error, "status_code", None) not in REFUSING:
        return None
    return next((feature for feature, words in FEATURES.items() if words.search(str(error))), None)


def refuses_thinking(error: Exception) -> bool:
    """Tell whether a server refuses what it is told of thinking."""
    return getattr(error, "status_code", None) in REFUSING and bool(THINKING.search(str(error)))


def _broke_off(error: Exception) -> bool:
    """Tell whether the connection broke, of what is busy: it has no status."""
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
