"""ramify index: make an index of documents, or bring one up to date; of kind graph, with the graph of its names beside the passages."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.studio.ask_command import BaseUrl
from ramify.studio.consoles import note, one_line, out
from ramify.studio.pairs import joined, read_pairs, readable
from ramify.tools.errors import IndexingError, UsageError

if TYPE_CHECKING:
    from ramify.tools.index.build import Built
    from ramify.tools.index.manifest import Kind

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATH",
        help="Files and folders: txt, md, html, pdf, docx, pptx, xlsx, odt, epub, eml, csv, json and more, also gzipped. "
        "None with --kind: the index in --out as it is.",
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the index; an index that is there is brought up to date.")]
Embedding = Annotated[
    str, typer.Option(metavar="NAME", help="minilm (comes with ramify), ollama:NAME, or a sentence-transformers model on this machine.")
]
ChunkTokens = Annotated[int, typer.Option(metavar="N", help="Longest passage, in tokens of the embedding model.")]
Overlap = Annotated[int, typer.Option(metavar="N", help="Tokens that neighbouring passages share.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Name every file that is left out, and why.")]


def prefix(text: str | None) -> str | None:
    """Give a prefix as it is; UsageError where it is not in the terminal's encoding."""
    return text and readable(text)


QueryPrefix = Annotated[
    str | None, typer.Option(metavar="TEXT", callback=prefix, help="Put before each question for embedding; default: the model's own.")
]
DocumentPrefix = Annotated[
    str | None, typer.Option(metavar="TEXT", callback=prefix, help="Put before each passage; the index remembers both; '' for none.")
]
Clean = Annotated[
    bool,
    typer.Option("--clean/--no-clean", help="Leave contents, legal notices and repeated text out of search."),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label", metavar="F,G", help="Metadata that passages are searched under, beside title and headings, such as chapter,section."
    ),
]
KindName = Annotated[
    str | None,
    typer.Option(
        "--kind", metavar="KIND", help="passages, or graph: names, communities and reports beside them. [as it is; new: passages]"
    ),
]
BuilderName = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Who finds names and reports for a graph: extractive (rules), ollama:NAME, …")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the building of a graph: unit_tokens, gleanings, reporter and more."),
]
Estimate = Annotated[bool, typer.Option("--estimate", help="Say what it would cost, by a start on a sample, and build nothing.")]
Recluster = Annotated[bool, typer.Option("--recluster", help="Make the communities of a graph anew, not as they were.")]
MaxCalls = Annotated[int | None, typer.Option(metavar="N", min=1, help="End the graph's model calls after so many; run again to go on.")]
MaxSeconds = Annotated[float | None, typer.Option(metavar="S", min=0, help="End the graph's model calls after so many seconds.")]
_REASONS = {"twin": "repeated"}


def index(
    out_: Out, paths: Paths = None, embedding: Embedding = "minilm", chunk_tokens: ChunkTokens = 300, overlap: Overlap = 30,
    query_prefix: QueryPrefix = None, document_prefix: DocumentPrefix = None, clean: Clean = True, label: Label = None,
    kind: KindName = None,
    model: BuilderName = None, base_url: BaseUrl = None, settings: Settings = None, estimate: Estimate = False,
    recluster: Recluster = False, max_calls: MaxCalls = None, max_seconds: MaxSeconds = None, verbose: Verbose = False,
) -> None:  # fmt: skip
    """Index documents; what has not changed is not encoded again, and an interrupted run goes on where it stopped."""
    from ramify.studio.bar import bar
    from ramify.studio.left_out import left_out, remarked
    from ramify.tools.index import Index

    flags = {"model": model, "base_url": base_url, "max_calls": max_calls, "max_seconds": max_seconds}
    options = joined(read_pairs(settings or [], "--set"), flags)
    wanted = _kind(kind, out_, options or recluster)
    if wanted == "graph":
        from ramify.nodes.settings import BuildSettings

        BuildSettings.model_validate(options)  # refused now, and not when all is encoded
    if estimate:
        from ramify.studio.estimate import show_estimate

        show_estimate(paths or [], out_, wanted, options, embedding, (chunk_tokens, overlap), clean)
        return
    if paths:
        try:
            with bar() as progress:
                built = Index.build(
                    paths, out_, embedding, chunk_tokens=chunk_tokens, overlap=overlap, progress=progress,
                    query_prefix=query_prefix, document_prefix=document_prefix, clean=clean,
                    label=None if label is None else [field.strip() for field in label.split(",") if field.strip()],
                )  # fmt: skip
        except OSError as error:
            what = f"cannot write the index to {str(out_)!r} ({error.strerror or error})"
            raise IndexingError(what, "give --out a folder you may write to") from error
        for line in (*left_out(built.skipped, verbose), *remarked(built.remarks, verbose)):
            note(line)
        out().print(f"{one_line(out_)}: {told(built)}", soft_wrap=True, markup=False)
        if built.advice:
            note(built.advice)
    elif kind is None:
        raise UsageError("no PATH is given", "name files or folders to index, or --kind graph for the index in --out as it is")
    _structure(out_, wanted, options, recluster)


def _kind(kind: str | None, folder: Path, for_graphs: object) -> "Kind":
    """Choose the kind: as asked, else that of the index that is there; UsageError for an unknown one, or options that it does not have."""
    from ramify.tools.index.manifest import MANIFEST, STRUCTURE, read_manifest

    try:
        held = read_manifest(folder / MANIFEST)
    except IndexingError:
        held = None
    wanted = kind or (held.kind if held else "passages")
    found = next((name for name in STRUCTURE if name == wanted), None)
    if found is None:
        raise UsageError(f"there is no kind of index {wanted!r}", f"choose one of {', '.join(STRUCTURE)}")
    if for_graphs and found == "passages":
        raise UsageError(
            "--model, --set, --recluster and budgets are for the building of a graph", "say --kind graph as well, or leave them out"
        )
    return found


def _structure(folder: Path, kind: "Kind", options: dict[str, Any], recluster: bool) -> None:
    """Make, update or take away what the index has beside its passages."""
    from ramify.studio.graph_building import build

    if kind == "graph":
        build(folder, options, recluster)
        return
    from ramify.tools.index.manifest import MANIFEST, read_manifest
    from ramify.tools.knowledge.publish import drop_graph

    held = read_manifest(folder / MANIFEST)
    if held and held.kind == "graph":
        drop_graph(folder)
        out().print(f"{one_line(folder)}: the graph is taken away", soft_wrap=True, markup=False)


def told(built: "Built") -> str:
    """Say what a build did, in one line."""
    fates = {"added": built.added, "changed": built.changed, "unchanged": built.unchanged, "removed": built.removed}
    parts = [f"{count:,} {fate}" for fate, count in fates.items() if count]
    skipped = f", {len(built.skipped):,} {'file' if len(built.skipped) == 1 else 'files'} skipped" if built.skipped else ""
    documents = f"{built.documents:,} documents ({', '.join(parts)}){skipped}"
    rate = f", {built.encoded / built.seconds:,.0f} passages/s, start included" if built.encoded else ""
    return f"{documents}, {built.passages:,} passages ({built.encoded:,} encoded){left_out(built.hidden)} in {built.seconds:.1f} s{rate}"


def left_out(hidden: dict[str, int]) -> str:
    """Say how many passages are not searched, and why."""
    reasons = ", ".join(f"{count:,} {_REASONS.get(reason, reason)}" for reason, count in hidden.items())
    return f", {sum(hidden.values()):,} left out of search ({reasons})" if hidden else ""
