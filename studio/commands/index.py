"""ramify index: make an index of documents, or bring one up to date, with what its kind has beside the passages."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ramify.studio.console.index_options import (
    BuilderName,
    ChunkTokens,
    Clean,
    DocumentPrefix,
    Embedding,
    Estimate,
    GroupBy,
    KindName,
    Label,
    MaxCalls,
    MaxSeconds,
    Out,
    Overlap,
    Paths,
    QueryPrefix,
    Ray,
    Rebuild,
    Recluster,
    Settings,
    Shared,
    Vectors,
    Verbose,
)
from ramify.studio.console.options import BaseUrl, options_of
from ramify.studio.console.streams import note, one_line, out
from ramify.tools.errors import IndexingError, UsageError

if TYPE_CHECKING:
    from ramify.tools.index.location import Home
    from ramify.tools.index.manifest import Kind


def index(
    out_: Out, paths: Paths = None, embedding: Embedding = "minilm", chunk_tokens: ChunkTokens = 300, overlap: Overlap = 30,
    query_prefix: QueryPrefix = None, document_prefix: DocumentPrefix = None, clean: Clean = True, label: Label = None,
    kind: KindName = None, group_by: GroupBy = None,
    model: BuilderName = None, base_url: BaseUrl = None, settings: Settings = None, estimate: Estimate = False,
    recluster: Recluster = False, rebuild: Rebuild = False, vectors: Vectors = None,
    max_calls: MaxCalls = None, max_seconds: MaxSeconds = None,
    ray: Ray = None, shared: Shared = False, verbose: Verbose = False,
) -> None:  # fmt: skip
    """Index documents; what has not changed is not encoded again, and an interrupted run goes on where it stopped."""
    from ramify.studio.console.building import remarked, show_estimate, skipped, taken_in
    from ramify.studio.console.progress_bar import bar
    from ramify.tools.index import Index
    from ramify.tools.index.folder import Folder
    from ramify.tools.index.folder_state import share_index
    from ramify.tools.index.location import home_of
    from ramify.tools.index.manifest import precision_of

    home = home_of(out_)
    if shared and not isinstance(home, Folder):
        raise UsageError(f"--shared is for a folder, not for {home.where!r}", "let its server say who may read; leave --shared out")
    options = options_of(settings, model=model, base_url=base_url, max_calls=max_calls, max_seconds=max_seconds)
    groups = None if group_by is None else fields_of(group_by)
    wanted = _kind(kind, home, {"--recluster": recluster}, {"--group-by": groups, "--rebuild": rebuild}, options)
    precision = None if vectors is None else precision_of(vectors)
    _check(wanted, options)
    if ray is not None and (estimate or not paths):
        what = "--estimate measures this machine alone" if estimate else "--ray encodes documents, and no PATH is given"
        raise UsageError(what, "leave out --ray" if estimate else "name files or folders to index, or leave it out")
    if estimate:
        show_estimate(paths or [], home, wanted, options, embedding, (chunk_tokens, overlap), clean, groups)
        return
    if paths:
        with bar() as progress:
            built = Index.build(
                paths, out_, embedding, chunk_tokens=chunk_tokens, overlap=overlap, progress=progress,
                query_prefix=query_prefix, document_prefix=document_prefix, clean=clean,
                label=None if label is None else fields_of(label), vectors=precision, ray=ray,
            )  # fmt: skip
        for line in (*skipped(built.skipped, verbose), *remarked(built.remarks, verbose)):
            note(line)
        out().print(f"{one_line(home.where)}: {taken_in(built)}", soft_wrap=True, markup=False)
        if built.advice:
            note(built.advice)
    elif precision is not None and isinstance(home, Folder):
        from ramify.tools.index.publication import relink

        with bar() as progress:
            changed = relink(home.path, precision, progress)
        out().print(f"{one_line(home.path)}: vectors {'are' if changed else 'were'} kept in {precision}", soft_wrap=True, markup=False)
    elif kind is None:
        raise UsageError("no PATH is given", "name files or folders to index, or --kind graph or hierarchy for the index in --out as it is")
    if isinstance(home, Folder):
        if shared:
            share_index(home.path)
        _structure(home.path, wanted, options, recluster, groups, rebuild)


def fields_of(text: str) -> list[str]:
    """Read names of fields with commas between; UsageError where there is none."""
    found = [field.strip() for field in text.split(",") if field.strip()]
    if not found:
        raise UsageError(f"{text!r} names no field", "name fields of metadata with commas between, such as chapter,section")
    return found


def _kind(
    kind: str | None, home: "Home", for_graphs: Mapping[str, object], for_hierarchies: Mapping[str, object], options: object
) -> "Kind":
    """Choose the kind: as asked, else that of the index that is there; UsageError for an unknown one, or options that it does not have."""
    from ramify.tools.index.folder import Folder
    from ramify.tools.index.manifest import STRUCTURE

    try:
        held = home.manifest()
    except IndexingError:
        if not isinstance(home, Folder):
            raise
        held = None
    wanted = kind or (held.kind if held else "passages")
    found = next((name for name in STRUCTURE if name == wanted), None)
    if found is None:
        raise UsageError(f"there is no kind of index {wanted!r}", f"choose one of {', '.join(STRUCTURE)}")
    if found != "passages" and not isinstance(home, Folder):
        raise UsageError(f"the index in {home.where!r} can have no {found}", "make it in a folder: --out DIR; or leave --kind out")
    for needed, given in (("graph", for_graphs), ("hierarchy", for_hierarchies)):
        for name, value in given.items():
            if value and found != needed:
                raise UsageError(f"{name} is for an index of kind {needed}", f"say --kind {needed} as well, or leave it out")
    if options and found == "passages":
        raise UsageError(
            "--model, --set and budgets are for the building of a graph or a hierarchy", "say --kind as well, or leave them out"
        )
    return found


def _check(kind: "Kind", options: dict[str, Any]) -> None:
    """Refuse settings now, and not when all is encoded."""
    if kind == "graph":
        from ramify.nodes.settings.building import BuildSettings

        BuildSettings.model_validate(options)
    if kind == "hierarchy":
        from ramify.graphs.building import hierarchy_settings

        hierarchy_settings(options)


def _structure(folder: Path, kind: "Kind", options: dict[str, Any], recluster: bool, group_by: list[str] | None, rebuild: bool) -> None:
    """Make, update or take away what the index has beside its passages."""
    from ramify.studio.console.building import add_graph, build_hierarchy
    from ramify.tools.index.manifest import MANIFEST, read_manifest
    from ramify.tools.index.publication import drop_structure

    if kind == "graph":
        add_graph(folder, options, recluster)
        return
    if kind == "hierarchy":
        build_hierarchy(folder, options, group_by, rebuild)
        return
    held = read_manifest(folder / MANIFEST)
    if held and held.kind != "passages":
        drop_structure(folder)
        out().print(f"{one_line(folder)}: the {held.kind} is taken away", soft_wrap=True, markup=False)
