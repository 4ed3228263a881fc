"""Write the API reference: what each package offers (its `__all__`), as HTML. `python docs/api.py [FOLDER]`, by default build/api."""

import sys
from pathlib import Path

from pdoc import pdoc

PACKAGES = ("graphs", "nodes", "prompts", "tools", "studio", "embedded", "formats", "lab", "serve", "stores")


def main(folder: Path = Path(__file__).parent.parent / "build" / "api") -> Path:
    """Write the pages into a folder; return the first page."""
    pdoc(*(f"ramify.{package}" for package in PACKAGES), output_directory=folder)
    return folder / "index.html"


if __name__ == "__main__":
    print(main(*map(Path, sys.argv[1:2])))
