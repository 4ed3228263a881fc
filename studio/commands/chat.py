"""ramify chat: a conversation in the terminal."""

import sys
from typing import Annotated

import typer

from ramify.studio.console.options import BaseUrl, Filters, ModelName, Preset, Settings, ShowTree, Strategy, Where, options_of, read_filter
from ramify.studio.console.streams import err, note
from ramify.tools.errors import UsageError

PROMPT = "ask> "
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", metavar="ADDRESS", envvar="RAMIFY_MEMORY",
        help="Where conversations are kept: postgresql://HOST/DATABASE or sqlite:FILE. Without it, they end with the command.",
    ),
]  # fmt: skip
Thread = Annotated[
    str | None, typer.Option("--thread", metavar="NAME", help="The conversation to go on with, or to begin under this name. [a new one]")
]
Shared = Annotated[
    bool, typer.Option("--shared", help="Let everybody on this machine read the file of --memory, which is its owner's alone when new.")
]
Threads = Annotated[bool, typer.Option("--threads", help="List the conversations that are kept, and ask nothing.")]


def chat(
    strategy: Strategy = "prune",
    index: Where = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    settings: Settings = None,
    preset: Preset = None,
    filters: Filters = None,
    tree: ShowTree = False,
    memory: Memory = None,
    thread: Thread = None,
    threads: Threads = False,
    shared: Shared = False,
) -> None:
    """Talk with your documents: questions one after another, each answered with its sources; a follow-up may lean on the ones before."""
    if memory is None and (thread or threads):
        raise UsageError("no conversations are kept", "say where they are: --memory postgresql://HOST/DATABASE or sqlite:FILE")
    if shared:
        from ramify.graphs.memory import share_memory

        if memory is None:
            raise UsageError("--shared is for conversations that are kept", "say where: --memory sqlite:FILE; or leave it out")
        share_memory(memory)
    if memory is not None and threads:
        from ramify.studio.console.talk import list_threads

        list_threads(memory)
        return
    options = options_of(settings, index=index, model=model, base_url=base_url, filter=read_filter(filters), preset=preset)
    with err().status("loading …"):
        from ramify.studio.console.talk import Talk

        talk = Talk(strategy, options, tree, memory, thread)
    if sys.stdin.isatty():
        note(f"{strategy} · /help says what else can be typed, Ctrl-D leaves")
    talk.recall()
    while not talk.over and (line := _line()) is not None:
        talk.take(line)


def _line() -> str | None:
    """Read what is typed; none at the end. Where a program writes the lines, nothing is shown for it."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line if line else None
    import readline  # noqa: F401  # gives `input` its keys: arrows, history

    try:
        return input(PROMPT)
    except (EOFError, KeyboardInterrupt):
        return None
