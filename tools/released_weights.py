"""Weights that ship with a package are used only as they were released."""

import hashlib
from pathlib import Path

from ramify.tools.errors import ModelError


def intact(weights: Path, sha256: str, whose: str, remedy: str) -> Path:
    """Give the path of weights that are there and have this hash; ModelError, with the remedy, for any other."""
    if not weights.is_file():
        raise ModelError(f"{whose} has no weights at {str(weights)!r}", remedy)
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise ModelError(f"{whose}'s weights have sha256 {found!r}, not {sha256!r}", remedy)
    return weights
