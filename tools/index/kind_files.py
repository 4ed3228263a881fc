"""What an index has beside its passages: put there, vouched for, and taken away again."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ramify.tools.index.manifest import MANIFEST, NEXT, STRUCTURE, Kind, Manifest, file_sha256, read_manifest
from ramify.tools.index.missing_index import no_index
from ramify.tools.index.publication import writing


def publish_structure(folder: Path, kind: Kind, write: Callable[[Path], None], group_by: tuple[str, ...] = ()) -> None:
    """Write the file of a kind and vouch for it; until then the index opens as it was before. Another kind's file goes."""
    [name] = STRUCTURE[kind]
    manifest = manifest_of(folder)
    written = folder / (NEXT + name)
    write(written)
    sha256 = {**_of_passages(manifest), name: file_sha256(written)}
    replace(manifest, kind=kind, sha256=sha256, group_by=list(group_by)).write(folder / (NEXT + MANIFEST))
    written.replace(folder / name)
    (folder / (NEXT + MANIFEST)).replace(folder / MANIFEST)
    _leave(folder, STRUCTURE[kind])


def drop_structure(folder: Path) -> None:
    """Make an index plain again."""
    with writing(folder):
        manifest = manifest_of(folder)
        replace(manifest, kind="passages", sha256=_of_passages(manifest), group_by=[]).write(folder / MANIFEST)
        _leave(folder, frozenset())


def manifest_of(folder: Path) -> Manifest:
    """Read the manifest of a finished index; IndexingError where there is none."""
    manifest = read_manifest(folder / MANIFEST)
    if manifest is None:
        raise no_index(folder)
    return manifest


def _of_passages(manifest: Manifest) -> dict[str, str]:
    return {name: sha256 for name, sha256 in manifest.sha256.items() if name not in STRUCTURE[manifest.kind]}


def _leave(folder: Path, kept: frozenset[str]) -> None:
    for name in frozenset().union(*STRUCTURE.values()) - kept:
        (folder / name).unlink(missing_ok=True)
