"""What a question is at, shown while it is answered: each branch with what is being done to it."""

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from ramify.nodes.tree import DROPPED, Branch, Tree, graft
from ramify.studio.consoles import note, one_line
from ramify.studio.terminal import style_of
from ramify.studio.words import kind_of

VERBS = {
    "plant": "getting ready",
    "retrieve": "searching",
    "answer": "answering",
    "decide": "deciding",
    "decompose": "splitting",
    "score_pair": "checking the pair",
    "rubric": "checking the pair",
    "extract_entities": "naming entities",
    "judge": "judging",
    "aggregate": "joining answers",
    "next_question": "asking on",
    "plan": "planning",
    "filter": "reading",
    "finalize": "concluding",
    "compress": "concluding",
}
"""Steps that take time, as a reader would put them."""
TAKES_OPEN = "retrieve"


class Watching:
    """Follow a run: notices as they come, and on a terminal the growing tree, which vanishes at the end."""

    def __init__(self, console: Console) -> None:
        self.tree: Tree = {}
        self.busy: dict[str, tuple[str, str]] = {}
        """Which task does what to which branch, by the task's id."""
        self.doing = "getting ready"
        self._noticed: set[str] = set()
        self._began = time.monotonic()
        self._spinner = Spinner("dots")
        self._live = (
            Live(console=console, get_renderable=self.picture, transient=True, refresh_per_second=10) if console.is_terminal else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live:
            self._live.stop()

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
        for notice in state.get("notices") or ():
            if notice not in self._noticed:
                self._noticed.add(notice)
                note(notice)

    def _begin(self, event: Mapping[str, Any]) -> None:
        """A step begins with the whole state, the task of a branch with its arguments."""
        name, given = event["name"], event["input"]
        if isinstance(given, Mapping):
            self.doing = VERBS.get(name, self.doing)
            if name == TAKES_OPEN:
                wanted = [path for path, branch in self.tree.items() if branch.status == "open"]
                self.busy |= {f"{event['id']} {path}": (path, VERBS[name]) for path in wanted}
        elif (branch := _branch_of(given)) is not None:
            self.busy[event["id"]] = (branch.path, VERBS.get(name, name))

    def _end(self, event: Mapping[str, Any]) -> None:
        self.busy = {key: doing for key, doing in self.busy.items() if key.split()[0] != event["id"]}
        result = event.get("result")
        growth = result.get("__return__") if isinstance(result, Mapping) else None
        if isinstance(growth, Mapping):
            self.tree = graft(self.tree, {branch["path"]: branch for branch in growth.get("branches", ())})

    def picture(self) -> Group:
        """Draw what is going on, a line a branch."""
        busy = dict(self.busy.values())
        head = Text(f" {self.doing} · {time.monotonic() - self._began:.0f} s", style="bold")
        self._spinner.text = head
        lines = [_line(branch, busy.get(branch.path)) for branch in self.tree.values()]
        return Group(self._spinner, *lines)


def _branch_of(given: Any) -> Branch | None:
    """Find the branch that a task works on among its arguments."""
    arguments = given[0] if isinstance(given, tuple) and given else ()
    for item in arguments:
        branch = getattr(item, "branch", item)
        if isinstance(branch, Branch):
            return branch
    return None


def _line(branch: Branch, doing: str | None) -> Text:
    line = Text("  " * (branch.depth + 1), no_wrap=True, overflow="ellipsis")
    line.append(f"{branch.path} ", style="bold")
    line.append(f"{doing} …" if doing else branch.status, style="yellow" if doing else style_of(branch.status))
    line.append(f"  {one_line(kind_of(branch))}", style="dim" if branch.status in DROPPED else "")
    if branch.answer is not None and not doing:
        line.append(f" → {one_line(branch.answer)}", style="bold")
    return line
