"""Link the vectors of a finished index anew, kept in other numbers: nothing is read or encoded again."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ramify.tools.index.checksums import note_checked
from ramify.tools.index.hnsw import build_graph
from ramify.tools.index.manifest import MANIFEST, NEXT, VECTORS, Precision, file_sha256
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.publication import writing
from ramify.tools.index.snapshot import open_snapshot

_BLOCK = 16_384


def relink(folder: Path, precision: Precision, progress: Progress = silent) -> bool:
    """Keep the searched vectors in these numbers from now on; False where they are. IndexingError where there is no index."""
    with writing(folder):
        held = open_snapshot(folder)
        manifest, rows = held.manifest, held.rows
        if manifest.vectors == precision:
            return False
        blocks = (held.store.vectors(rows[start : start + _BLOCK].tolist(), manifest.dimension) for start in range(0, len(rows), _BLOCK))
        some = rows[np.linspace(0, len(rows) - 1, min(_BLOCK, len(rows)), dtype=np.int64)] if len(rows) else rows
        graph = folder / (NEXT + VECTORS)
        sample = held.store.vectors(some.tolist(), manifest.dimension)
        build_graph(blocks, manifest.dimension, graph, len(rows), progress, precision, sample)
        made = replace(manifest, vectors=precision, sha256={**manifest.sha256, VECTORS: file_sha256(graph)})
        made.write(folder / (NEXT + MANIFEST))
        graph.replace(folder / VECTORS)
        (folder / (NEXT + MANIFEST)).replace(folder / MANIFEST)
        note_checked(made, folder)
    return True
