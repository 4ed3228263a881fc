"""ramify search: search an index, without a model."""

from contextlib import nullcontext
from typing import Annotated

import typer

from ramify.studio.console.options import AllowPickle, Filters, Indexes, load_stores, note_outdated, read_filter
from ramify.studio.console.streams import err, note, out, print_json
from ramify.tools.quoting import one_line
from ramify.tools.user_input import check_text

QueryArgument = Annotated[str, typer.Argument(metavar="QUESTION", help="The question to search for.", callback=check_text)]
Count = Annotated[int, typer.Option("-k", min=1, metavar="N", help="Number of passages.")]
Rerank = Annotated[
    str,
    typer.Option(
        "--rerank",
        metavar="NAME",
        help="Rerank the best 20: reader (the embedded model), a cross-encoder of sentence-transformers by name or path, or a server's "
        "address: http://HOST:PORT/v1/rerank, or MODEL@http://….",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print only a JSON list of {id, source, text, score, metadata}; of several indexes, also collection.")
]


MAX_RERANKED = 20
"""Number of passages that are reranked."""


def search_command(
    question: QueryArgument,
    index: Indexes = None,
    allow_pickle: AllowPickle = False,
    k: Count = 5,
    filters: Filters = None,
    rerank: Rerank = "none",
    as_json: AsJson = False,
) -> None:
    """Search by vectors and words, without a model. Results are ranked by both; the score shown is the cosine similarity."""
    from rich.padding import Padding
    from rich.text import Text

    with nullcontext() if as_json else err().status("loading …"):
        from ramify.tools.search.searcher import DEMO, Searchable, find_passages, unfinished_notices, unknown_filter_fields, warm_soon

        stores = load_stores(index, allow_pickle)
        where: Searchable = (stores[0] if len(stores) == 1 else stores) if stores else DEMO
        warm_soon(where)  # in a thread, during the imports
        from ramify.graphs.run import blocking
        from ramify.nodes.init_tree import validate_question
        from ramify.nodes.tree.citation import cite, locate_passages
        from ramify.studio.drawing.terminal import citation_heading
        from ramify.tools.search.relevance import load_reranker, rerank_passages, search_width

    filter_values = read_filter(filters)
    load_reranker(rerank)
    [ranked] = blocking(find_passages(where, [validate_question(question)], k=search_width(rerank, k, MAX_RERANKED), filter=filter_values))
    passages = locate_passages(question, rerank_passages(question, ranked, rerank, k))
    if not passages and (notice := unknown_filter_fields(where, filter_values)):
        note(notice)
    for notice in unfinished_notices(where):
        note(notice)
    note_outdated(index)
    if as_json:
        print_json([passage.to_json() for passage in passages])
        return
    if not passages:
        out().print("No passages found: check the index and the filter.")
    for number, (passage, citation) in enumerate(zip(passages, cite(passages, [""] * len(passages), cited=False), strict=True), 1):
        out().print(citation_heading(number, citation, "").append(f"  {passage.score:.2f}", style="cyan"))
        out().print(Padding(Text(one_line(citation.text)), (0, 0, 1, 2), expand=False))
