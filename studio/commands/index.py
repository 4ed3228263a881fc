"""ramify index: build or update an index of documents, with its graph or hierarchy."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.studio.console.options import RAY_WHERE, BaseUrl, names_in, options_of, readable_or_none
from ramify.studio.console.streams import note, say
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.quoting import collapse_whitespace, one_line
from ramify.tools.user_input import check_text

if TYPE_CHECKING:
    from ramify.tools.index.build import IndexStore
    from ramify.tools.index.manifest import Kind, Precision

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATH",
        help="Files and folders: txt, md, html, pdf, docx, pptx, xlsx, odt, epub, eml, csv, json and more, also gzipped. "
        "With --kind it may be omitted, to use the index in --out unchanged.",
    ),
]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Folder of the index, or an address, milvus:URI/COLLECTION; an existing index is updated.",
        callback=check_text,
    ),
]
Embedding = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="minilm (comes with ramify), e5-multilingual, ollama:NAME, or a sentence-transformers model on this machine."
    ),
]
ChunkTokens = Annotated[int, typer.Option(metavar="N", help="Maximum length of a passage, in tokens of the embedding model.")]
Overlap = Annotated[int, typer.Option(metavar="N", help="Tokens shared by neighbouring passages.")]
Ray = Annotated[str | None, typer.Option("--ray", metavar="[ADDRESS]", help=f"Encode on a Ray cluster: {RAY_WHERE}.")]
Shared = Annotated[bool, typer.Option("--shared", help="Make the index check_text for everybody on this machine, not only for its owner.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="List every skipped file with the reason.")]

QueryPrefix = Annotated[
    str | None,
    typer.Option(metavar="TEXT", callback=readable_or_none, help="Prefix of each question for embedding. [the model's own]"),
]
DocumentPrefix = Annotated[
    str | None,
    typer.Option(metavar="TEXT", callback=readable_or_none, help="Prefix of each passage; the index remembers both; '' for none."),
]
Clean = Annotated[
    bool,
    typer.Option("--clean/--no-clean", help="Exclude tables of contents, legal notices and duplicates from search."),
]
Label = Annotated[
    str | None,
    typer.Option("--label", metavar="F,G", help="Metadata to include in the searched text, such as chapter,section."),
]
KindName = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="passages, graph (with names, communities and reports) or hierarchy (with groups and summaries). [unchanged; new: passages]",
    ),
]
GroupBy = Annotated[
    str | None,
    typer.Option(
        "--group-by",
        metavar="F,G",
        help="Metadata that a hierarchy groups passages by, such as date:month or hours:100; none: one group. [chosen automatically]",
    ),
]
Vectors = Annotated[
    str | None,
    typer.Option(metavar="KIND", help="Precision of the searched vectors: fp32, fp16 or int8 (a quarter of the memory). [unchanged]"),
]
BuilderName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Model that extracts names and writes reports or summaries: extractive (no language model), ollama:NAME, …",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A build setting of a graph or hierarchy, such as unit_tokens or soft_k."),
]
Description = Annotated[
    str | None,
    typer.Option(
        "--description", metavar="TEXT", callback=readable_or_none,
        help="What the documents are about, in a sentence: of several indexes, a question goes to those that fit it. [unchanged]",
    ),
]  # fmt: skip
Estimate = Annotated[bool, typer.Option("--estimate", help="Estimate the cost from a sample, and build nothing.")]
Recluster = Annotated[bool, typer.Option("--recluster", help="Recompute the communities of a graph.")]
Rebuild = Annotated[bool, typer.Option("--rebuild", help="Recompute the clusters of a hierarchy.")]
MaxCalls = Annotated[int | None, typer.Option(metavar="N", min=1, help="Maximum number of model calls; run again to continue.")]
MaxSeconds = Annotated[
    float | None, typer.Option(metavar="S", min=0, help="Maximum time for model calls, in seconds; run again to continue.")
]


def index(
    out_: Out, paths: Paths = None, embedding: Embedding = "minilm", chunk_tokens: ChunkTokens = 300, overlap: Overlap = 30,
    query_prefix: QueryPrefix = None, document_prefix: DocumentPrefix = None, clean: Clean = True, label: Label = None,
    kind: KindName = None, group_by: GroupBy = None,
    model: BuilderName = None, base_url: BaseUrl = None, settings: Settings = None, estimate: Estimate = False,
    recluster: Recluster = False, rebuild: Rebuild = False, vectors: Vectors = None,
    max_calls: MaxCalls = None, max_seconds: MaxSeconds = None, description: Description = None,
    ray: Ray = None, shared: Shared = False, verbose: Verbose = False,
) -> None:  # fmt: skip
    """Index documents; unchanged documents are not encoded again, and an interrupted run resumes where it stopped."""
    from ramify.studio.console.building import show_estimate
    from ramify.tools.index.index_store import FolderStore, store_at
    from ramify.tools.index.manifest import precision_of, share_index

    home = store_at(out_)
    if shared and not isinstance(home, FolderStore):
        raise UsageError(f"--shared is for a folder, not for {home.where!r}", "configure access on its server, and omit --shared")
    options = options_of(settings, model=model, base_url=base_url, max_calls=max_calls, max_seconds=max_seconds)
    groups = None if group_by is None else fields_of(group_by)
    flags = {"--recluster": ("graph", recluster), "--group-by": ("hierarchy", groups), "--rebuild": ("hierarchy", rebuild)}
    wanted = _kind(kind, home, flags, options)
    precision = None if vectors is None else precision_of(vectors)
    if ray is not None and (estimate or not paths):
        what = "--estimate measures this machine alone" if estimate else "--ray encodes documents, and no PATH is given"
        raise UsageError(what, "omit --ray" if estimate else "name files or folders to index, or omit it")
    if estimate:
        show_estimate(paths or [], home, wanted, options, embedding, (chunk_tokens, overlap), clean, groups)
        return
    if paths:
        _take_in(
            home, paths, verbose, out=out_, embedding=embedding, chunk_tokens=chunk_tokens, overlap=overlap,
            query_prefix=query_prefix, document_prefix=document_prefix, clean=clean,
            label=None if label is None else fields_of(label), vectors=precision, ray=ray,
        )  # fmt: skip
    elif precision is not None and isinstance(home, FolderStore):
        _relink(home.path, precision)
    elif kind is None and description is None:
        raise UsageError("no PATH is given", "name files or folders to index, or --kind graph or hierarchy for the existing index in --out")
    if description is not None:
        home.describe(collapse_whitespace(description))
        say(f"{one_line(home.where)}: the description is {one_line(description)!r}")
    if isinstance(home, FolderStore):
        if shared:
            share_index(home.path)
        _structure(home.path, wanted, options, recluster, groups, rebuild)


def _take_in(home: "IndexStore", paths: list[Path], verbose: bool, **options: Any) -> None:
    """Index documents, and print what became of them."""
    from ramify.studio.console.building import remarked, skipped, taken_in
    from ramify.studio.console.progress_bar import bar
    from ramify.tools.index import Index

    with bar() as progress:
        built = Index.build(paths, progress=progress, **options)
    for line in (*skipped(built.skipped, verbose), *remarked(built.remarks, verbose)):
        note(line)
    say(f"{one_line(home.where)}: {taken_in(built)}")


def _relink(folder: Path, precision: "Precision") -> None:
    """Link the vectors of an index anew, in another precision."""
    from ramify.studio.console.progress_bar import bar
    from ramify.tools.index.publication import relink

    with bar() as progress:
        changed = relink(folder, precision, progress)
    say(f"{one_line(folder)}: vectors {'are' if changed else 'were'} kept in {precision}")


def fields_of(text: str) -> list[str]:
    """Return comma-separated field names; raise UsageError if there are none."""
    if not (found := names_in(text)):
        raise UsageError(f"{text!r} names no field", "name metadata fields separated by commas, such as chapter,section")
    return found


def _kind(kind: str | None, home: "IndexStore", flags: Mapping[str, tuple[str, object]], options: dict[str, Any]) -> "Kind":
    """Return the requested kind, else that of the existing index; raise UsageError for an unknown kind, or options that are not its own.

    `flags` are those of one kind each, with their values.
    """
    from ramify.tools.index.index_store import FolderStore
    from ramify.tools.index.manifest import STRUCTURE

    try:
        held = home.manifest()
    except IndexingError:
        if not isinstance(home, FolderStore):
            raise
        held = None
    wanted = kind or (held.kind if held else "passages")
    found = next((name for name in STRUCTURE if name == wanted), None)
    if found is None:
        raise UsageError(f"unknown kind of index {wanted!r}", f"choose one of {', '.join(STRUCTURE)}")
    if found != "passages" and not isinstance(home, FolderStore):
        raise UsageError(f"the index in {home.where!r} can have no {found}", "build it in a folder: --out DIR; or omit --kind")
    for name, (needed, value) in flags.items():
        if value and found != needed:
            raise UsageError(f"{name} is for an index of kind {needed}", f"add --kind {needed}, or omit it")
    if options and found == "passages":
        raise UsageError("--model, --set and budgets are for building a graph or hierarchy", "add --kind, or omit them")
    if found == "graph":
        from ramify.nodes.settings import BuildSettings

        BuildSettings.model_validate(options)
    if found == "hierarchy":
        from ramify.graphs.building import hierarchy_settings

        hierarchy_settings(options)
    return found


def _structure(folder: Path, kind: "Kind", options: dict[str, Any], recluster: bool, group_by: list[str] | None, rebuild: bool) -> None:
    """Build, update or remove the graph or hierarchy of the index."""
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
        say(f"{one_line(folder)}: the {held.kind} is removed")
