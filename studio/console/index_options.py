"""The options of `ramify index`."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.studio.console.options import RAY_WHERE, readable

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATH",
        help="Files and folders: txt, md, html, pdf, docx, pptx, xlsx, odt, epub, eml, csv, json and more, also gzipped. "
        "None with --kind: the index in --out as it is.",
    ),
]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Folder of the index, or an address, milvus:URI/COLLECTION; an index that is there is brought up to date.",
        callback=readable,
    ),
]
Embedding = Annotated[
    str, typer.Option(metavar="NAME", help="minilm (comes with ramify), ollama:NAME, or a sentence-transformers model on this machine.")
]
ChunkTokens = Annotated[int, typer.Option(metavar="N", help="Longest passage, in tokens of the embedding model.")]
Overlap = Annotated[int, typer.Option(metavar="N", help="Tokens that neighbouring passages share.")]
Ray = Annotated[str | None, typer.Option("--ray", metavar="[ADDRESS]", help=f"Encode on a Ray cluster: {RAY_WHERE}.")]
Shared = Annotated[
    bool, typer.Option("--shared", help="Let everybody on this machine read the index, which is its owner's alone when new.")
]
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
        "--kind",
        metavar="KIND",
        help="passages; graph: names, communities and reports beside them; hierarchy: groups and summaries. [as it is; new: passages]",
    ),
]
GroupBy = Annotated[
    str | None,
    typer.Option(
        "--group-by",
        metavar="F,G",
        help="Metadata that a hierarchy groups passages by, date:month and hours:100 in steps; none: one group. [what suits]",
    ),
]
Vectors = Annotated[
    str | None, typer.Option(metavar="KIND", help="How searched vectors are kept: fp32, fp16 or int8, a quarter of the memory. [as it is]")
]
BuilderName = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="Who finds names and reports, or sums up: extractive (no model), ollama:NAME, …"),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the building of a graph or a hierarchy: unit_tokens, soft_k and more."),
]
Estimate = Annotated[bool, typer.Option("--estimate", help="Say what it would cost, by a start on a sample, and build nothing.")]
Recluster = Annotated[bool, typer.Option("--recluster", help="Make the communities of a graph anew, not as they were.")]
Rebuild = Annotated[bool, typer.Option("--rebuild", help="Cluster a hierarchy's groups anew, not as they were.")]
MaxCalls = Annotated[int | None, typer.Option(metavar="N", min=1, help="End the model's calls after so many; run again to go on.")]
MaxSeconds = Annotated[float | None, typer.Option(metavar="S", min=0, help="End the model's calls after so many seconds.")]
