"""Put a graph beside the passages it is of: the file first, the manifest that vouches for it last; and take it away again."""

from dataclasses import replace
from pathlib import Path

from ramify.tools.index.absent import no_index
from ramify.tools.index.manifest import MANIFEST, NEXT, Manifest, file_sha256, read_manifest
from ramify.tools.index.workshop import writing
from ramify.tools.knowledge.file import GRAPH, Content, write_content


def publish_graph(folder: Path, content: Content) -> None:
    """Write a graph and vouch for it; until then the index opens as it was before."""
    manifest = manifest_of(folder)
    written = folder / (NEXT + GRAPH)
    write_content(written, content)
    sha256 = {**manifest.sha256, GRAPH: file_sha256(written)}
    upcoming = replace(manifest, kind="graph", sha256=sha256)
    upcoming.write(folder / (NEXT + MANIFEST))
    written.replace(folder / GRAPH)
    (folder / (NEXT + MANIFEST)).replace(folder / MANIFEST)


def drop_graph(folder: Path) -> None:
    """Make an index plain again."""
    with writing(folder):
        manifest = manifest_of(folder)
        sha256 = {name: value for name, value in manifest.sha256.items() if name != GRAPH}
        replace(manifest, kind="passages", sha256=sha256).write(folder / MANIFEST)
        (folder / GRAPH).unlink(missing_ok=True)


def manifest_of(folder: Path) -> Manifest:
    """Read the manifest of a finished index; IndexingError where there is none."""
    manifest = read_manifest(folder / MANIFEST)
    if manifest is None:
        raise no_index(folder)
    return manifest
