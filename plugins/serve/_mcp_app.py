"""The view of an answer for MCP hosts that show interfaces (MCP Apps, SEP-1865): a document, and what it needs besides the result."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from mcp.server.apps import APP_MIME_TYPE, ResourceCsp, client_supports_apps
from mcp.server.context import ServerRequestContext
from mcp.types import ListResourcesResult, ReadResourceResult, Resource, TextResourceContents

from ramify.nodes.tree import Passage
from ramify.nodes.tree.citation import cite, headings
from ramify.tools.pages import read_packaged, render_page
from ramify.tools.pages.modules import join_modules
from ramify.tools.scrub import mask_known
from ramify.tools.supporting_sentence import QuestionAnswer, quote_support

APP_URI = "ui://ramify/answer.html"
TOOL_META = {"ui": {"resourceUri": APP_URI}}
"""The `_meta` of a tool whose result the view shows."""
PASSAGES_META = "ramify/passages"
"""The key in `_meta` of a result of what its branches cite and its answer does not; no model reads that."""
MAX_PASSAGES = 40
_FIELDS = {"id", "collection", "source", "name", "title", "heading", "page", "path", "link", "text", "quote", "start", "end"}
_STYLE_SHEETS = ("ramify.css", "turn.css", "mcp_app.css")
_UI = {"csp": ResourceCsp().model_dump(by_alias=True, exclude_none=True), "prefersBorder": True}
"""It loads nothing from any domain."""


def list_app() -> ListResourcesResult:
    """Return the list of the one resource."""
    description = "Shows the answer of a question with its sources and its tree of sub-questions."
    resource = Resource(uri=APP_URI, name="answer", title="Answer", description=description, mime_type=APP_MIME_TYPE, _meta={"ui": _UI})
    return ListResourcesResult(resources=[resource])


def read_app() -> ReadResourceResult:
    """Return the document."""
    contents = TextResourceContents(uri=APP_URI, mime_type=APP_MIME_TYPE, text=app_document(), _meta={"ui": _UI})
    return ReadResourceResult(contents=[contents])


@cache
def app_document() -> str:
    """Return the view: a self-contained HTML document that receives the result from the host."""
    style = "".join(map(read_packaged, _STYLE_SHEETS))
    return render_page("mcp_app.html", join_modules("mcp_app.js"), style, version=version("ramify-rag"))


def may_show_apps(context: ServerRequestContext[Any]) -> bool:
    """Return whether the client shows apps, or has not told: without sessions, those of earlier specifications cannot."""
    return context.session.client_capabilities is None or client_supports_apps(context)


def cited_in_branches(result: Mapping[str, Any], passages: Mapping[str, Passage]) -> list[dict[str, Any]]:
    """Return the citations of a result's branches that are not those of its answer, in JSON values without known secrets; blocking.

    Each quotes the sentence with the branch's answer.
    """
    known = {citation["id"] for citation in result["citations"]}
    rows = {id: row for row in reversed(result["tree"]) for id in row["cited"] if id in passages and id not in known}
    cited = []
    for id, row in list(rows.items())[:MAX_PASSAGES]:
        passage = passages[id]
        quote = quote_support(passage.text, [QuestionAnswer(row["question"], row["answer"] or "")], headings(passage))
        [citation] = cite([passage], [quote], cited=False)
        cited.append(citation.model_dump(include=_FIELDS))
    masked: list[dict[str, Any]] = mask_known(cited)
    return masked
