"""ramify index: make an index of documents, or bring one up to date."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.studio.consoles import note, one_line, out
from ramify.studio.pairs import readable
from ramify.tools.errors import IndexingError

if TYPE_CHECKING:
    from ramify.tools.index.build import Built

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH", help="Files and folders: txt, md, html, pdf, docx, pptx, xlsx, odt, epub, eml, csv, json and more, also gzipped."
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


_REASONS = {"twin": "repeated"}
Clean = Annotated[
    bool,
    typer.Option("--clean/--no-clean", help="Leave contents, legal notices and repeated text out of search."),
]


def index(
    paths: Paths, out_: Out, embedding: Embedding = "minilm", chunk_tokens: ChunkTokens = 300, overlap: Overlap = 30,
    query_prefix: QueryPrefix = None, document_prefix: DocumentPrefix = None, clean: Clean = True, verbose: Verbose = False,
) -> None:  # fmt: skip
    """Index documents; what has not changed is not encoded again, and an interrupted run goes on where it stopped."""
    from ramify.studio.bar import bar
    from ramify.studio.left_out import left_out, remarked
    from ramify.tools.index import Index

    try:
        with bar() as progress:
            built = Index.build(
                paths, out_, embedding, chunk_tokens=chunk_tokens, overlap=overlap, progress=progress,
                query_prefix=query_prefix, document_prefix=document_prefix, clean=clean,
            )  # fmt: skip
    except OSError as error:
        what = f"cannot write the index to {str(out_)!r} ({error.strerror or error})"
        raise IndexingError(what, "give --out a folder you may write to") from error
    for line in (*left_out(built.skipped, verbose), *remarked(built.remarks, verbose)):
        note(line)
    out().print(f"{one_line(out_)}: {told(built)}", soft_wrap=True, markup=False)
    if built.advice:
        note(built.advice)


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
