"""A strategy, and a search, as tools for a larger agent."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel, ValidationError

from ramify.graphs.callers_config import in_threads, inherited
from ramify.graphs.run import Watch, ask_graph, blocking
from ramify.graphs.strategies import DEFAULT, configure
from ramify.graphs.tool_interface import Asked, AskedWithin, Sought, SoughtWithin, answered, failure, found
from ramify.nodes.citation import near
from ramify.nodes.plant import checked
from ramify.nodes.retrieve import passage_of
from ramify.tools.errors import RamifyError
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import How
from ramify.tools.index.location import check_there
from ramify.tools.index.searcher import DEMO, Searchable, lacking, searcher
from ramify.tools.quoting import one_line

Work = Callable[..., Awaitable[tuple[str, Any]]]
"""Takes the caller's config and the arguments; gives what the model reads, and the artifact."""

RESEARCH = (
    "Answer a question from {about}, with sources. It searches there, splits a hard question into easier ones, answers each and drops "
    "what does not hold. Use it for facts that may be in the documents, above all where several must be combined. It returns the answer, "
    "a confidence from 0 to 1 and numbered quotations. 'Unknown' means that no answer was found there."
)
SEARCH = (
    "Find passages in {about}. It returns the best passages, numbered, each with its source and a score. Use it to read what the documents "
    "say about something; it answers no question by itself."
)
ABOUT = "the user's own documents"
ABOUT_DEMO = (
    "the demonstration corpus of ramify: short encyclopedia texts, about inventors, scientists, films and cities among others, "
    "and nothing of the user's own"
)
DIGITS = 4
"""Of a confidence or a score in an artifact: more would tell nothing."""


def research_tool(
    strategy: str = DEFAULT, *, name: str = "research_documents", about: str | None = None, watch: Watch | None = None, **options: Any
) -> StructuredTool:
    """Offer a strategy as a tool; options are settings or arguments of its wiring, as in `ask`, and hold for every call.

    `about` tells the calling model what the documents are; `watch` sees each event of a run. The artifact is what `ask --json` prints,
    with its figures rounded. UsageError or IndexingError for wrong options, at once.
    """
    wiring, settings = configure(strategy, options)
    _there(settings.index)

    async def research(config: RunnableConfig, question: str, filter: Mapping[str, Any] | None = None) -> tuple[str, Any]:
        within = settings.model_copy(update={"filter": {**(filter or {}), **(settings.filter or {})} or None})
        given = inherited(config, strategy, name, question, filter)
        result = await ask_graph(wiring.as_subgraph, strategy, question, within, watch, given)
        if reason := failure(result):
            raise ToolException(f"error: {one_line(reason)}")
        return answered(result), _rounded(result.to_json())

    return _offered(
        name, RESEARCH.format(about=about or about_of(settings.index)), AskedWithin if _filters(settings.index) else Asked, research
    )


def search_tool(
    index: Searchable = DEMO, k: int = 5, *, name: str = "search_documents", about: str | None = None, filter: dict[str, Any] | None = None
) -> StructuredTool:
    """Offer the search of an index as a tool; the artifact is the list that `search --json` prints."""
    How(k=k).checked()
    _there(index)

    async def search(config: RunnableConfig, query: str, filter: Mapping[str, Any] | None = None) -> tuple[str, Any]:
        wanted = {**(filter or {}), **(fixed or {})}
        hits = (await searcher(index)([checked(query)], k=k, filter=wanted or None))[0]
        passages = [one.model_dump(mode="json", exclude={"value"}) for one in near(query, [passage_of(hit) for hit in hits])]
        told = None if hits else await asyncio.to_thread(lacking, index, wanted)
        return found(passages, wanted) + (f"\nNote: {one_line(told)}" if told else ""), passages

    fixed = filter
    return _offered(name, SEARCH.format(about=about or about_of(index)), SoughtWithin if _filters(index) else Sought, search)


def about_of(index: Searchable) -> str:
    """Say what an index holds where nobody has said it."""
    return ABOUT_DEMO if index == DEMO else ABOUT


def _offered(name: str, description: str, arguments: type[BaseModel], work: Work) -> StructuredTool:
    """Make a tool with both faces; what the calling model can act on comes back to it as one line, all else is raised."""

    async def acting(config: RunnableConfig, **given: Any) -> tuple[str, Any]:
        try:
            return await work(config, **given)
        except RamifyError as error:
            raise ToolException(f"error: {one_line(error)}") from error

    def act(config: RunnableConfig, **given: Any) -> tuple[str, Any]:
        return blocking(acting(in_threads(config), **given))

    return StructuredTool(
        name=name,
        description=description,
        args_schema=arguments,
        func=act,
        coroutine=acting,
        response_format="content_and_artifact",
        handle_tool_error=True,
        handle_validation_error=_refusal,
    )


def _refusal(error: ValidationError | Any) -> str:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"])) or "arguments"
    return one_line(f"error: {where} is not valid: {first['msg']} — correct it and call again")


def _rounded(told: Any) -> Any:
    """Round the figures in plain values."""
    if isinstance(told, dict):
        return {key: _rounded(value) for key, value in told.items()}
    if isinstance(told, list):
        return [_rounded(value) for value in told]
    return round(told, DIGITS) if isinstance(told, float) else told


def _filters(index: Searchable) -> bool:
    """Tell whether a filter of fields and values means something there: other stores have dialects of their own."""
    return isinstance(index, (Index, str, Path))


def _there(index: Searchable) -> None:
    """Raise IndexingError where there is no index: better now than in the middle of an agent's run."""
    if isinstance(index, (str, Path)) and index != DEMO:
        check_there(index)
