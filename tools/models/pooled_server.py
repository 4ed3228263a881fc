"""One of several servers of a model: looked up, asked, left out where it cannot be, and looked at again."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from ramify.tools.errors import ModelError
from ramify.tools.models.concurrency import Gate
from ramify.tools.models.model import Model
from ramify.tools.models.reply_parsing import Structured
from ramify.tools.models.server_errors import Trouble, explain, is_gone, showable, trouble_with
from ramify.tools.models.server_record import Health

OURS = frozenset({"overlong", "refused"})
"""What a server says of the call itself: another server would say the same."""


class ElsewhereError(Exception):
    """A call failed at one server, and may be served by another."""

    def __init__(self, trouble: Trouble, error: Exception, model: Model) -> None:
        super().__init__(trouble)
        self.trouble = trouble
        self.told = explain(trouble, error, model.server)
        self.told.__cause__ = showable(trouble, error)


@dataclass(eq=False)
class Seat:
    """A server's place in a pool."""

    url: str
    look: Callable[[], Model] = field(repr=False)
    """Looks the model up there; blocking, a ModelError where it cannot be asked."""
    gate: Gate = field(repr=False)
    changed: Callable[[], None] = field(default=lambda: None, repr=False)
    """Told when the server is left out or back."""
    least: int = 0
    """Tokens that its window must have, since prompts are made for that."""
    model: Model | None = None
    remedy: str = ""
    """What to do about why it is left out."""
    looking: bool = False

    @property
    def health(self) -> Health:
        """Tell how the server does."""
        return self.gate.health

    @property
    def found(self) -> Model | None:
        """Give the model there, if it can be asked now."""
        return self.model if not self.health.why else None

    @property
    def left_out(self) -> str | None:
        """Say why it is not asked."""
        return f"{self.health.why}: it is left out, and looked at again from time to time" if self.health.why else None

    def look_again(self) -> None:
        """Look whether the server is there; blocking."""
        was = self.health.why
        try:
            model = self.look()
            if (model.num_ctx or self.least) < self.least:
                what = f"{model.name} at {self.url} has a window of {model.num_ctx} tokens, fewer than the {self.least} of the others"
                raise ModelError(what, "start it with a window as long as the others'")
        except ModelError as error:
            self.remedy = error.remedy
            self.health.stay_out(error.what)
        else:
            self.model = model
            self.health.come_back()
        finally:
            self.looking = False
        if bool(was) != bool(self.health.why):
            self.changed()

    def look_soon(self) -> None:
        """Look beside what else is done, if it is time to, or if others have found it back."""
        if not self.looking and (self.health.due() or (self.model is None and not self.health.why)):
            self.looking = True
            threading.Thread(target=self._look_aside, daemon=True).start()

    async def serve(self, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None) -> Structured:
        """Make a call, for which a place was taken, and give the place up; ElsewhereError where another server may serve it."""
        model = self.model
        assert model is not None
        try:
            asked = await model.attempt(messages, schema, longest)
        except Exception as error:
            trouble = trouble_with(error, model.server)
            if trouble is None:
                raise
            if trouble in OURS:
                raise explain(trouble, error, model.server) from showable(trouble, error)
            told = explain(trouble, error, model.server, again=False)
            if self.health.fail(told.what, is_gone(trouble, error)):
                self.remedy = told.remedy
                self.changed()
            raise ElsewhereError(trouble, error, model) from None
        finally:
            self.gate.leave()
        self.health.serve()
        return asked

    def _look_aside(self) -> None:
        with suppress(RuntimeError):  # the process is ending
            self.look_again()
