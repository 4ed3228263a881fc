"""Bring the index of each kind up to date: the plain one from the documents, any other from a copy of the plain one."""

import shutil
from collections.abc import Callable
from pathlib import Path

from ramify.evaluation.kinds import PLAIN, folder_of
from ramify.graphs.building import structure
from ramify.tools.errors import IndexingError
from ramify.tools.index.manifest import MANIFEST, PASSAGES, VECTORS, Kind, Manifest, read_manifest
from ramify.tools.index.progress import Progress
from ramify.tools.index.workshop import writing
from ramify.tools.knowledge.file import EDITION, GRAPH, read_facts

COPIED = (PASSAGES, VECTORS, MANIFEST)


def bring(plain: Path, kind: Kind, progress: Progress) -> None:
    """Bring the index of a kind up to date with the plain one, beside which it lies; a plain one is as it is. Blocking."""
    if kind == PLAIN:
        return
    folder = folder_of(plain, kind)
    with writing(plain):
        if not _is_current(folder, plain, kind):
            _make(folder, plain, BUILDERS[kind], progress)


def _is_current(folder: Path, plain: Path, kind: Kind) -> bool:
    """Tell whether an index is whole, of the passages that the plain one holds, and laid out as it would be now."""
    held, wanted = _manifest(folder), _manifest(plain)
    if held is None or wanted is None or held.kind != kind:
        return False
    same = all(held.sha256[name] == sha256 for name, sha256 in wanted.sha256.items())
    return same and held.damage(folder) is None and read_facts(folder / GRAPH).get("edition") == EDITION


def _manifest(folder: Path) -> Manifest | None:
    try:
        return read_manifest(folder / MANIFEST)
    except IndexingError:
        return None


def _make(folder: Path, plain: Path, build: Callable[[Path, Progress], None], progress: Progress) -> None:
    """Make an index anew, from nothing but the passages; until it is whole the former one stays."""
    draft = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    for name in COPIED:
        shutil.copyfile(plain / name, draft / name)
    build(draft, progress)
    shutil.rmtree(folder, ignore_errors=True)
    draft.replace(folder)


def _graph(folder: Path, progress: Progress) -> None:
    structure(folder, progress=progress)


BUILDERS: dict[Kind, Callable[[Path, Progress], None]] = {"graph": _graph}
"""How each kind is made, beside the plain one."""
