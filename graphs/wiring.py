"""A wiring: steps, edges and named conditions. What a strategy file is made of."""

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, NoReturn, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime

from ramify.nodes.asking.budget import Ledger, working
from ramify.nodes.plant import PLANT, pinned
from ramify.nodes.settings import Settings
from ramify.nodes.state import Answer, Question, State, Usage
from ramify.nodes.step import Step, Update
from ramify.tools.errors import UsageError

S = TypeVar("S", bound=Settings)


class AsyncGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph of asynchronous steps: synchronous code is told what to call, before anything is run or written."""

    def stream(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise UsageError; `invoke` and `batch` come here, too, and so does the `invoke` of a graph that has this one as a node."""
        what = "this graph's steps are asynchronous: it cannot be run by invoke, stream or batch"
        remedy = "await ainvoke or astream of the outermost graph; from synchronous code call ramify.graphs.ask or Conversation().ask"
        raise UsageError(what, remedy)


class Wiring(StateGraph[Any, Any, Any, Any], Generic[S]):
    """A LangGraph whose nodes are steps; an edge leads to the first target that has something to do."""

    def __init__(self, settings: type[S], state: type[Any] = State) -> None:
        super().__init__(state, context_schema=settings, input_schema=Question, output_schema=Answer)
        self.settings = settings
        self.steps: dict[str, Step] = {}

    def compile(self, *args: Any, **kwargs: Any) -> AsyncGraph:
        """Compile as StateGraph does, to a graph that refuses synchronous runs."""
        graph = super().compile(*args, **kwargs)
        graph.__class__ = AsyncGraph  # StateGraph.compile makes its own class and no other
        return graph  # type: ignore[return-value]

    @cached_property
    def ready(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """Give the graph ready to run, without a checkpointer of its own."""
        return self.compile(checkpointer=False)

    @cached_property
    def embedded(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """Give the graph ready to run inside another one: its checkpoints go where that one keeps its own, if it does."""
        return self.compile()

    def sequence(self, *stops: Step | str) -> None:
        """Lead from each stop to the next: steps, START and END."""
        names = [self._place(stop) for stop in stops]
        for one, following in pairwise(names):
            self.add_edge(one, following)

    def exchange(self, given: type[Any], returned: type[Any]) -> None:
        """Take and give other values than a question and its answer."""
        self.input_schema, self.output_schema = given, returned
        for schema in (given, returned):
            self._add_schema(schema, allow_managed=False)

    def when(self, step: Step, ways: Mapping[str, Step], otherwise: tuple[str, Step]) -> None:
        """Lead to the first way whose step has something to do, else onward; the keys name the conditions."""
        name = self._place(step)
        targets = {label: self._place(target) for label, target in (*ways.items(), otherwise)}

        def route(state: Any) -> str:
            # Not as a parameter: a state edited by hand is routed without a runtime.
            settings = pinned(self._settings(get_runtime()), state)
            return next((label for label, target in ways.items() if target.wanted(state, settings)), otherwise[0])

        self.add_conditional_edges(name, route, targets)  # type: ignore[arg-type]

    def _place(self, stop: Step | str) -> str:
        if isinstance(stop, str):
            return stop
        if self.steps.get(stop.__name__) is None:
            self.steps[stop.__name__] = stop
            self.add_node(stop.__name__, self._node(stop))
        return stop.__name__

    def _node(self, step: Step) -> Any:
        async def node(state: Any, runtime: Runtime[Any]) -> Update:
            given = self._settings(runtime)
            settings = given if step.__name__ == PLANT else pinned(given, state)
            kept = not step.final and any(other.final for other in self.steps.values())  # a last call that budgets keep back
            ledger = Ledger.open(
                settings,
                state.get("usage") or Usage(),
                state.get("started") or 0.0,
                kept,
                len(state.get("tree") or ()),
                step.final,
                state.get("error") or "",
            )
            with working(settings, ledger):
                return _telling(await step.run(state, settings), state, ledger)

        node.__name__, node.__doc__ = step.__name__, step.__doc__
        node.__annotations__["state"] = self.state_schema
        return node

    def _settings(self, runtime: Runtime[Any] | None) -> S:
        """Read the settings of a run; of another graph's context, what has the name of a setting counts, the rest is not for us."""
        context = runtime.context if runtime else None
        if isinstance(context, self.settings):
            return context
        given = context if isinstance(context, Mapping) else vars(context) if hasattr(context, "__dict__") else {}
        names = getattr(context, "model_fields_set", given.keys()) & self.settings.model_fields.keys()
        return self.settings.model_validate({name: given[name] for name in names})


def _telling(update: Update, state: Any, ledger: Ledger) -> Update:
    """Add what calls have shown of the model's server, before all else: of the notices the last one says why a question failed."""
    notices = update.get("notices", state.get("notices")) or []
    new = [told for told in ledger.told if told not in notices]
    return {**update, "notices": [*new, *notices]} if new else update


__all__ = ["END", "START", "Wiring"]
