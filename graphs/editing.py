"""Edit a branch in the stored tree of a question, so that the run continues from there."""

import time
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from ramify.graphs.wiring import Wiring
from ramify.nodes.init_tree import validate_question
from ramify.nodes.tree import ROOT, Branch
from ramify.tools.errors import UsageError
from ramify.tools.quoting import truncate_line

DROPPED_BY_USER = "dropped by the user"
"""The note of a branch that an edit drops."""
_SEARCH = "retrieve"
_MAX_QUOTED_CHARS = 80
Graph = CompiledStateGraph[Any, Any, Any, Any]


class Edit(NamedTuple):
    """An edit: the new question of a branch, or None to drop the branch."""

    path: str
    question: str | None = None

    def apply(self, branch: Branch) -> Branch:
        """Return the edited branch; UsageError for an invalid question."""
        fresh = branch.model_copy(update={"next": "", "sent": -1})
        if self.question is None:
            return fresh.with_status("pruned", note=DROPPED_BY_USER)
        return fresh.with_status("open", question=validate_question(self.question), note="")


async def fork_run(wiring: Wiring[Any], graph: Graph, config: RunnableConfig, edit: Edit) -> RunnableConfig:
    """Edit a branch of a thread's last question before its last search; return the config from which the run continues.

    Earlier results of other branches are kept. UsageError if the tree has no such branch, or it was never searched.
    """
    moment: StateSnapshot | None = await graph.aget_state(config)
    asked = _questions(moment)
    if edit.path not in (_tree(moment)):
        raise UsageError(f"the last question has no branch {truncate_line(repr(edit.path), _MAX_QUOTED_CHARS)}", "name one of its tree")
    if edit.path == ROOT:
        raise UsageError("the first branch is the question itself", "ask another question instead")
    while moment is not None and _questions(moment) == asked:
        branch = _tree(moment).get(edit.path)
        if branch is not None and branch.status in ("open", "waiting") and _SEARCH in moment.next:
            changed = {"tree": {edit.path: edit.apply(branch)}, "started": time.time()}
            return await graph.aupdate_state(moment.config, changed, as_node=await _step_before(wiring, graph, moment))
        moment = await _parent(graph, moment)
    raise UsageError(f"the branch {edit.path} was never searched", "edit its parent, or ask again")


async def _step_before(wiring: Wiring[Any], graph: Graph, moment: StateSnapshot) -> str | None:
    """Return the name of the step before the search, as whose result the edit is stored."""
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
    """Return the number of questions on the thread up to a checkpoint."""
    messages = (moment.values.get("messages") if moment else None) or []
    return sum(isinstance(message, HumanMessage) for message in messages)
