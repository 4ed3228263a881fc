"""ramify search: search an index, without a model."""

from contextlib import nullcontext
from typing import Annotated

import typer

from ramify.studio.console.options import AllowPickle, Filters, Indexes, loaded_stores, read_filter
from ramify.studio.console.streams import err, note, out, print_json
from ramify.tools.quoting import one_line
from ramify.tools.user_input import check_text

Asked = Annotated[str, typer.Argument(metavar="QUESTION", help="What to search for.", callback=check_text)]
Count = Annotated[int, typer.Option("-k", min=1, metavar="N", help="Number of passages.")]
Rerank = Annotated[
    str,
    typer.Option(
        "--rerank",
        metavar="NAME",
        help="Rerank the best 20: reader (the embedded model), or a cross-encoder of sentence-transformers by name or path.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print only a JSON list of {id, source, text, score, metadata}; of several indexes, also collection.")
]


RERANKED = 20
"""Passages that are reranked."""


def search(
    question: Asked,
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
        from ramify.tools.index.searcher import DEMO, Searchable, find_passages, unknown_filter_fields, warm_soon

        stores = loaded_stores(index, allow_pickle)
        where: Searchable = (stores[0] if len(stores) == 1 else stores) if stores else DEMO
        warm_soon(where)  # beside the imports
        from ramify.graphs.run import blocking
        from ramify.nodes.init_tree import checked
        from ramify.nodes.retrieve import passage_of
        from ramify.nodes.tree.citation import cite, near
        from ramify.studio.drawing.terminal import head_of
        from ramify.tools.relevance import load, reranked, width

    wanted = read_filter(filters)
    load(rerank)
    [found] = blocking(find_passages(where, [checked(question)], k=width(rerank, k, RERANKED), filter=wanted))
    passages = near(question, [passage_of(hit) for hit in reranked(question, found, rerank, k)])
    if not passages and (told := unknown_filter_fields(where, wanted)):
        note(told)
    if as_json:
        print_json([passage.to_json() for passage in passages])
        return
    if not passages:
        out().print("Nothing found: check the index and the filter.")
    for number, (passage, citation) in enumerate(zip(passages, cite(passages, [""] * len(passages), cited=False), strict=True), 1):
        out().print(head_of(number, citation, "").append(f"  {passage.score:.2f}", style="cyan"))
        out().print(Padding(Text(one_line(citation.text)), (0, 0, 1, 2), expand=False))
