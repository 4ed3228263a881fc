"""A conversation: any strategy, with a follow-up made self-contained first and each turn remembered."""

import time
from functools import cache
from typing import Any, TypeVar

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from ramify.graphs.result import Result
from ramify.graphs.run import Watch, blocking, watched
from ramify.graphs.strategies import DEFAULT, build, configure
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.contextualize import contextualize
from ramify.nodes.listen import listen
from ramify.nodes.plant import PLANT, checked
from ramify.nodes.remember import remember
from ramify.nodes.settings import Settings
from ramify.nodes.state import Replied, Spoken
from ramify.tools.models import forget

S = TypeVar("S", bound=Settings)


def conversing(wiring: Wiring[S]) -> Wiring[S]:
    """Put the steps of a conversation around a strategy's own: listen, contextualize a follow-up, and remember at the end.

    Give it a wiring fresh from `build`: it is changed. Its input is a question or messages, and its state keeps the messages.
    """
    after_plant = next(target for source, target in wiring.edges if source == PLANT)
    last = next(source for source, target in wiring.edges if target == END)
    wiring.edges -= {(START, PLANT), (PLANT, after_plant), (last, END)}
    wiring.exchange(Spoken, Replied)
    wiring.sequence(START, listen, PLANT)
    wiring.when(wiring.steps[PLANT], {"a follow-up": contextualize}, ("self-contained", wiring.steps[after_plant]))
    wiring.sequence(contextualize, after_plant)
    wiring.sequence(last, remember, END)
    return wiring


@cache
def _talking(name: str, **arguments: Any) -> Wiring[Any]:
    return conversing(build(name, **arguments))


class Conversation:
    """Remember the turns of a conversation, so that a question may lean on those before it."""

    def __init__(self) -> None:
        self.messages: list[AnyMessage] = []

    async def ask_async(
        self, question: str, strategy: str = DEFAULT, watch: Watch | None = None, config: RunnableConfig | None = None, **options: Any
    ) -> Result:
        """Answer a question in the light of the earlier ones, as `ask_async` does; a turn that fails or is cancelled leaves no trace.

        The result's question is the one that was understood.
        """
        forget()  # a model's server may have come up since the last turn
        wiring, settings = configure(strategy, options, _talking)
        began = time.perf_counter()
        given = {"messages": [*self.messages, HumanMessage(checked(question))]}
        state = await watched(wiring.ready, given, settings, watch, config)
        self.messages = state["messages"]
        return Result.from_state(state, strategy, time.perf_counter() - began)

    def ask(self, question: str, strategy: str = DEFAULT, watch: Watch | None = None, **options: Any) -> Result:
        """Answer a question from synchronous code, also where an event loop is already running."""
        return blocking(self.ask_async(question, strategy, watch, **options))
