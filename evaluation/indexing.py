"""Bring the indexes of a run up to date: the plain ones from the documents, those of any other kind from a copy of the plain one."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ramify.evaluation.index_kinds import HIERARCHY, PLAIN, folder_of
from ramify.evaluation.order import Order
from ramify.evaluation.plan import CHUNK_TOKENS, Plan
from ramify.graphs.building import hierarchy, structure
from ramify.tools.errors import IndexingError
from ramify.tools.hierarchy import hierarchy_file as of_hierarchy
from ramify.tools.index import Index
from ramify.tools.index.folder_state import writing
from ramify.tools.index.kind_tables import read_facts
from ramify.tools.index.manifest import MANIFEST, PASSAGES, STRUCTURE, VECTORS, WORDS, Kind, Manifest, read_manifest
from ramify.tools.index.progress import Progress, silent
from ramify.tools.knowledge import graph_file as of_graph
from ramify.tools.new_files import make_file, make_folder

COPIED = (PASSAGES, VECTORS, MANIFEST)


class Builder(NamedTuple):
    """How a kind is made beside the plain one, and the edition of the file that it is then."""

    build: Callable[[Path, Sequence[str], Progress], None]
    edition: str


def index(plan: Plan, order: Order, progress: Progress = silent) -> None:
    """Bring each data set's index up to date, in every kind that is wanted."""
    for source in plan.sources:
        wanted = {**({str(source.bare): ()} if order.degrade else {}), source.place: order.label}
        for place, label in wanted.items():
            chunk_tokens, documents = CHUNK_TOKENS[source.dataset.hits_by], list(source.dataset.documents)
            Index.build(
                documents, place, order.embedding, chunk_tokens=chunk_tokens, label=label, progress=progress, ray=order.ray
            )  # fmt: skip
        for kind in order.kinds:
            bring(source.folder, kind, source.group_by, progress)


def bring(plain: Path, kind: Kind, group_by: Sequence[str], progress: Progress) -> None:
    """Bring the index of a kind up to date with the plain one, beside which it lies; a plain one is as it is. Blocking."""
    if kind == PLAIN:
        return
    folder = folder_of(plain, kind, group_by)
    with writing(plain):
        if not _is_current(folder, plain, kind, group_by):
            draft = folder.with_name(f"{folder.name}.part")
            try:
                copy_plain(plain, draft)
                BUILDERS[kind].build(draft, group_by, progress)  # from nothing but the passages; until it is whole the former one stays
                shutil.rmtree(folder, ignore_errors=True)
                draft.replace(folder)
            finally:
                shutil.rmtree(draft, ignore_errors=True)


def _is_current(folder: Path, plain: Path, kind: Kind, group_by: Sequence[str]) -> bool:
    """Tell whether an index is whole, of the passages that the plain one holds, and laid out as it would be now."""
    held, wanted = _manifest(folder), _manifest(plain)
    if held is None or wanted is None or held.kind != kind:
        return False
    same = all(held.sha256[name] == sha256 for name, sha256 in wanted.sha256.items())
    grouped = not group_by or held.group_by == list(group_by)
    [file], builder = STRUCTURE[kind], BUILDERS[kind]
    return same and grouped and held.damage(folder) is None and read_facts(folder / file).get("edition") == builder.edition


def _manifest(folder: Path) -> Manifest | None:
    try:
        return read_manifest(folder / MANIFEST)
    except IndexingError:
        return None


def copy_plain(plain: Path, folder: Path) -> None:
    """Copy a plain index in the place of whatever lies there."""
    shutil.rmtree(folder, ignore_errors=True)
    make_folder(folder)
    for name in (*COPIED, *WORDS):
        if name in COPIED or (plain / name).exists():
            shutil.copyfile(plain / name, make_file(folder / name))


def _graph(folder: Path, group_by: Sequence[str], progress: Progress) -> None:
    structure(folder, progress=progress)


def _hierarchy(folder: Path, group_by: Sequence[str], progress: Progress) -> None:
    hierarchy(folder, group_by=group_by or None, progress=progress)


BUILDERS: dict[Kind, Builder] = {
    "graph": Builder(_graph, of_graph.EDITION),
    HIERARCHY: Builder(_hierarchy, of_hierarchy.EDITION),
}
