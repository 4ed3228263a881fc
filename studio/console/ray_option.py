"""The option --ray, whose value may be left out."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from typer.core import TyperCommand

from ramify.tools.ray.address import AUTO, LOCAL

RAY = "--ray"
WHERE = "of this machine's cores, or the one at ADDRESS (auto, HOST:PORT, ray://HOST:PORT)"
"""What its help says."""
_ADDRESS = re.compile(rf"{AUTO}|{LOCAL}|ray://.*|\S+:\d+|\d+(\.\d+){{3}}")


class OnRay(TyperCommand):
    """A command that has the option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give the option its value where it has none."""
        return super().parse_args(ctx, [*addressed(args)])


def addressed(words: list[str]) -> Iterator[str]:
    """Write a `--ray` that no address follows as `--ray=local`: what follows may be a path as well."""
    options = words.index("--") if "--" in words else len(words)
    for place, (word, after) in enumerate(pairwise([*words, ""])):
        alone = place < options and word == RAY and not _ADDRESS.fullmatch(after)
        yield f"{RAY}={LOCAL}" if alone else word
