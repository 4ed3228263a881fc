"""Get the manuals of Git, PostgreSQL, Python and R as Debian packages them; nothing is installed, and no root is needed.

    python plugins/lab/benchmarks/real_documents/corpus.py [--cache FOLDER]

One folder a package, with all the junk that real documents have: the same text as html and txt, indexes, tables of contents, licences.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ramify.tools.errors import InputError


class Manual(NamedTuple):
    """A manual: its folder in the corpus, its packages (the first that there is counts), and what of it is taken, from where."""

    folder: str
    packages: tuple[str, ...]
    root: str
    taken: tuple[str, ...]
    left: tuple[str, ...] = ()


MANUALS = (
    Manual("git", ("git-doc",), "usr/share/doc/git-doc", ("**/*.html", "**/*.txt")),
    Manual("postgresql", ("postgresql-doc-15", "postgresql-doc-17"), "usr/share/doc/postgresql-doc-*/html", ("**/*.html",)),
    Manual(
        "python",
        ("python3.11-doc", "python3.13-doc"),
        "usr/share/doc/python3.*/html",
        tuple(f"{part}/*.html" for part in ("tutorial", "library", "reference", "howto", "faq", "using")),
    ),
    Manual("r", ("r-doc-pdf",), "usr/share/R/doc/manual", ("*.pdf",), left=("refman.pdf", "fullrefman.pdf")),
)
REMEDY = "the manuals come as Debian packages: run this where apt-get and dpkg-deb are and a package source can be reached"


def cache_folder() -> Path:
    """Return the folder that corpus and indexes are kept in: RAMIFY_REAL_DOCUMENTS, or one in the user's cache."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("RAMIFY_REAL_DOCUMENTS") or home / "ramify" / "real_documents")


def fetch(cache: Path) -> Path:
    """Download and unpack what is not there yet; return the corpus folder."""
    corpus = cache / "corpus"
    for manual in MANUALS:
        if not (corpus / manual.folder).is_dir():
            files = _select(_unpacked(manual, cache), manual, corpus)
            print(f"{manual.folder}: {files} files", file=sys.stderr)
    return corpus


def _unpacked(manual: Manual, cache: Path) -> Path:
    reasons = []
    for package in manual.packages:
        reason = _download(package, cache / "packages")
        debs = _debs(package, cache / "packages")
        if debs:
            target = cache / "unpacked" / manual.folder
            target.mkdir(parents=True, exist_ok=True)
            if reason := _failure(["dpkg-deb", "-x", str(debs[-1]), str(target)], cache):
                raise InputError(f"{debs[-1].name!r} cannot be unpacked: {reason}", "delete it and run this again")
            return target
        reasons.append(f"{package}: {reason}")
    raise InputError(f"there is no package for {manual.folder!r} ({'; '.join(reasons)})", REMEDY)


def _download(package: str, folder: Path) -> str | None:
    """Get a package that is not there yet; say why it cannot be got."""
    folder.mkdir(parents=True, exist_ok=True)
    return None if _debs(package, folder) else _failure(["apt-get", "download", package], folder)


def _debs(package: str, folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{package}_*.deb"))


def _failure(command: Sequence[str], folder: Path) -> str | None:
    """Run a command in a folder; return the last thing it said where it failed."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise InputError(f"there is no {command[0]!r} here", REMEDY) from None
    return (done.stderr.strip().splitlines() or ["no reason given"])[-1] if done.returncode else None


def _select(unpacked: Path, manual: Manual, corpus: Path) -> int:
    """Copy what is taken of a manual; the folder appears when it is whole."""
    part, number = corpus / f".{manual.folder}", 0
    shutil.rmtree(part, ignore_errors=True)
    for root in _roots(unpacked, manual):
        for path in _taken(root, manual):
            target = part / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            number += 1
    if not number:
        raise InputError(f"{manual.packages[0]!r} holds none of {', '.join(manual.taken)}", "its layout is another: adapt MANUALS")
    part.rename(corpus / manual.folder)
    return number


def _roots(unpacked: Path, manual: Manual) -> Iterator[Path]:
    # `python3.11-doc/html` is a link to `python3.11/html`: only the folder itself counts.
    yield from (path for path in sorted(unpacked.glob(manual.root)) if not any(part.is_symlink() for part in (path, *path.parents)))


def _taken(root: Path, manual: Manual) -> Iterator[Path]:
    paths = {path for pattern in manual.taken for path in root.glob(pattern)}
    yield from sorted(path for path in paths if path.is_file() and not path.is_symlink() and path.name not in manual.left)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="where packages and corpus are kept (default: %(default)s)")
    try:
        print(fetch(parser.parse_args().cache.expanduser().resolve()))
    except InputError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
