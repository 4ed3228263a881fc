"""ramify index: build or update an index of documents, with its graph or hierarchy."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.studio.console.options import RAY_HELP, BaseUrl, check_optional_text, merge_options, split_names
from ramify.studio.console.streams import note, say
from ramify.tools import plugins
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.quoting import collapse_whitespace, one_line

if TYPE_CHECKING:
    from ramify.tools.index.build import IndexStore
    from ramify.tools.index.manifest import IndexKind, Precision

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATH",
        help="Files and folders: txt, md, html, pdf, docx, pptx, xlsx, odt, epub, eml, csv, json and more, also gzipped. "
        "With --kind it may be omitted, to use the index in --out unchanged.",
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Folder of the index, or an address, milvus:URI/COLLECTION; an existing index is updated. Required, except to check.",
        callback=check_optional_text,
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
Ray = Annotated[str | None, typer.Option("--ray", metavar="[ADDRESS]", help=f"Encode on a Ray cluster: {RAY_HELP}.")]
Shared = Annotated[bool, typer.Option("--shared", help="Make the index readable for all users of this machine, not only for its owner.")]
Wait = Annotated[
    bool | None,
    typer.Option(
        "--wait/--no-wait",
        help="Wait until the new index is complete, or return when its documents can be searched by words and compute the meanings in the "
        "background. [--no-wait in a terminal]",
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="List every skipped file with the reason.")]
CheckReading = Annotated[
    bool,
    typer.Option(
        "--check-reading",
        help="Compare what is read of each PATH with a raw reading, print every word that is missing, new or changed, and build nothing.",
    ),
]

QueryPrefix = Annotated[
    str | None,
    typer.Option(metavar="TEXT", callback=check_optional_text, help="Prefix of each question for embedding. [the model's own]"),
]
DocumentPrefix = Annotated[
    str | None,
    typer.Option(metavar="TEXT", callback=check_optional_text, help="Prefix of each passage; the index stores both; '' for none."),
]
Clean = Annotated[
    bool,
    typer.Option("--clean/--no-clean", help="Exclude tables of contents, legal notices, duplicates and a PDF's running heads from search."),
]
OcrOption = Annotated[
    str | None,
    typer.Option(
        "--ocr",
        metavar="WHEN",
        help="Read text in pictures, if Tesseract is installed: auto (picture files, PDF pages without text), always (also large pictures "
        "on other pages) or never. [unchanged; new: auto]",
    ),
]
OcrLanguages = Annotated[
    str | None, typer.Option("--ocr-languages", metavar="L+M", help="Languages of text in pictures, such as eng+deu. [unchanged; new: eng]")
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
        "--description", metavar="TEXT", callback=check_optional_text,
        help="What the documents are about, in a sentence; with several indexes, questions are routed by it. [unchanged]",
    ),
]  # fmt: skip
Estimate = Annotated[bool, typer.Option("--estimate", help="Estimate the cost from a sample, and build nothing.")]
Recluster = Annotated[bool, typer.Option("--recluster", help="Recompute the communities of a graph.")]
Rebuild = Annotated[bool, typer.Option("--rebuild", help="Recompute the clusters of a hierarchy.")]
MaxCalls = Annotated[int | None, typer.Option(metavar="N", min=1, help="Maximum number of model calls; run again to continue.")]
MaxSeconds = Annotated[
    float | None, typer.Option(metavar="S", min=0, help="Maximum time for model calls, in seconds; run again to continue.")
]


_CONTAINER_PROCESS = 1
"""The number of a container's only process: it ends with it, and so would a process in the background."""


def index_command(
    out_: Out = None, paths: Paths = None, embedding: Embedding = "minilm", chunk_tokens: ChunkTokens = 300, overlap: Overlap = 30,
    query_prefix: QueryPrefix = None, document_prefix: DocumentPrefix = None, clean: Clean = True, label: Label = None,
    kind: KindName = None, group_by: GroupBy = None,
    model: BuilderName = None, base_url: BaseUrl = None, settings: Settings = None, estimate: Estimate = False,
    recluster: Recluster = False, rebuild: Rebuild = False, vectors: Vectors = None,
    max_calls: MaxCalls = None, max_seconds: MaxSeconds = None, description: Description = None,
    ray: Ray = None, shared: Shared = False, verbose: Verbose = False, ocr: OcrOption = None, ocr_languages: OcrLanguages = None,
    check_reading: CheckReading = False, wait: Wait = None,
) -> None:  # fmt: skip
    """Index documents; unchanged documents are not encoded again, and an interrupted run resumes where it stopped."""
    from ramify.tools.index.folder import share_index
    from ramify.tools.index.index_store import FolderStore, store_at
    from ramify.tools.index.manifest import parse_precision

    if check_reading:
        if not plugins.load("ramify.readers", "check-reading")(paths or []):
            raise typer.Exit(1)
        return
    if out_ is None:
        raise UsageError("no --out is given", "name the folder of the index with --out DIR (see `ramify index --help`)")
    store = store_at(out_)
    if not isinstance(store, FolderStore):
        _check_store_options(store.where, shared, wait)
    options = merge_options(settings, model=model, base_url=base_url, max_calls=max_calls, max_seconds=max_seconds)
    groups = None if group_by is None else split_fields(group_by)
    flags = {"--recluster": ("graph", recluster), "--group-by": ("hierarchy", groups), "--rebuild": ("hierarchy", rebuild)}
    kind_name = _resolve_kind(kind, store, flags, options)
    precision = None if vectors is None else parse_precision(vectors)
    if ray is not None and (estimate or not paths):
        what = "--estimate measures this machine alone" if estimate else "--ray encodes documents, and no PATH is given"
        raise UsageError(what, "omit --ray" if estimate else "name files or folders to index, or omit it")
    if estimate:
        plugins.load("ramify.kinds", "estimate")(paths or [], store, kind_name, options, embedding, (chunk_tokens, overlap), clean, groups)
        return
    if paths:
        plain = kind_name == "passages" and not (shared or ray or description)
        in_background = wait is False or (wait is None and plain and sys.stdout.isatty() and os.getpid() != _CONTAINER_PROCESS)
        _index_documents(
            store, paths, verbose, in_background and isinstance(store, FolderStore), out=out_, embedding=embedding,
            chunk_tokens=chunk_tokens, overlap=overlap,
            query_prefix=query_prefix, document_prefix=document_prefix, clean=clean,
            label=None if label is None else split_fields(label), vectors=precision, ray=ray, ocr=ocr,
            ocr_languages=ocr_languages,
        )  # fmt: skip
    elif precision is not None and isinstance(store, FolderStore):
        _change_precision(store.path, precision)
    elif kind is None and description is None:
        raise UsageError("no PATH is given", "name files or folders to index, or --kind graph or hierarchy for the existing index in --out")
    if description is not None:
        store.describe(collapse_whitespace(description))
        say(f"{one_line(store.where)}: the description is {one_line(description)!r}")
    if isinstance(store, FolderStore):
        if shared:
            share_index(store.path)
        _build_structure(store.path, kind_name, options, groups, recluster or rebuild)


