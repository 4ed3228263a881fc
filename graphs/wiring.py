"""Graph definitions of strategies: steps, and edges with conditions."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Overwrite

from ramify.graphs.conditions import Condition, EdgeCondition, Join, StateCondition, above_tau
from ramify.nodes.asking.budget import Budget, call_context
from ramify.nodes.init_tree import freeze_model, init_tree
from ramify.nodes.settings import Settings
from ramify.nodes.state import Answer, GraphInput, State, Usage
from ramify.nodes.step import Context, Step, Update
from ramify.nodes.step.langgraph import AsyncGraph, superstep_of
from ramify.nodes.tree import Branch, Tree, merge_branches
from ramify.nodes.tree.notes import SEARCHED
from ramify.tools.errors import UsageError

S = TypeVar("S", bound=Settings)
StepOrName = Step | str


class Wiring(Generic[S]):
    """A graph of steps: after a step, each branch takes the first edge whose condition holds.

    A branch for which none holds is settled, or waits until a join releases it. The last step runs when no other step is running.
    """

    def __init__(self, settings: type[S], state: type[Any] = State, final_call: bool = True) -> None:
        self.settings = settings
        self.state = state
        self.final_call = final_call
        """Whether the last step may call the model, so that budgets reserve a call for it."""
        self.name = ""
        """The name of the strategy, if a registered one was built."""
        self.input_schema: type[Any] = GraphInput
        self.output_schema: type[Any] = Answer
        """Schemas of the graph's input and output."""
        self.steps: dict[str, Step] = {}
        self.edges: dict[str, list[tuple[EdgeCondition | None, str]]] = defaultdict(list)
        """By step: conditions with the steps they lead to; None always holds."""
        self.joins: dict[Join, str] = {}
        self.last_step = ""
        """The name of the step that makes the answer: the one before END or before `append_answer`."""
        self.conversation_steps: frozenset[str] = frozenset()
        """The steps of a conversation, which are not part of the strategy."""

    def path(self, *steps: StepOrName) -> None:
        """Add unconditional edges from each step to the next; START and END are allowed."""
        names = [self._add_step(stop) for stop in steps]
        for one, following in pairwise(names):
            self.edges[one].append((None, following))

    def when(self, step: Step, ways: Mapping[Any, Step], otherwise: Step | None = None) -> None:
        """Add edges to the steps of the first condition that holds, else to `otherwise`; a branch routed to the last step is settled."""
        name = self._add_step(step)
        for way, target in ways.items():
            if isinstance(way, Join):
                self.joins.setdefault(way, self._add_step(target))
            self.edges[name].append((way, self._add_step(target)))
        if otherwise is not None:
            self.edges[name].append((None, self._add_step(otherwise)))

    @cached_property
    def ready(self) -> AsyncGraph:
        """The graph ready to run, without a checkpointer of its own."""
        return self.compile(checkpointer=False)

    @cached_property
    def as_subgraph(self) -> AsyncGraph:
        """The graph ready to run inside another one, with that one's checkpointer."""
        return self.compile()

    def compile(self, settings: S | None = None, **options: Any) -> AsyncGraph:
        """Return the LangGraph; its drawing shows the values of `settings`, the options are those of `StateGraph.compile`."""
        if not self.last_step:
            raise UsageError("the graph has no last step", "end it with finalize, or with a step of your own made by final_step")
        shown = settings or self.settings()
        graph: StateGraph[Any, Any, Any, Any] = StateGraph(
            self.state, context_schema=self.settings, input_schema=self.input_schema, output_schema=self.output_schema
        )
        for name, step in self.steps.items():
            deferred = name == self.last_step and self._runs_parallel_steps()
            graph.add_node(name, self._node(step), defer=deferred, destinations=self._labels(name, shown))
            graph.add_conditional_edges(name, self._router(name))
        graph.add_edge(START, self.edges[START][0][1])
        edges = {(name, target): target != self._only_target(name) for name in self.steps for _, target in self.edges[name]}
        return AsyncGraph.compile(graph, edges, **options)

    def _add_step(self, stop: StepOrName) -> str:
        if isinstance(stop, str):
            return stop
        self.steps.setdefault(stop.name, stop)
        if stop.final and not self.last_step:
            self.last_step = stop.name
        return stop.name

    def _only_target(self, name: str) -> str:
        """Return the target of a step's only, unconditional edge; empty if there are several edges or conditions."""
        ways = self.edges[name]
        late = name == self.last_step and bool(self.joins)  # then it may find that something is not settled yet
        return ways[0][1] if len(ways) == 1 and ways[0][0] is None and not late else ""

    def _runs_parallel_steps(self) -> bool:
        """Return whether branches of one step can take different edges, so that steps run concurrently."""
        led = (
            {to for _, to in ways if to in self.steps and to != self.last_step and self.steps[to].kind != "state"}
            for ways in self.edges.values()
        )
        return any(len(targets) > 1 for targets in led)

    def _labels(self, name: str, settings: Any) -> dict[str, str]:
        """Return the labels of a step's edges, by target."""
        otherwise = "all settled" if name == self.last_step else "otherwise"
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
            if not all(isinstance(branch, Branch) for branch in tree.values()):  # their class had another name then
                raise UsageError("this conversation was stored by another version of ramify", "begin a new one, with another thread id")
            loose = {} if begins else self._route_unassigned(tree, settings)
            if step.name == self.last_step:
                if any(branch.next in self.steps for branch in (*tree.values(), *loose.values())):
                    return {}  # its edges lead to the remaining steps
                state = {**state, "tree": tree | loose}
            superstep = superstep_of(config)
            handed = [branch for branch in (tree | loose).values() if branch.next == step.name]
            whole: Tree = state.get("tree") or {}
            context = Context(
                state, whole, settings, targets, steps, self.final_call, lambda branch: above_tau.holds(tree, branch, settings), self.name
            )
            kept = self.final_call and not step.final
            with Budget.shared(settings, state, superstep, kept, step.final) as budget, call_context(settings, budget) as work:
                update = {**await step.run(handed, context)}
            if work.review_s:
                update["started"] = state["started"] + work.review_s
            if budget.notices:
                update["notices"] = [*budget.notices, *update.get("notices", ())]
            return self._route_results(step, handed, update, state, settings, superstep)

        node.__name__, node.__doc__ = step.name, step.act.__doc__
        node.__annotations__["state"] = self.state
        return node

    def _route_results(self, step: Step, handed: list[Branch], update: Update, state: Any, settings: Any, superstep: int) -> Update:
        """Return a step's update with the next step of each branch, and of branches that waited for these."""
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
        turned = self._first_state_edge(step.name, {**state, **update, "tree": tree}, settings)
        moved = {path: branch if turned else self._route_branch(step.name, tree, branch, settings) for path, branch in left.items()}
        tree = merge_branches(tree, moved)
        late = self._release_joins(before, settings)  # whoever sees them sends them on: `_loose`
        moved |= {path: branch for path, branch in self._release_joins(tree, settings).items() if path not in late or path in left}
        if turned and turned[0].stopped_by:
            update["stopped_by"] = turned[0].stopped_by
        moved |= {branch.path: branch for branch in handed if branch.path not in left}  # these wait for one that asks the same
        if not moved:
            return update
        moved = {path: branch.model_copy(update={"sent": superstep if branch.next else -1}) for path, branch in moved.items()}
        return {**update, "tree": Overwrite(tree | moved) if replaced else moved}

    def _route_branch(self, name: str, tree: Tree, branch: Branch, settings: Any) -> Branch:
        """Return the branch routed along the first edge whose condition holds; otherwise settled, or held back."""
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
        if target in self.steps and target != self.last_step:  # a step of the whole state takes up what rests
            return branch if self.steps[target].kind == "state" else branch.model_copy(update={"next": target})
        if fork or any(join.holds_back(tree, branch) for join in self.joins):
            return branch
        if branch.status == "answered":
            return branch.with_status("leaf")
        return branch.with_status("leaf", note=branch.with_note(SEARCHED)) if branch.evidence else branch

    def _release_joins(self, tree: Tree, settings: Any) -> Tree:
        """Return the waiting branches whose join is ready, routed to its target."""
        sent: Tree = {}
        for path, branch in tree.items():
            if branch.next:
                continue
            for join, target in self.joins.items():
                if join.waits(tree, branch, settings) and join.ready(tree, branch, settings):
                    sent[path] = branch.model_copy(update={"next": target})
                    break
        return sent

    def _route_unassigned(self, tree: Tree, settings: Any) -> Tree:
        """Return unassigned branches, routed: those whose join two concurrent steps made ready, and those edited by hand.

        An opened branch is searched and answered again; an answer given by hand is routed like one of the model.
        """
        own = self.steps.keys() - self.conversation_steps - {init_tree.name, self.last_step}
        reading = any(self.steps[name].kind == "state" for name in own)
        found = self._release_joins(tree, settings)
        for path, branch in tree.items():
            above = tree.get(branch.parent or "")
            # Its parent says when it begins.
            begins = above is not None and above.next and (above.objection or above.next not in self.joins.values())
            if branch.next or begins or path in found or branch.status not in ("open", "answered") or (reading and branch.evidence):
                continue
            if branch.status == "open" and "retrieve" in self.steps:
                found[path] = branch.model_copy(update={"next": "retrieve", "note": "", "objection": ""})
            elif branch.status == "answered" and not any(join.holds_back(tree, branch) for join in self.joins):
                answers = next((name for name in ("decide", "answer", "condense") if name in self.steps), "")
                found[path] = self._route_branch(answers, tree, branch, settings)
        return found

    def _is_stale_join(self, tree: Tree, branch: Branch, settings: Any) -> bool:
        """Return whether a branch was released by a join that an edit by hand has made unready again."""
        if branch.objection or branch.next not in self.joins.values():
            return False
        rest = branch.model_copy(update={"next": ""})
        at_rest = {**tree, branch.path: rest}
        waiting = [join for join in self.joins if join.waits(at_rest, rest, settings)]
        return bool(waiting) and not any(join.ready(at_rest, rest, settings) for join in waiting)

    def _first_state_edge(self, name: str, state: Any, settings: Any) -> tuple[StateCondition, str] | None:
        """Return the first edge whose state condition holds, None if none does."""
        return next(((way, to) for way, to in self.edges[name] if isinstance(way, StateCondition) and way.holds(state, settings)), None)

    def _router(self, name: str) -> Any:
        onward = [to for way, to in self.edges[name] if way is None and to in self.steps and to != self.last_step]
        read = [to for to in onward if self.steps[to].kind == "state"]

        def route(state: Any) -> list[str]:
            # Not as a parameter: a state edited by hand is routed without a runtime.
            settings = freeze_model(self._settings(get_runtime()), state)
            tree: Tree = state.get("tree") or {}
            if turned := self._first_state_edge(name, state, settings):
                return [turned[1]]
            # Of its own superstep, this step has sent on what says so: other steps have the rest at work. After an edit, nobody has.
            superstep = superstep_of(get_config()) if name != self.last_step else None
            sent = [
                b.next for b in tree.values() if b.next and superstep in (None, -1, b.sent) and not self._is_stale_join(tree, b, settings)
            ]
            loose = [] if read else [b.next for b in self._route_unassigned(tree, settings).values()]
            targets = dict.fromkeys(target for target in (*sent, *read, *loose) if target in self.steps)
            if targets:
                return list(targets)
            ends = [to for _, to in self.edges[name]]
            return ends if name == self.last_step or ends == [END] else [self.last_step]

        return route

    def _settings(self, runtime: Runtime[Any] | None) -> S:
        """Return the settings of a run; of another graph's context, values with the names of settings are used."""
        context = runtime.context if runtime else None
        if isinstance(context, self.settings):
            return context
        given = context if isinstance(context, Mapping) else vars(context) if hasattr(context, "__dict__") else {}
        names = getattr(context, "model_fields_set", given.keys()) & self.settings.model_fields.keys()
        return self.settings.model_validate({name: given[name] for name in names})


__all__ = ["END", "START", "Wiring"]
