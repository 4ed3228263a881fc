"""Edit a branch of a question's tree where its run was stored, so that the run goes on from there."""

import time
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from ramify.graphs.wiring import Wiring
from ramify.nodes.init_tree import checked
from ramify.nodes.tree import ROOT, Branch
from ramify.tools.errors import UsageError
from ramify.tools.quoting import truncate_line

BY_HAND = "dropped by the user"
"""The note of a branch that an edit drops."""
_SEARCH = "retrieve"
_QUOTED = 80
Graph = CompiledStateGraph[Any, Any, Any, Any]


class Edit(NamedTuple):
    """What is changed: a branch is asked something else, or dropped where no question is given."""

    path: str
    question: str | None = None

    def applied(self, branch: Branch) -> Branch:
        """Return the branch as the run is to go on with it; UsageError for what is no question."""
        fresh = branch.model_copy(update={"next": "", "sent": -1})
        if self.question is None:
            return fresh.to("pruned", note=BY_HAND)
        return fresh.to("open", question=checked(self.question), note="")


async def fork(wiring: Wiring[Any], graph: Graph, config: RunnableConfig, edit: Edit) -> RunnableConfig:
    """Edit the branch before it was last searched, in the last question of a thread; return where the run goes on.

    What came of other branches before is kept. UsageError where the tree has no such branch, or it was never to be searched.
    """
    moment: StateSnapshot | None = await graph.aget_state(config)
    asked = _questions(moment)
    if edit.path not in (_tree(moment)):
        raise UsageError(f"the last question has no branch {truncate_line(repr(edit.path), _QUOTED)}", "name one of its tree")
    if edit.path == ROOT:
        raise UsageError("the first branch is the question itself", "ask another question instead")
    while moment is not None and _questions(moment) == asked:
        branch = _tree(moment).get(edit.path)
        if branch is not None and branch.status in ("open", "waiting") and _SEARCH in moment.next:
            changed = {"tree": {edit.path: edit.applied(branch)}, "started": time.time()}
            return await graph.aupdate_state(moment.config, changed, as_node=await _step_before(wiring, graph, moment))
        moment = await _parent(graph, moment)
    raise UsageError(f"the branch {edit.path} was never to be searched", "edit the one above it, or ask anew")


async def _step_before(wiring: Wiring[Any], graph: Graph, moment: StateSnapshot) -> str | None:
    """Name the step that led to the search: an edit is taken for its result."""
    before = await _parent(graph, moment)
    while before is not None and (moment.metadata or {}).get("source") == "update":
        moment, before = before, await _parent(graph, before)
    ran = [name for name in (before.next if before else ()) if name in wiring.edges]
    return next((name for name in ran if any(target == _SEARCH for _, target in wiring.edges[name])), ran[-1] if ran else None)


async def _parent(graph: Graph, moment: StateSnapshot) -> StateSnapshot | None:
    return await graph.aget_state(moment.parent_config) if moment.parent_config else None


def _tree(moment: StateSnapshot | None) -> dict[str, Branch]:
    return (moment.values.get("tree") if moment else None) or {}


def _questions(moment: StateSnapshot | None) -> int:
    """Count what was asked on the thread up to then."""
    messages = (moment.values.get("messages") if moment else None) or []
    return sum(isinstance(message, HumanMessage) for message in messages)
