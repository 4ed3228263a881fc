"""Graph definitions of strategies: steps, and edges with conditions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Overwrite

from ramify.graphs.conditions import Condition, EdgeCondition, Join, StateCondition, above_tau
from ramify.graphs.drawing import DrawnEdge, draw_edges, to_mermaid
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
        self.modules: dict[str, tuple[str, ...]] = {}
        """By name of a module in the paper: its steps."""
        self.joins: dict[Join, str] = {}
        self.last_step = ""
        """The name of the step that makes the answer: the one before END or before `append_answer`."""
        self.conversation_steps: frozenset[str] = frozenset()
        """The steps of a conversation, which are not part of the strategy."""

    def path(self, *steps: StepOrName) -> None:
        """Add unconditional edges from each step to the next; START and END are allowed."""
        for source, target in pairwise([self._add_step(step) for step in steps]):
            self.edges[source].append((None, target))

    def when(self, step: Step, targets: Mapping[Any, Step], otherwise: Step | None = None) -> None:
        """Add edges to the steps of the first condition that holds, else to `otherwise`; a branch routed to the last step is settled."""
        name = self._add_step(step)
        for condition, target in targets.items():
            if isinstance(condition, Join):
                self.joins.setdefault(condition, self._add_step(target))
            self.edges[name].append((condition, self._add_step(target)))
        if otherwise is not None:
            self.edges[name].append((None, self._add_step(otherwise)))

    def module(self, name: str, *steps: Step) -> None:
        """Draw these steps as one module of the paper; those that the graph does not have are left out."""
        self.modules[name] = tuple(step.name for step in steps)

    def drawn_edges(self, settings: S | None = None) -> list[DrawnEdge]:
        """Return the edges of the drawing, with the values of settings, by default of the default ones, and without what they exclude."""
        waiting = self.last_step if self.joins else ""  # when it runs, something may not be settled yet
        return draw_edges(self.edges, settings or self.settings(), waiting)

    def draw(self, settings: S | None = None) -> str:
        """Return a drawing in Mermaid's notation, with the modules of the paper."""
        return to_mermaid(self.drawn_edges(settings), self.edges[START][0][1], self.modules)

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
        drawn = self.drawn_edges(settings)
        graph: StateGraph[Any, Any, Any, Any] = StateGraph(
            self.state, context_schema=self.settings, input_schema=self.input_schema, output_schema=self.output_schema
        )
        for name, step in self.steps.items():
            deferred = name == self.last_step and self._runs_parallel_steps()
            graph.add_node(name, self._node(step), defer=deferred, destinations=_labels(drawn, name))
            graph.add_conditional_edges(name, self._router(name))
        graph.add_edge(START, self.edges[START][0][1])
        edges = {(edge.source, edge.target): edge.kind != "always" for edge in drawn if edge.source != START}
        accepts_above_tau = any(
            isinstance(condition, Condition) and condition.above_tau and target == self.last_step
            for edges in self.edges.values()
            for condition, target in edges
        )
        return AsyncGraph.compile(graph, edges, accepts_above_tau=accepts_above_tau, **options)

    def _add_step(self, stop: StepOrName) -> str:
        if isinstance(stop, str):
            return stop
        self.steps.setdefault(stop.name, stop)
        if stop.final and not self.last_step:
            self.last_step = stop.name
        return stop.name

    def _runs_parallel_steps(self) -> bool:
        """Return whether branches of one step can take different edges, so that steps run concurrently."""
        return any(
            len({to for _, to in edges if to in self.steps and to != self.last_step and self.steps[to].kind != "state"}) > 1
            for edges in self.edges.values()
        )

    def _node(self, step: Step) -> Any:
        first = self.edges[START][0][1]
        steps = frozenset(self.steps)
        targets = frozenset(
            to for condition, to in self.edges[step.name] if not isinstance(condition, Join)
        )  # a join sends on another branch

        async def node(state: Any, runtime: Runtime[Any], config: RunnableConfig) -> Update:
            settings: Settings = self._settings(runtime)
            begins = step.name in (init_tree.name, first)
            if not begins:
                settings = freeze_model(settings, state)
            tree: Tree = state.get("tree") or {}
            if not all(isinstance(branch, Branch) for branch in tree.values()):  # their class had another name then
                raise UsageError("this conversation was stored by another version of ramify", "begin a new one, with another thread id")
            unassigned = {} if begins else self._route_unassigned(tree, settings)
            if step.name == self.last_step:
                if any(branch.next in self.steps for branch in (*tree.values(), *unassigned.values())):
                    return {}  # its edges lead to the remaining steps
                state = {**state, "tree": tree | unassigned}
            superstep = superstep_of(config)
            branches = [branch for branch in (tree | unassigned).values() if branch.next == step.name]
            whole: Tree = state.get("tree") or {}
            context = Context(
                state, whole, settings, targets, steps, self.final_call, lambda branch: above_tau.holds(tree, branch, settings), self.name
            )
            reserves = self.final_call and not step.final
            with Budget.shared(settings, state, superstep, reserves, step.final) as budget, call_context(settings, budget) as work:
                update = {**await step.run(branches, context)}
            if work.review_s:
                update["started"] = state["started"] + work.review_s
            if budget.notices:
                update["notices"] = [*budget.notices, *update.get("notices", ())]
            return self._route_results(step, branches, update, state, settings, superstep)

        node.__name__, node.__doc__ = step.name, step.act.__doc__
        node.__annotations__["state"] = self.state
        return node

    def _route_results(self, step: Step, branches: list[Branch], update: Update, state: Any, settings: Any, superstep: int) -> Update:
        """Return a step's update with the next step of each branch, and of branches that waited for these."""
        if isinstance(usage := update.get("usage"), Usage):
            update["usage"] = usage.model_copy(update={"superstep": superstep})
        before: Tree = state.get("tree") or {}
        results = update.get("tree") or {}
        if replaced := isinstance(results, Overwrite):
            before, results = {}, results.value
        results = dict(results)
        tree = merge_branches(before, results)
        if step.kind == "state":  # it takes up no single branch: those that are new or wait to begin go on
            results |= {
                path: branch for path, branch in tree.items() if branch.status == "open" and not branch.next and not branch.evidence
            }
        edge = self._first_state_edge(step.name, {**state, **update, "tree": tree}, settings)
        routed = {path: branch if edge else self._route_branch(step.name, tree, branch, settings) for path, branch in results.items()}
        tree = merge_branches(tree, routed)
        ready_before = self._release_joins(before, settings)  # whoever sees them routes them: `_route_unassigned`
        released = self._release_joins(tree, settings).items()
        routed |= {path: branch for path, branch in released if path not in ready_before or path in results}
        if edge and edge[0].stopped_by:
            update["stopped_by"] = edge[0].stopped_by
        routed |= {branch.path: branch for branch in branches if branch.path not in results}  # these wait for one that asks the same
        if not routed:
            return update
        routed = {path: branch.model_copy(update={"sent": superstep if branch.next else -1}) for path, branch in routed.items()}
        return {**update, "tree": Overwrite(tree | routed) if replaced else routed}

    def _route_branch(self, name: str, tree: Tree, branch: Branch, settings: Any) -> Branch:
        """Return the branch routed along the first edge whose condition holds; otherwise settled, or held back."""
        branch = branch.model_copy(update={"next": ""})
        if branch.status not in ("open", "answered", "split"):
            return branch
        tree, fork = {**tree, branch.path: branch}, branch.status == "split"

        target = ""
        for condition, to in self.edges[name]:
            if condition is None:
                leads = not fork
            else:
                leads = isinstance(condition, Condition) and condition.of_fork == fork and condition.holds(tree, branch, settings)
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
        released: Tree = {}
        for path, branch in tree.items():
            if branch.next:
                continue
            for join, target in self.joins.items():
                if join.waits(tree, branch, settings) and join.ready(tree, branch, settings):
                    released[path] = branch.model_copy(update={"next": target})
                    break
        return released

    def _route_unassigned(self, tree: Tree, settings: Any) -> Tree:
        """Return unassigned branches, routed: those whose join two concurrent steps made ready, and those edited by hand.

        An opened branch is searched and answered again; an answer given by hand is routed like one of the model.
        """
        own = self.steps.keys() - self.conversation_steps - {init_tree.name, self.last_step}
        has_state_step = any(self.steps[name].kind == "state" for name in own)
        routed = self._release_joins(tree, settings)
        for path, branch in tree.items():
            parent = tree.get(branch.parent or "")
            # Its parent says when it begins.
            is_held = parent is not None and parent.next and (parent.objection or parent.next not in self.joins.values())
            if branch.next or is_held or path in routed or branch.status not in ("open", "answered"):
                continue
            if has_state_step and branch.evidence:
                continue
            if branch.status == "open" and "retrieve" in self.steps:
                routed[path] = branch.model_copy(update={"next": "retrieve", "note": "", "objection": ""})
            elif branch.status == "answered" and not any(join.holds_back(tree, branch) for join in self.joins):
                answers = next((name for name in ("decide", "answer", "condense") if name in self.steps), "")
                routed[path] = self._route_branch(answers, tree, branch, settings)
        return routed

    def _is_stale_join(self, tree: Tree, branch: Branch, settings: Any) -> bool:
        """Return whether a branch was released by a join that an edit by hand has made unready again."""
        if branch.objection or branch.next not in self.joins.values():
            return False
        resting = branch.model_copy(update={"next": ""})
        tree = {**tree, branch.path: resting}
        waiting = [join for join in self.joins if join.waits(tree, resting, settings)]
        return bool(waiting) and not any(join.ready(tree, resting, settings) for join in waiting)

    def _first_state_edge(self, name: str, state: Any, settings: Any) -> tuple[StateCondition, str] | None:
        """Return the first edge whose state condition holds, None if none does."""
        return next(
            (
                (condition, to)
                for condition, to in self.edges[name]
                if isinstance(condition, StateCondition) and condition.holds(state, settings)
            ),
            None,
        )

    def _router(self, name: str) -> Any:
        onward = [to for condition, to in self.edges[name] if condition is None and to in self.steps and to != self.last_step]
        state_steps = [to for to in onward if self.steps[to].kind == "state"]

        def route(state: Any) -> list[str]:
            # Not as a parameter: a state edited by hand is routed without a runtime.
            settings = freeze_model(self._settings(get_runtime()), state)
            tree: Tree = state.get("tree") or {}
            if edge := self._first_state_edge(name, state, settings):
                return [edge[1]]
            # Of its own superstep, this step has sent on what says so: other steps have the rest at work. After an edit, nobody has.
            superstep = superstep_of(get_config()) if name != self.last_step else -1
            sent = [b.next for b in tree.values() if b.next and superstep in (-1, b.sent) and not self._is_stale_join(tree, b, settings)]
            unassigned = [] if state_steps else [b.next for b in self._route_unassigned(tree, settings).values()]
            targets = dict.fromkeys(target for target in (*sent, *state_steps, *unassigned) if target in self.steps)
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
        values = context if isinstance(context, Mapping) else vars(context) if hasattr(context, "__dict__") else {}
        names = getattr(context, "model_fields_set", values.keys()) & self.settings.model_fields.keys()
        return self.settings.model_validate({name: values[name] for name in names})


def _labels(drawn: Iterable[DrawnEdge], source: str) -> dict[str, str]:
    """Return the labels of a step's edges, by target."""
    labels: dict[str, list[str]] = {}
    for edge in drawn:
        if edge.source == source:
            labels.setdefault(edge.target, []).append(edge.label)
    return {target: " or ".join(texts) for target, texts in labels.items()}


__all__ = ["END", "START", "Wiring"]
