"""Options shared by several commands, parsing of KEY=VALUE, and --ray with its optional value."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from ramify.tools.errors import UsageError
from ramify.tools.ray_cluster import AUTO, LOCAL
from ramify.tools.user_input import check_text as check_text  # of every command

T = TypeVar("T")


def readable_or_none(text: str | None) -> str | None:
    """Return an optional text; UsageError if it is not in the terminal's encoding."""
    return text and check_text(text)


STRATEGIES = "prune, tor, iterative, chain, ircot, self-ask, react, naive, global or closed-book."
Strategy = Annotated[str, typer.Option(metavar="NAME", help=STRATEGIES)]
StrategyNamed = Annotated[str, typer.Argument(metavar="STRATEGY", help=STRATEGIES)]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", metavar="DIR", help="Folder or address of an index; repeatable, for several. [the demo corpus]"),
]
AllowPickle = Annotated[
    bool,
    typer.Option("--allow-dangerous-deserialization", help="Load --index faiss:DIR, saved by LangChain, though a pickle can run any code."),
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
    typer.Option("--base-url", metavar="URL", help="Address of the model's server (Ollama, vLLM, llama.cpp); repeatable, for several."),
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
        help="Options that belong together: paper, for tor, prune, iterative and global; --set counts before it.",
    ),
]
Style = Annotated[str | None, typer.Option(metavar="full|short", help="full: the answer in sentences, too; short: the short answer alone.")]


def _checked_profile(path: str | None) -> str | None:
    """Return the full path of a profile; InputError where it is none: before anything is loaded or asked."""
    if path is None:
        return None
    from ramify.tools.profile import load_profile

    load_profile(path)
    return str(Path(path).expanduser().absolute())


Profile = Annotated[
    str | None,
    typer.Option(
        "--profile", metavar="FILE", callback=_checked_profile, help="A profile of `ramify calibrate`: unsure answers are withheld."
    ),
]
AskFirst = Annotated[
    str | None,
    typer.Option(metavar="splits|unsure", help="Ask you first: before a question is split, or before an unsure answer is used or given."),
]
Filters = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="KEY=VALUE", help="Only passages whose metadata has this value; several must all hold."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one object and nothing else.")]
ShowTree = Annotated[bool, typer.Option("--tree", help="Print the tree of sub-questions as well.")]
RAY = "--ray"
RAY_WHERE = "of this machine's cores, or the one at ADDRESS (auto, HOST:PORT, ray://HOST:PORT)"
"""What its help says."""
_RAY_ADDRESS = re.compile(rf"{AUTO}|{LOCAL}|ray://.*|\S+:\d+|\d+(\.\d+){{3}}")

WORDS = {"none": None, "true": True, "false": False}
"""Python's literals."""


def one_of(choices: Sequence[T], given: str, option: str) -> T:
    """Return the choice that is given; UsageError where it is none."""
    found = next((choice for choice in choices if choice == given), None)
    if found is None:
        raise UsageError(f"{option} {given!r} is not valid", f"choose one of {', '.join(map(str, choices))}")
    return found


def names_in(text: str | None) -> list[str]:
    """Return names that are separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def read_pairs(texts: Iterable[str], option: str) -> dict[str, Any]:
    """Parse KEY=VALUE pairs, values as by `read_value`; raise UsageError for other forms and repeated keys."""
    pairs: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not (equals and key):
            raise UsageError(f"{option} {text!r} is not KEY=VALUE", f"write it as {option} k=8")
        if key in pairs:
            raise UsageError(f"{option} gives {key!r} twice", "give it once")
        pairs[key] = read_value(value.strip())
    return pairs


def read_value(text: str) -> Any:
    """Parse a value as JSON if possible, else return the text."""
    if text.casefold() in WORDS:
        return WORDS[text.casefold()]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def read_filter(texts: list[str] | None) -> dict[str, Any] | None:
    """Parse --filter; return None if it is empty."""
    return read_pairs(texts or [], "--filter") or None


def loaded_stores(index: list[str] | None, allow_pickle: bool) -> Sequence[Any] | None:
    """Replace the addresses of FAISS stores among the indexes by the stores; UsageError where that is not allowed."""
    if not any(one.startswith("faiss:") for one in index or ()):
        return index  # the usual case imports nothing
    from ramify.tools.index.index_store import allowed_stores

    return allowed_stores(index, allow_pickle)


def question_options(
    settings: list[str] | None, index: list[str] | None, allow_pickle: bool, filters: list[str] | None = None, **flags: Any
) -> dict[str, Any]:
    """Return the options of a question to an index, as by `options_of`."""
    return options_of(settings, index=loaded_stores(index, allow_pickle), filter=read_filter(filters), **flags)


def options_of(settings: list[str] | None, **flags: Any) -> dict[str, Any]:
    """Merge --set with the flags, repeated addresses joined by spaces; raise UsageError if both set the same option."""
    options = read_pairs(settings or [], "--set")
    given = {name: " ".join(value) if name == "base_url" else value for name, value in flags.items() if value not in (None, [])}
    if both := sorted(options.keys() & given.keys()):
        flag = "--" + both[0].replace("_", "-")
        raise UsageError(f"{both[0]!r} is given by {flag} and by --set", f"use only {flag}")
    return {**options, **given}


def written(value: Any) -> str:
    """Format a default as `--set` accepts it."""
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


class OnRay(TyperCommand):
    """A command with --ray."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the default value to --ray if it has none."""
        return super().parse_args(ctx, [*addressed(args)])


def addressed(words: list[str]) -> Iterator[str]:
    """Replace `--ray` without an address by `--ray=local`: the next word may be a path."""
    options = words.index("--") if "--" in words else len(words)
    for place, (word, after) in enumerate(pairwise([*words, ""])):
        alone = place < options and word == RAY and not _RAY_ADDRESS.fullmatch(after)
        yield f"{RAY}={LOCAL}" if alone else word
