"""ramify watch: keep an index up to date while files change."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.studio.console.streams import err, note, say
from ramify.tools.errors import RamifyError
from ramify.tools.quoting import one_line
from ramify.tools.user_input import check_text

if TYPE_CHECKING:
    from ramify.tools.index.build import Built

Folders = Annotated[list[Path], typer.Argument(metavar="DIR", help="Folders of documents.")]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="INDEX",
        help="Folder or address of the index: an existing one is updated as it was made, a new one is made with the defaults of "
        "`ramify index`.",
        callback=check_text,
    ),
]


def watch(folders: Folders, out_: Out) -> None:
    """Keep an index up to date: new, changed and deleted files are indexed within seconds, until Ctrl-C."""
    with err().status("loading …"):
        from ramify.graphs.run import blocking
        from ramify.tools.index.index_store import store_at
        from ramify.tools.index.watching import watch as keep_up_to_date

        teller = Teller(store_at(out_).where)
    note(f"watching {', '.join(map(one_line, folders))}; Ctrl-C ends it")
    blocking(keep_up_to_date(folders, out_, teller))


class Teller:
    """Prints what each build did, and what is new about files that were left out."""

    def __init__(self, where: str) -> None:
        self._where = one_line(where)
        self._told: set[str] = set()
        self._failed = ""

    def __call__(self, told: "Built | RamifyError") -> None:
        """Print a build, or an error that is not the last one again."""
        from ramify.studio.console.building import remarked, skipped, taken_in

        if isinstance(told, RamifyError):
            if str(told) != self._failed:
                note(f"not indexed: {told}")
            self._failed = str(told)
            return
        lines = [*skipped(told.skipped, verbose=True), *remarked(told.remarks, verbose=True)]
        for line in lines:
            if line not in self._told:
                note(line)
        self._told, self._failed = set(lines), ""
        say(f"{self._where}: {taken_in(told)}")
