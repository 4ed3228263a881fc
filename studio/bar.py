"""A progress bar on stderr: how far, how fast, how long still."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from ramify.studio.consoles import err
from ramify.tools.index.progress import Progress as Report

VERBS = {"documents": "reading", "passages": "encoding", "vectors": "linking"}


class Rate(ProgressColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        """Show the speed, once there is one."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")


@contextmanager
def bar() -> Iterator[Report]:
    """Show a bar for each unit of work while the block runs; nothing where stderr is no terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description:<20}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, console=err(), transient=True, disable=not err().is_terminal) as progress:
        tasks: dict[str, TaskID] = {}

        def report(done: int, total: int | None, unit: str) -> None:
            if unit not in tasks:
                for earlier in tasks.values():  # what had no known end has reached it
                    progress.update(earlier, total=progress.tasks[earlier].completed)
                tasks[unit] = progress.add_task(f"{VERBS.get(unit, 'counting')} {unit}", total=total)
            progress.update(tasks[unit], completed=done, total=total)

        yield report
