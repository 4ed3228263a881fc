"""What a server answers with: a request of any protocol becomes a question."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import AnyMessage
from pydantic import BaseModel, ConfigDict, Field

from ramify.graphs.conversation import Conversation
from ramify.graphs.editing import Edit
from ramify.graphs.run import ask_async
from ramify.nodes.init_tree import checked
from ramify.studio.serve.catalog import Catalog
from ramify.studio.serve.collections import Collections
from ramify.studio.serve.questions import Asked, Questions
from ramify.studio.serve.threads import Threads
from ramify.studio.serve.watching import Watched
from ramify.tools.models import forget


class Ask(BaseModel):
    """A question as our own interface takes it; what is left out is the server's default."""

    model_config = ConfigDict(extra="forbid")

    question: str
    collection: str | list[str] | None = None
    """A name, or several that are asked together."""
    strategy: str | None = None
    model: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    style: Literal["full", "short"] | None = None
    thread: str | None = None
    """The conversation that it belongs to; `new` for a new one; without it, nothing is kept."""


class Editing(BaseModel):
    """A branch of a conversation's last question that is to be asked something else, or dropped; settings as in `Ask`."""

    model_config = ConfigDict(extra="forbid")

    branch: str
    question: str | None = None
    """What is asked instead; without it, the branch is dropped."""
    collection: str | list[str] | None = None
    model: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    style: Literal["full", "short"] | None = None


@dataclass(frozen=True)
class Serving:
    """The parts of a server that requests use."""

    catalog: Catalog
    questions: Questions
    threads: Threads
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    collections: Collections | None = None
    """Those that users make; None where they make none."""
    watched: Sequence[Watched] = ()
    """The folders that collections are kept in step with."""

    async def ask(self, user: str, given: Ask, earlier: Sequence[AnyMessage] | None = None) -> Asked:
        """Take up a question, in the light of `earlier` messages where there are any; UsageError for what cannot be asked."""
        question = checked(given.question)
        strategy = self.catalog.chosen_strategy(given.strategy)
        options = await self._options(strategy, given, given.thread is not None)
        forget()  # a model's server may have come up since the last question
        thread = "" if given.thread is None else self.threads.name_of(given.thread)
        if thread:
            ask = self.threads.conversation(user, thread).ask_async
        elif earlier is not None:
            conversation = Conversation()
            conversation.messages = list(earlier)
            ask = conversation.ask_async
        else:
            ask = ask_async
        return self.questions.ask(user, lambda watch, reviewer: ask(question, strategy, watch, reviewer=reviewer, **options), thread)

    async def edit(self, user: str, thread: str, given: Editing) -> Asked | None:
        """Run the last question of a conversation on from an edited branch; None where the user has no such conversation."""
        conversation = self.threads.conversation(user, self.threads.name_of(thread))
        await conversation.recall_async()
        if conversation.strategy is None:
            return None
        edit = Edit(given.branch, None if given.question is None else checked(given.question))
        options = await self._options(conversation.strategy, given, True)
        run_on = conversation.edit_async
        return self.questions.ask(user, lambda watch, reviewer: run_on(edit, watch, reviewer=reviewer, **options), thread)

    async def _options(self, strategy: str, given: Ask | Editing, reviewed: bool) -> dict[str, Any]:
        selection = self.catalog.selection(given.collection)
        settings = {**given.settings, **({"style": given.style} if given.style else {})}
        return await asyncio.to_thread(self.catalog.options_of, strategy, selection, given.model, settings, reviewed)