def _check_store_options(where: str, shared: bool, wait: bool | None) -> None:
    """Raise UsageError for options that an index in a store, not in a folder, does not have."""
    if wait is False:
        raise UsageError(f"--no-wait is for a folder, not for {where!r}", "omit it")
    if shared:
        raise UsageError(f"--shared is for a folder, not for {where!r}", "configure access on its server, and omit --shared")


def _index_documents(store: "IndexStore", paths: list[Path], verbose: bool, in_background: bool, **options: Any) -> None:
    """Index documents, and print a summary of the build; a large new index is completed by another process if `in_background`."""
    from ramify.studio.console.background import complete_in_background, stop_when_stored
    from ramify.studio.console.building import build_summary, remark_lines, skipped_lines
    from ramify.studio.console.progress_bar import progress_bar
    from ramify.tools.index import Index
    from ramify.tools.index.manifest import MANIFEST
    from ramify.tools.index.progress import PassagesStored

    try:
        with progress_bar() as progress:
            new = in_background and not (Path(store.where) / MANIFEST).exists()
            built = Index.build(paths, progress=stop_when_stored(progress) if new else progress, **options)
    except PassagesStored:
        complete_in_background(Path(store.where), verbose)
        raise typer.Exit from None
    say(f"{one_line(store.where)}: {build_summary(built)}")
    for line in (*skipped_lines(built.skipped, verbose), *remark_lines(built.remarks, verbose, built.reread)):
        note(line)


def _change_precision(folder: Path, precision: "Precision") -> None:
    """Rebuild the vector graph of an index in another precision."""
    from ramify.studio.console.progress_bar import progress_bar
    from ramify.tools.index.publication import change_precision

    with progress_bar() as progress:
        changed = change_precision(folder, precision, progress)
    say(f"{one_line(folder)}: vectors are {'now' if changed else 'already'} searched as {precision}")


def split_fields(text: str) -> list[str]:
    """Return comma-separated field names; raise UsageError if there are none."""
    if not (fields := split_names(text)):
        raise UsageError(f"{text!r} names no field", "name metadata fields separated by commas, such as chapter,section")
    return fields


def _resolve_kind(kind: str | None, store: "IndexStore", flags: Mapping[str, tuple[str, object]], options: dict[str, Any]) -> "IndexKind":
    """Return the requested kind, else that of the existing index; raise UsageError for an unknown kind, or options of another kind.

    `flags` maps each flag to the kind that it belongs to, and its value.
    """
    from ramify.tools.index.index_store import FolderStore
    from ramify.tools.index.manifest import STRUCTURE_FILES

    try:
        existing = store.manifest()
    except IndexingError:
        if not isinstance(store, FolderStore):
            raise
        existing = None
    kind_name = kind or (existing.kind if existing else "passages")
    known = next((name for name in STRUCTURE_FILES if name == kind_name), None)
    if known is None:
        raise UsageError(f"unknown kind of index {kind_name!r}", f"choose one of {', '.join(STRUCTURE_FILES)}")
    if known != "passages" and not isinstance(store, FolderStore):
        raise UsageError(f"the index in {store.where!r} cannot have a {known}", "build it in a folder with --out DIR, or omit --kind")
    for name, (required_kind, value) in flags.items():
        if value and known != required_kind:
            raise UsageError(f"{name} is for an index of kind {required_kind}", f"add --kind {required_kind}, or omit it")
    if options and known == "passages":
        raise UsageError("--model, --set and budgets are for building a graph or hierarchy", "add --kind, or omit them")
    if known != "passages":
        plugins.load("ramify.kinds", known).check(options)
    return known


def _build_structure(folder: Path, kind: "IndexKind", options: dict[str, Any], group_by: list[str] | None, renew: bool) -> None:
    """Build, update or remove the graph or hierarchy of the index."""
    from ramify.tools.index.manifest import MANIFEST, read_index_manifest
    from ramify.tools.index.publication import drop_structure

    if kind != "passages":
        plugins.load("ramify.kinds", kind).command(folder, options, group_by, renew)
        return
    existing = read_index_manifest(folder / MANIFEST)
    if existing and existing.kind != "passages":
        drop_structure(folder)
        say(f"{one_line(folder)}: the {existing.kind} was removed")
