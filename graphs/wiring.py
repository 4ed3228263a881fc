"""A wiring: steps, and edges with conditions. What a strategy file is made of."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Generic, NoReturn, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.graph import Graph
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Overwrite

from ramify.graphs.conditions import Condition, Join, OfState, Way, sure
from ramify.nodes.asking.budget import Budget, working
from ramify.nodes.init_tree import freeze_model, init_tree
from ramify.nodes.settings import Settings
from ramify.nodes.state import Answer, Question, State, Usage
from ramify.nodes.step import Context, Step, Update
from ramify.nodes.tree import Branch, Tree, merge_branches
from ramify.nodes.tree.notes import SEARCHED
from ramify.tools.errors import UsageError

S = TypeVar("S", bound=Settings)
Stop = Step | str


class AsyncGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph of asynchronous steps: synchronous code is told what to call, before anything is run or written."""

    edges: Mapping[tuple[str, str], bool] = MappingProxyType({})
    """Those that lead from steps, and whether each has a condition."""

    def stream(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise UsageError; `invoke` and `batch` come here, too, and so does the `invoke` of a graph that has this one as a node."""
        what = "this graph's steps are asynchronous: it cannot be run by invoke, stream or batch"
        remedy = "await ainvoke or astream of the outermost graph; from synchronous code call ramify.graphs.ask or Conversation().ask"
        raise UsageError(what, remedy)

    def get_graph(self, *args: Any, **kwargs: Any) -> Graph:
        """Draw it."""
        return self._drawn(super().get_graph(*args, **kwargs))

    async def aget_graph(self, *args: Any, **kwargs: Any) -> Graph:
        """Draw it."""
        return self._drawn(await super().aget_graph(*args, **kwargs))

    def _drawn(self, graph: Graph) -> Graph:
        """Leave out the edges that LangGraph draws to a deferred step by itself, and the conditions of those that have none."""
        steps = {source for source, _ in self.edges}
        own = [edge for edge in graph.edges if edge.source not in steps or (edge.source, edge.target) in self.edges]
        graph.edges = [
            edge if self.edges.get((edge.source, edge.target), True) else edge._replace(data=None, conditional=False) for edge in own
        ]
        return graph


class Wiring(Generic[S]):
    """A graph of steps: each branch that a step leaves goes along the first of its edges whose condition holds.

    A branch for which none holds is settled, or rests until a join sends it on. The last step runs when nothing is under way any more.
    """

    def __init__(self, settings: type[S], state: type[Any] = State, final_call: bool = True) -> None:
        self.settings = settings
        self.state = state
        self.final_call = final_call
        """Whether the last step may ask the model, so that budgets keep a call back for it."""
        self.name = ""
        """The strategy's, where a registered one was built."""
        self.given: type[Any] = Question
        self.returned: type[Any] = Answer
        """What a graph is given, and gives back."""
        self.steps: dict[str, Step] = {}
        self.edges: dict[str, list[tuple[Way | None, str]]] = defaultdict(list)
        """By step: each way with the step that it leads to; None always holds."""
        self.joins: dict[Join, str] = {}
        self.last = ""
        """The step that makes the answer: the one before END, or before what a conversation does then."""
        self.around: frozenset[str] = frozenset()
        """The steps of a conversation, which are none of the strategy's."""

    def path(self, *stops: Stop) -> None:
        """Lead from each stop to the next, always: steps, START and END."""
        names = [self._place(stop) for stop in stops]
        for one, following in pairwise(names):
            self.edges[one].append((None, following))

    def when(self, step: Step, ways: Mapping[Any, Step], otherwise: Step | None = None) -> None:
        """Lead along the first way whose condition holds, else to `otherwise`; a branch that is led to the last step is settled."""
        name = self._place(step)
        for way, target in ways.items():
            if isinstance(way, Join):
                self.joins.setdefault(way, self._place(target))
            self.edges[name].append((way, self._place(target)))
        if otherwise is not None:
            self.edges[name].append((None, self._place(otherwise)))

    @cached_property
    def ready(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The graph ready to run, without a checkpointer of its own."""
        return self.compile(checkpointer=False)

    @cached_property
    def as_subgraph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The graph ready to run inside another one: its checkpoints go where that one keeps its own, if it does."""
        return self.compile()

    def compile(self, settings: S | None = None, **options: Any) -> AsyncGraph:
        """Return the LangGraph; its drawing shows the values of `settings`, the options are those of `StateGraph.compile`."""
        if not self.last:
            raise UsageError("the graph has no last step", "end it with finalize, or with a step of your own made by final_step")
        shown = settings or self.settings()
        graph: StateGraph[Any, Any, Any, Any] = StateGraph(
            self.state, context_schema=self.settings, input_schema=self.given, output_schema=self.returned
        )
        for name, step in self.steps.items():
            deferred = name == self.last and self._side_by_side()
            graph.add_node(name, self._node(step), defer=deferred, destinations=self._labels(name, shown))
            graph.add_conditional_edges(name, self._router(name))
        graph.add_edge(START, self.edges[START][0][1])
        compiled = graph.compile(**options)
        compiled.__class__ = AsyncGraph  # StateGraph.compile makes its own class and no other
        made: AsyncGraph = compiled  # type: ignore[assignment]
        made.edges = {(name, target): target != self._always(name) for name in self.steps for _, target in self.edges[name]}
        return made

    def _place(self, stop: Stop) -> str:
        if isinstance(stop, str):
            return stop
        self.steps.setdefault(stop.name, stop)
        if stop.final and not self.last:
            self.last = stop.name
        return stop.name

    def _always(self, name: str) -> str:
        """Name the step that the only edge of this one leads to, whatever holds; empty where there are several, or conditions."""
        ways = self.edges[name]
        late = name == self.last and bool(self.joins)  # then it may find that something is not settled yet
        return ways[0][1] if len(ways) == 1 and ways[0][0] is None and not late else ""

    def _side_by_side(self) -> bool:
        """Tell whether branches of one step can take different edges, so that steps run side by side."""
        led = (
            {to for _, to in ways if to in self.steps and to != self.last and self.steps[to].kind != "state"}
            for ways in self.edges.values()
        )
        return any(len(targets) > 1 for targets in led)

    def _labels(self, name: str, settings: Any) -> dict[str, str]:
        """Write the conditions under which a step leads to each of the others."""
        otherwise = "all settled" if name == self.last else "otherwise"
        told: dict[str, list[str]] = {}
        for way, target in self.edges[name]:
            told.setdefault(target, []).append(otherwise if way is None else way.label(settings))
        return {target: " or ".join(labels) for target, labels in told.items()}

    def _node(self, step: Step) -> Any:
        first = self.edges[START][0][1]
        steps = frozenset(self.steps)
        targets = frozenset(target for way, target in self.edges[step.name] if not isinstance(way, Join))  # a join sends on another branch

        async def node(state: Any, runtime: Runtime[Any], config: RunnableConfig) -> Update:
            given = self._settings(runtime)
            begins = step.name in (init_tree.name, first)
            settings = given if begins else freeze_model(given, state)
            tree: Tree = state.get("tree") or {}
            if not all(isinstance(branch, Branch) for branch in tree.values()):  # their class was of another name then
                raise UsageError("this conversation was stored by another version of ramify", "begin a new one, with another thread id")
            loose = {} if begins else self._loose(tree, settings)
            if step.name == self.last:
                if any(branch.next in self.steps for branch in (*tree.values(), *loose.values())):
                    return {}  # its edges lead to what is left
                state = {**state, "tree": tree | loose}
            superstep = config["metadata"].get("langgraph_step", -1)
            handed = [branch for branch in (tree | loose).values() if branch.next == step.name]
            whole: Tree = state.get("tree") or {}
            context = Context(
                state, whole, settings, targets, steps, self.final_call, lambda branch: sure.holds(tree, branch, settings), self.name
            )
            kept = self.final_call and not step.final
            with Budget.shared(settings, state, superstep, kept, step.final) as budget, working(settings, budget) as work:
                update = {**await step.run(handed, context)}
            if work.waited:
                update["started"] = state["started"] + work.waited
            if budget.told:
                update["notices"] = [*budget.told, *update.get("notices", ())]
            return self._moved(step, handed, update, state, settings, superstep)

        node.__name__, node.__doc__ = step.name, step.act.__doc__
        node.__annotations__["state"] = self.state
        return node

    def _moved(self, step: Step, handed: list[Branch], update: Update, state: Any, settings: Any, superstep: int) -> Update:
        """Say of each branch that the step leaves where it goes next, and of those that waited for it."""
        if isinstance(usage := update.get("usage"), Usage):
            update["usage"] = usage.model_copy(update={"superstep": superstep})
        before: Tree = state.get("tree") or {}
        left = update.get("tree") or {}
        if replaced := isinstance(left, Overwrite):
            before, left = {}, left.value
        left = dict(left)
        tree = merge_branches(before, left)
        if step.kind == "state":  # it takes up no single branch: those that are new or wait to begin go on
            left |= {path: branch for path, branch in tree.items() if branch.status == "open" and not branch.next and not branch.evidence}
        turned = self._of_state(step.name, {**state, **update, "tree": tree}, settings)
        moved = {path: branch if turned else self._led(step.name, tree, branch, settings) for path, branch in left.items()}
        tree = merge_branches(tree, moved)
        late = self._joined(before, settings)  # whoever sees them sends them on: `_loose`
        moved |= {path: branch for path, branch in self._joined(tree, settings).items() if path not in late or path in left}
        if turned and turned[0].stopped_by:
            update["stopped_by"] = turned[0].stopped_by
        moved |= {branch.path: branch for branch in handed if branch.path not in left}  # these wait for one that asks the same
        if not moved:
            return update
        moved = {path: branch.model_copy(update={"sent": superstep if branch.next else -1}) for path, branch in moved.items()}
        return {**update, "tree": Overwrite(tree | moved) if replaced else moved}

    def _led(self, name: str, tree: Tree, branch: Branch, settings: Any) -> Branch:
        """Send a branch along the first edge of a step whose condition holds; else it is settled, or rests."""
        branch = branch.model_copy(update={"next": ""})
        if branch.status not in ("open", "answered", "split"):
            return branch
        tree, fork = {**tree, branch.path: branch}, branch.status == "split"

        target = ""
        for way, to in self.edges[name]:
            leads = not fork if way is None else isinstance(way, Condition) and way.of_fork == fork and way.holds(tree, branch, settings)
            if leads:
                target = to
                break
        if target in self.steps and target != self.last:  # a step of the whole state takes up what rests
            return branch if self.steps[target].kind == "state" else branch.model_copy(update={"next": target})
        if fork or any(join.keeps(tree, branch) for join in self.joins):
            return branch
        if branch.status == "answered":
            return branch.to("leaf")
        return branch.to("leaf", note=branch.noted(SEARCHED)) if branch.evidence else branch

    def _joined(self, tree: Tree, settings: Any) -> Tree:
        """Send on the branches that waited for others and are ready."""
        sent: Tree = {}
        for path, branch in tree.items():
            if branch.next:
                continue
            for join, target in self.joins.items():
                if join.waits(tree, branch, settings) and join.ready(tree, branch, settings):
                    sent[path] = branch.model_copy(update={"next": target})
                    break
        return sent

    def _loose(self, tree: Tree, settings: Any) -> Tree:
        """Send on what nobody has yet: branches whose join two steps of one superstep made ready, and what was edited by hand.

        A branch that was opened is searched and answered again; an answer given by hand goes the way of one that the model gave.
        """
        own = self.steps.keys() - self.around - {init_tree.name, self.last}
        reading = any(self.steps[name].kind == "state" for name in own)
        found = self._joined(tree, settings)
        for path, branch in tree.items():
            above = tree.get(branch.parent or "")
            # Its parent says when it begins.
            begins = above is not None and above.next and (above.objection or above.next not in self.joins.values())
            if branch.next or begins or path in found or branch.status not in ("open", "answered") or (reading and branch.evidence):
                continue
            if branch.status == "open" and "retrieve" in self.steps:
                found[path] = branch.model_copy(update={"next": "retrieve", "note": "", "objection": ""})
            elif branch.status == "answered" and not any(join.keeps(tree, branch) for join in self.joins):
                answers = next((name for name in ("decide", "answer", "condense") if name in self.steps), "")
                found[path] = self._led(answers, tree, branch, settings)
        return found

    def _undone(self, tree: Tree, branch: Branch, settings: Any) -> bool:
        """Tell whether a branch was sent on because others were settled, and an edit by hand has opened one of them again."""
        if branch.objection or branch.next not in self.joins.values():
            return False
        rest = branch.model_copy(update={"next": ""})
        at_rest = {**tree, branch.path: rest}
        waiting = [join for join in self.joins if join.waits(at_rest, rest, settings)]
        return bool(waiting) and not any(join.ready(at_rest, rest, settings) for join in waiting)

    def _of_state(self, name: str, state: Any, settings: Any) -> tuple[OfState, str] | None:
        """Give the first edge that a condition of the whole state opens, if one does."""
        return next(((way, to) for way, to in self.edges[name] if isinstance(way, OfState) and way.holds(state, settings)), None)

    def _router(self, name: str) -> Any:
        onward = [to for way, to in self.edges[name] if way is None and to in self.steps and to != self.last]
        read = [to for to in onward if self.steps[to].kind == "state"]

        def route(state: Any) -> list[str]:
            # Not as a parameter: a state edited by hand is routed without a runtime.
            settings = freeze_model(self._settings(get_runtime()), state)
            tree: Tree = state.get("tree") or {}
            if turned := self._of_state(name, state, settings):
                return [turned[1]]
            # Of its own superstep, this step has sent on what says so: other steps have the rest at work. After an edit, nobody has.
            superstep = get_config().get("metadata", {}).get("langgraph_step") if name != self.last else None
            sent = [b.next for b in tree.values() if b.next and (superstep in (None, b.sent)) and not self._undone(tree, b, settings)]
            loose = [] if read else [b.next for b in self._loose(tree, settings).values()]
            targets = dict.fromkeys(target for target in (*sent, *read, *loose) if target in self.steps)
            if targets:
                return list(targets)
            ends = [to for _, to in self.edges[name]]
            return ends if name == self.last or ends == [END] else [self.last]

        return route

    def _settings(self, runtime: Runtime[Any] | None) -> S:
        """Read the settings of a run; of another graph's context, what has the name of a setting counts, the rest is not for us."""
        context = runtime.context if runtime else None
        if isinstance(context, self.settings):
            return context
        given = context if isinstance(context, Mapping) else vars(context) if hasattr(context, "__dict__") else {}
        names = getattr(context, "model_fields_set", given.keys()) & self.settings.model_fields.keys()
        return self.settings.model_validate({name: given[name] for name in names})


__all__ = ["END", "START", "Wiring"]
