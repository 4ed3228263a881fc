"""What is written on the command line: the options that several commands share, KEY=VALUE, and --ray, whose value may be left out."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ramify.tools.errors import UsageError
from ramify.tools.ray.address import AUTO, LOCAL
from ramify.tools.typed import readable as readable  # of every command

STRATEGIES = "prune, tor, iterative, chain, naive, global or closed-book."
Strategy = Annotated[str, typer.Option(metavar="NAME", help=STRATEGIES)]
StrategyNamed = Annotated[str, typer.Argument(metavar="STRATEGY", help=STRATEGIES)]
Where = Annotated[
    str | None,
    typer.Option("--index", metavar="DIR", help="Folder or address of the index; without it, the demo corpus."),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="auto, extractive, ollama:NAME, gguf:PATH, or a provider:model of LangChain. [auto]"),
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
    typer.Option("--preset", metavar="NAME", help="Options that belong together: paper, for tor and prune; --set counts before it."),
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
"""What people write who think in Python."""


def read_pairs(texts: Iterable[str], option: str) -> dict[str, Any]:
    """Read KEY=VALUE pairs; a value is JSON where it can be, else the text itself. UsageError for one that is no pair, or said twice."""
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
    """Read a value: JSON where it can be, else the text itself."""
    if text.casefold() in WORDS:
        return WORDS[text.casefold()]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def read_filter(texts: list[str] | None) -> dict[str, Any] | None:
    """Read what --filter says; None where it says nothing."""
    return read_pairs(texts or [], "--filter") or None


def options_of(settings: list[str] | None, **flags: Any) -> dict[str, Any]:
    """Join what --set says with what the flags say, a repeated one as one text; UsageError where both say one thing."""
    options = read_pairs(settings or [], "--set")
    given = {name: " ".join(value) if isinstance(value, list) else value for name, value in flags.items() if value is not None}
    if both := sorted(options.keys() & given.keys()):
        flag = "--" + both[0].replace("_", "-")
        raise UsageError(f"{both[0]!r} is given by {flag} and by --set", f"keep {flag}")
    return {**options, **given}


def written(value: Any) -> str:
    """Write a default as `--set` would take it."""
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


class OnRay(TyperCommand):
    """A command that has the option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give the option its value where it has none."""
        return super().parse_args(ctx, [*addressed(args)])


def addressed(words: list[str]) -> Iterator[str]:
    """Write a `--ray` that no address follows as `--ray=local`: what follows may be a path as well."""
    options = words.index("--") if "--" in words else len(words)
    for place, (word, after) in enumerate(pairwise([*words, ""])):
        alone = place < options and word == RAY and not _RAY_ADDRESS.fullmatch(after)
        yield f"{RAY}={LOCAL}" if alone else word
