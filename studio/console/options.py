"""Options shared by several commands, parsing of KEY=VALUE, and --ray with its optional value."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.server_address import single_address
from ramify.tools.user_input import check_text as check_text  # of every command

T = TypeVar("T")


def check_optional_text(text: str | None) -> str | None:
    """Return an optional text; raise UsageError if it is not in the terminal's encoding."""
    return text and check_text(text)


STRATEGY_HELP = "prune, tor, mcts, split, iterative, chain, ircot, self-ask, react, naive, global or closed-book."
Strategy = Annotated[str | None, typer.Option(metavar="NAME", help=f"{STRATEGY_HELP} [prune; split for a small language model]")]
StrategyArgument = Annotated[str, typer.Argument(metavar="STRATEGY", help=STRATEGY_HELP)]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", metavar="DIR", help="Folder or address of an index; repeatable, for several. [the demo corpus]"),
]
AllowPickle = Annotated[
    bool,
    typer.Option("--allow-dangerous-deserialization", help="Load --index faiss:DIR, saved by LangChain: its pickle can run any code."),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="auto, extractive, extractive:large, ollama:NAME, gguf:PATH, or a provider:model of LangChain. [auto]",
    ),
]
BaseUrl = Annotated[
    list[str] | None,
    typer.Option("--base-url", metavar="URL", help="Address of the model's server (Ollama, vLLM, llama.cpp)."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting or argument of the strategy: see `ramify settings STRATEGY`."),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Options that belong together: paper, for tor, prune, iterative and global; --set overrides it.",
    ),
]
Style = Annotated[
    str | None,
    typer.Option(
        metavar="full|quoted|short",
        help="full: the answer in sentences, too; quoted: sentences of the sources; short: the short answer alone.",
    ),
]


def _resolve_profile(path: str | None) -> str | None:
    """Return the full path of a profile; raise InputError for an invalid one, before anything is loaded."""
    if path is None:
        return None
    from ramify.tools.profile import load_profile

    load_profile(path)
    return str(Path(path).expanduser().absolute())


Profile = Annotated[
    str | None,
    typer.Option(
        "--profile", metavar="FILE", callback=_resolve_profile, help="A profile of `ramify calibrate`: unsure answers are withheld."
    ),
]
AskFirst = Annotated[
    str | None,
    typer.Option(
        metavar="splits|unsure", help="Ask for your decision before a question is split, or an unsure answer is used or returned."
    ),
]
Filters = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="KEY=VALUE", help="Only passages whose metadata has this value; repeatable, all must match."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one object and nothing else.")]
ShowTree = Annotated[bool, typer.Option("--tree", help="Print the tree of sub-questions as well.")]
RAY_OPTION = "--ray"
RAY_HELP = "of this machine's cores, or the one at ADDRESS (auto, HOST:PORT, ray://HOST:PORT)"
"""Help text of --ray."""
RAY_DEFAULT = "local"
_RAY_ADDRESS = re.compile(r"auto|local|ray://.*|\S+:\d+|\d+(\.\d+){3}")

LITERALS = {"none": None, "true": True, "false": False}
"""Values that are Python literals, not JSON."""


def choose_one(choices: Sequence[T], value: str, option: str) -> T:
    """Return the choice equal to the value; raise UsageError if there is none."""
    choice = next((choice for choice in choices if choice == value), None)
    if choice is None:
        raise UsageError(f"{option} {value!r} is not valid", f"choose one of {', '.join(map(str, choices))}")
    return choice


def split_names(text: str | None) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def read_pairs(texts: Iterable[str], option: str) -> dict[str, Any]:
    """Parse KEY=VALUE pairs, values as by `read_value`; raise UsageError for other forms and repeated keys."""
    pairs: dict[str, Any] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        key = key.strip()
        if not (separator and key):
            raise UsageError(f"{option} {text!r} is not KEY=VALUE", f"write it as {option} k=8")
        if key in pairs:
            raise UsageError(f"{option} gives {key!r} twice", "give it once")
        pairs[key] = read_value(value.strip())
    return pairs


def read_value(text: str) -> Any:
    """Parse a value as JSON if possible, else return the text."""
    if text.casefold() in LITERALS:
        return LITERALS[text.casefold()]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def read_filter(texts: list[str] | None) -> dict[str, Any] | None:
    """Parse --filter; return None if it is empty."""
    return read_pairs(texts or [], "--filter") or None


def load_stores(index: list[str] | None, allow_pickle: bool) -> Sequence[Any] | None:
    """Return the indexes with addresses of FAISS stores replaced by the loaded stores; raise UsageError if that is not allowed."""
    if not any(place.startswith("faiss:") for place in index or ()):
        return index  # without imports in the usual case
    from ramify.tools.index.index_store import load_allowed_stores

    return load_allowed_stores(index, allow_pickle)


def note_outdated(index: Sequence[str] | None) -> None:
    """Print a notice for each index with files that an earlier version read."""
    from ramify.studio.console.streams import note
    from ramify.tools.index.file_list import count_outdated
    from ramify.tools.index.manifest import MANIFEST
    from ramify.tools.quoting import one_line, pluralize
    from ramify.tools.user_input import expand_path

    for folder in index or ():
        path, count = expand_path(folder), 0
        with suppress(IndexingError):  # of an index that is being replaced: an answer is not lost for a notice
            count = count_outdated(path) if (path / MANIFEST).is_file() else 0
        if count:
            note(f"{one_line(folder)}: {pluralize(count, 'file')} read by an earlier version: index the same paths again")


def question_options(
    settings: list[str] | None, index: list[str] | None, allow_pickle: bool, filters: list[str] | None = None, **flags: Any
) -> dict[str, Any]:
    """Return the options of a question to indexes, merged as by `merge_options`."""
    return merge_options(settings, index=load_stores(index, allow_pickle), filter=read_filter(filters), **flags)


def merge_options(settings: list[str] | None, **flags: Any) -> dict[str, Any]:
    """Return the options of --set and of the flags; raise UsageError if both set an option."""
    options = read_pairs(settings or [], "--set")
    flag_options = {
        name: single_address(value) if name == "base_url" else value for name, value in flags.items() if value not in (None, [])
    }
    if repeated := sorted(options.keys() & flag_options.keys()):
        flag = "--" + repeated[0].replace("_", "-")
        raise UsageError(f"{repeated[0]!r} is given by {flag} and by --set", f"use only {flag}")
    return {**options, **flag_options}


def format_value(value: Any) -> str:
    """Return a value in the form that `--set` accepts."""
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


class RayCommand(TyperCommand):
    """A command with --ray."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the default value to --ray if it has none."""
        return super().parse_args(ctx, [*add_ray_default(args)])


def add_ray_default(arguments: list[str]) -> Iterator[str]:
    """Replace `--ray` without an address by `--ray=local`: the next word may be a path."""
    options = arguments.index("--") if "--" in arguments else len(arguments)
    for position, (word, following) in enumerate(pairwise([*arguments, ""])):
        has_no_address = position < options and word == RAY_OPTION and not _RAY_ADDRESS.fullmatch(following)
        yield f"{RAY_OPTION}={RAY_DEFAULT}" if has_no_address else word
