"""A turn to take away: as JSON, as a page, as a Mermaid drawing."""

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ramify.graphs.result import Result
from ramify.studio.drawing.mermaid import tree_mermaid
from ramify.studio.drawing.page import page
from ramify.tools.atomic_file import write_whole
from ramify.tools.errors import UsageError


class Form(NamedTuple):
    """A form that a turn can be written in."""

    media: str
    label: str
    write: Callable[[Result], str]


def _as_json(result: Result) -> str:
    return json.dumps(result.to_json(), ensure_ascii=False, indent=2) + "\n"


FORMS = {
    "json": Form("application/json", "JSON", _as_json),
    "html": Form("text/html", "HTML", page),
    "mmd": Form("text/vnd.mermaid", "Mermaid", lambda result: tree_mermaid(result.tree)),
}
"""By suffix of the file."""


def files(result: Result, name: str) -> list[tuple[str, str, str]]:
    """Give the turn in each form: the form's label, the turn as the address of a link, and the file's name."""
    return [
        (form.label, f"data:{form.media};base64,{b64encode(form.write(result).encode()).decode()}", f"{name}.{suffix}")
        for suffix, form in FORMS.items()
    ]


def save(result: Result, path: str | Path) -> Path:
    """Write the turn into a file, in the form that its suffix names."""
    target = Path(path)
    form = FORMS.get(target.suffix.removeprefix("."))
    if form is None:
        raise UsageError(f"cannot tell from {target.name!r} how to write the turn", f"let it end in .{', .'.join(FORMS)}")
    write_whole(form.write(result), target)
    return target
