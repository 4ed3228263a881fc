"""What an index of some files would cost, stage by stage, before it is built."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar

from ramify.graphs.building.build import asks_model, hierarchy_settings
from ramify.graphs.building.graph_cost import PILOT, REPORTED, Stage, encoding, estimate
from ramify.graphs.building.hierarchy_cost import SUMMED, estimate_hierarchy
from ramify.nodes.settings import is_embedded
from ramify.nodes.settings.building import BuildSettings
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.leaves import read_leaves
from ramify.tools.index import Index
from ramify.tools.index.build import IndexStore, estimate_passages
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.index_store import FolderStore
from ramify.tools.index.manifest import MANIFEST, PASSAGES, Kind, Manifest
from ramify.tools.index.progress import Progress
from ramify.tools.knowledge.build import WORK
from ramify.tools.knowledge.elements import read_pieces

LISTED = 5
"""Of many fields that passages may be grouped by, those that are named."""
T = TypeVar("T")


class Plan(Protocol):
    """Reads the passages that there are, or that there would be; with an encoder where they are to be encoded."""

    def __call__(self, read: Callable[[Path], T]) -> tuple[T, Encoder | None]:
        """Read them."""
        ...


def index_cost(
    paths: Sequence[Path],
    home: IndexStore,
    kind: Kind,
    options: Mapping[str, Any],
    embedding: str,
    chunking: tuple[int, int],
    clean: bool,
    group_by: Sequence[str] | None,
    tell: Callable[[str], None],
    progress: Progress,
) -> list[Stage]:
    """List the stages of a build, and tell what is done for that; nothing is built. UsageError where there is nothing to estimate."""
    if not isinstance(home, FolderStore) and not paths:
        raise UsageError(f"there is nothing to estimate of the index in {home.where!r}", "name the files or folders that are to be indexed")
    folder = home.path if isinstance(home, FolderStore) else Path()  # only a folder has a kind beside its passages
    there = home.manifest() if not paths else None

    def plan(read: Callable[[Path], T]) -> tuple[T, Encoder | None]:
        """Read the passages of the index that is there, else those that there would be, with what encodes them."""
        if there is not None:
            return read(folder / PASSAGES), None
        return estimate_passages(paths or [folder], embedding, Chunking(*chunking).checked(), clean, progress, read)

    with TemporaryDirectory(prefix="ramify-estimate-") as spare:
        work = Path(spare) / WORK
        if kind == "hierarchy":
            return _of_hierarchy(plan, folder, there, dict(options), group_by, work, tell)
        asks = kind == "graph" and asks_model(options)
        if asks:  # what it was asked here is not asked again by a build
            what = f"for {REPORTED} reports" if is_embedded(BuildSettings.model_validate(dict(options)).model) else f"about {PILOT} texts"
            tell(f"for an estimate the model is asked {what}; a build does not ask that again")
        pieces, encoder = plan(read_pieces)
        if kind == "passages":
            return [encoding(pieces, encoder)] if encoder else []
        return estimate(pieces, encoder, options, folder / WORK if asks and (folder / MANIFEST).is_file() else work, progress)


def _of_hierarchy(
    plan: Plan,
    folder: Path,
    there: Manifest | None,
    options: dict[str, Any],
    group_by: Sequence[str] | None,
    work: Path,
    tell: Callable[[str], None],
) -> list[Stage]:
    """Estimate a hierarchy, and say what passages would be grouped by."""
    if not is_embedded(hierarchy_settings(options)[1].model):
        tell(f"for an estimate the model is asked for {SUMMED} summaries")
    (pieces, leaves), encoder = plan(lambda path: (read_pieces(path), read_leaves(path, encoded=there is not None)))
    fields = group_by or (there.group_by if there and there.kind == "hierarchy" else None)
    made = estimate_hierarchy(leaves, pieces, encoder or Index.open(folder).embeddings, options, fields, work)
    told = [", ".join(one) for one in made.fields]
    chosen = "" if group_by else ": --group-by names others"
    several = f"one of {' · '.join(told[:LISTED])}{' …' if len(told) > LISTED else ''}, chosen when they are encoded"
    tell(f"passages would be grouped by {told[0] if len(told) == 1 else several}{chosen}")
    return made.stages
