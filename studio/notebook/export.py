"""Export of a turn as JSON, page or Mermaid drawing."""

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ramify.graphs.result import Result
from ramify.studio.drawing.mermaid import tree_mermaid
from ramify.studio.drawing.page import page
from ramify.tools.errors import UsageError
from ramify.tools.new_files import write_whole


class Form(NamedTuple):
    """An export format."""

    media: str
    label: str
    write: Callable[[Result], str]


FORMS = {
    "json": Form("application/json", "JSON", lambda result: json.dumps(result.to_json(), ensure_ascii=False, indent=2) + "\n"),
    "html": Form("text/html", "HTML", page),
    "mmd": Form("text/vnd.mermaid", "Mermaid", lambda result: tree_mermaid(result.tree)),
}
"""By suffix of the file."""


def files(result: Result, name: str) -> list[tuple[str, str, str]]:
    """Return for each format its label, the turn as a data URL, and the file name."""
    return [
        (form.label, f"data:{form.media};base64,{b64encode(form.write(result).encode()).decode()}", f"{name}.{suffix}")
        for suffix, form in FORMS.items()
    ]


def save(result: Result, path: str | Path) -> Path:
    """Write the turn to a file, in the format of its suffix."""
    target = Path(path)
    form = FORMS.get(target.suffix.removeprefix("."))
    if form is None:
        raise UsageError(f"{target.name!r} has no known suffix", f"use .{', .'.join(FORMS)}")
    write_whole(form.write(result), target)
    return target
