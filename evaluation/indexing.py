"""Update the indexes of a run: the plain ones from the documents, other kinds from a copy of the plain one."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from ramify.evaluation.plan import CHUNK_TOKENS, Order, RunPlan
from ramify.evaluation.variants import HIERARCHY, PLAIN, folder_of
from ramify.graphs.building import hierarchy, structure
from ramify.tools.errors import IndexingError
from ramify.tools.hierarchy import hierarchy_file as of_hierarchy
from ramify.tools.index import Index
from ramify.tools.index.folder_state import write_lock
from ramify.tools.index.local_index import read_facts
from ramify.tools.index.manifest import MANIFEST, PASSAGES, STRUCTURE, VECTORS, WORDS, Kind, Manifest, read_manifest
from ramify.tools.index.progress import Progress, silent
from ramify.tools.knowledge import graph_file as of_graph
from ramify.tools.new_files import make_file, make_folder

COPIED = (PASSAGES, VECTORS, MANIFEST)
EDITIONS: dict[Kind, str] = {"graph": of_graph.EDITION, HIERARCHY: of_hierarchy.EDITION}
"""The edition of the file that each kind has beside those of a plain index."""


def index(plan: RunPlan, order: Order, progress: Progress = silent) -> None:
    """Update the index of each data set in every requested kind."""
    for source in plan.sources:
        wanted = {**({str(source.bare): ()} if order.degrade else {}), source.place: order.label}
        for place, label in wanted.items():
            chunk_tokens, documents = CHUNK_TOKENS[source.dataset.hits_by], list(source.dataset.documents)
            Index.build(
                documents, place, order.embedding, chunk_tokens=chunk_tokens, label=label, progress=progress, ray=order.ray
            )  # fmt: skip
        for kind in order.kinds:
            update_kind(source.folder, kind, source.group_by, progress)


def update_kind(plain: Path, kind: Kind, group_by: Sequence[str], progress: Progress) -> None:
    """Update the index of another kind from the plain one beside it; do nothing for the plain kind. Blocking."""
    if kind == PLAIN:
        return
    folder = folder_of(plain, kind, group_by)
    with write_lock(plain):
        if not _is_current(folder, plain, kind, group_by):
            draft = folder.with_name(f"{folder.name}.part")
            try:
                copy_plain(plain, draft)
                if kind == HIERARCHY:  # from the passages alone; the former index stays until this one is complete
                    hierarchy(draft, group_by=group_by or None, progress=progress)
                else:
                    structure(draft, progress=progress)
                shutil.rmtree(folder, ignore_errors=True)
                draft.replace(folder)
            finally:
                shutil.rmtree(draft, ignore_errors=True)


def _is_current(folder: Path, plain: Path, kind: Kind, group_by: Sequence[str]) -> bool:
    """Return whether an index is complete, has the passages of the plain one, and the current format."""
    held, wanted = _manifest(folder), _manifest(plain)
    if held is None or wanted is None or held.kind != kind:
        return False
    same = all(held.sha256[name] == sha256 for name, sha256 in wanted.sha256.items())
    grouped = not group_by or held.group_by == list(group_by)
    [file] = STRUCTURE[kind]
    return same and grouped and held.damage(folder) is None and read_facts(folder / file).get("edition") == EDITIONS[kind]


def _manifest(folder: Path) -> Manifest | None:
    try:
        return read_manifest(folder / MANIFEST)
    except IndexingError:
        return None


def copy_plain(plain: Path, folder: Path) -> None:
    """Copy a plain index, replacing the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    make_folder(folder)
    for name in (*COPIED, *WORDS):
        if name in COPIED or (plain / name).exists():
            shutil.copyfile(plain / name, make_file(folder / name))
