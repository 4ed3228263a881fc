"""Follow a run by its events: the tree as it is now, which branch is at what, and what there is to tell."""

from collections.abc import Callable, Mapping
from typing import Any

from ramify.nodes.tree import Branch, Passage, Tree, graft

VERBS = {
    "plant": "getting ready",
    "contextualize": "understanding the follow-up",
    "retrieve": "searching",
    "answer": "answering",
    "decide": "deciding",
    "decompose": "splitting",
    "score_pair": "checking the pair",
    "extract_entities": "naming entities",
    "judge": "judging",
    "aggregate": "joining answers",
    "next_question": "asking on",
    "plan": "planning",
    "filter": "reading",
    "search_suggested": "searching anew",
    "retrieve_reports": "looking up reports",
    "map_report": "reading reports",
    "reduce": "joining answers",
    "finalize": "concluding",
    "compress": "concluding",
}
"""Steps that take time, as a reader would put them."""
TAKES_OPEN = "retrieve"
FINISHED = "finished"
WARNING = "warning: "
"""Before a notice that comes with a failure."""


class Following:
    """What is known of a run so far; call it with each of the run's events."""

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self.tree: Tree = {}
        self.passages: dict[str, Passage] = {}
        self.question = ""
        self.doing = VERBS["plant"]
        self.notices: list[str] = []
        self._tell = tell
        self._tasks: dict[str, tuple[str, str]] = {}
        """Which task does what to which branch, by the task's id."""

    @property
    def busy(self) -> dict[str, str]:
        """Give what is being done to each branch that is at work, by path."""
        return dict(self._tasks.values())

    def __call__(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take in an event of the run."""
        if kind == "values":
            self._take_state(event)
        elif kind == "tasks" and "input" in event:
            self._begin(event)
        elif kind == "tasks":
            self._end(event)

    def _take_state(self, state: Mapping[str, Any]) -> None:
        self.tree = dict(state.get("tree") or self.tree)
        self.passages = dict(state.get("passages") or self.passages)
        self.question = state.get("question") or self.question
        for notice in state.get("notices") or ():
            if notice not in self.notices:
                self.notices.append(notice)
                if self._tell is not None:
                    failed = state.get("stopped_by", FINISHED) != FINISHED
                    self._tell(f"{WARNING}{notice}" if failed else notice)

    def _begin(self, event: Mapping[str, Any]) -> None:
        """A step begins with the whole state, the task of a branch with its arguments."""
        name, given = event["name"], event["input"]
        if isinstance(given, Mapping):
            self.doing = VERBS.get(name, self.doing)
            if name == TAKES_OPEN:
                wanted = [path for path, branch in self.tree.items() if branch.next == name]
                self._tasks |= {f"{event['id']} {path}": (path, VERBS[name]) for path in wanted}
        elif (branch := branch_of(given)) is not None:
            self._tasks[event["id"]] = (branch.path, VERBS.get(name, name))

    def _end(self, event: Mapping[str, Any]) -> None:
        self._tasks = {key: doing for key, doing in self._tasks.items() if key.split()[0] != event["id"]}
        result = event.get("result")
        growth = result.get("__return__") if isinstance(result, Mapping) else None
        if isinstance(growth, Mapping):
            self.tree = graft(self.tree, {branch["path"]: branch for branch in growth.get("branches", ())})


def branch_of(given: Any) -> Branch | None:
    """Find the branch that a task works on among its arguments."""
    arguments = given[0] if isinstance(given, tuple) and given else ()
    for item in arguments:
        branch = getattr(item, "branch", item)
        if isinstance(branch, Branch):
            return branch
    return None
