"""ramify chat: a conversation in the terminal."""

import sys
from typing import Annotated

import typer

from ramify.studio.console.options import (
    AllowPickle,
    AskFirst,
    BaseUrl,
    Filters,
    Indexes,
    ModelName,
    Preset,
    Profile,
    Settings,
    ShowTree,
    Strategy,
    Style,
    question_options,
)
from ramify.studio.console.streams import err, note
from ramify.tools.errors import UsageError

PROMPT = "ask> "
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", metavar="ADDRESS", envvar="RAMIFY_MEMORY",
        help="Where conversations are stored: postgresql://HOST/DATABASE or sqlite:FILE. Without it, they are not stored.",
    ),
]  # fmt: skip
Thread = Annotated[
    str | None, typer.Option("--thread", metavar="NAME", help="The conversation to continue, or the name of a new one. [a new one]")
]
Shared = Annotated[
    bool, typer.Option("--shared", help="Make the file of --memory readable for all users of this machine, not only for its owner.")
]
Threads = Annotated[bool, typer.Option("--threads", help="List the stored conversations and exit.")]


def chat_command(
    strategy: Strategy = None,
    index: Indexes = None,
    allow_pickle: AllowPickle = False,
    model: ModelName = None,
    base_url: BaseUrl = None,
    settings: Settings = None,
    preset: Preset = None,
    profile: Profile = None,
    filters: Filters = None,
    style: Style = None,
    ask_first: AskFirst = None,
    tree: ShowTree = False,
    memory: Memory = None,
    thread: Thread = None,
    threads: Threads = False,
    shared: Shared = False,
) -> None:
    """Chat with your documents: each question is answered with its sources; follow-up questions may refer to earlier ones."""
    if memory is None and (thread or threads):
        raise UsageError("no conversations are stored", "give their address: --memory postgresql://HOST/DATABASE or sqlite:FILE")
    if shared:
        from ramify.graphs.memory import share_memory

        if memory is None:
            raise UsageError("--shared is for stored conversations", "add --memory sqlite:FILE, or omit it")
        share_memory(memory)
    if memory is not None and threads:
        from ramify.studio.console.terminal_chat import list_threads

        list_threads(memory)
        return
    flags = {"model": model, "base_url": base_url, "preset": preset, "profile": profile, "style": style, "ask_first": ask_first}
    options = question_options(settings, index, allow_pickle, filters, **flags)
    with err().status("loading …"):
        from ramify.graphs.choice import choose_strategy
        from ramify.studio.console.terminal_chat import TerminalChat

        strategy = strategy or choose_strategy(options)
        terminal_chat = TerminalChat(strategy, options, tree, memory, thread)
    if sys.stdin.isatty():
        note(f"{strategy} · /help lists the commands, Ctrl-D quits")
    terminal_chat.recall()
    while not terminal_chat.is_finished and (line := _read_line()) is not None:
        terminal_chat.process_line(line)


def _read_line() -> str | None:
    """Return the next line, or None at the end of input; show a prompt only on a terminal."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line if line else None
    import readline  # noqa: F401  # adds editing keys and history to `input`

    try:
        return input(PROMPT)
    except (EOFError, KeyboardInterrupt):
        return None
