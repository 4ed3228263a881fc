"""Our own interface, for the page and for scripts: collections, strategies, questions, conversations and sources as JSON."""

import asyncio
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from ramify.studio.serve.answers import Kept, kept_remarks, page_of, remarks
from ramify.studio.serve.bodies import read
from ramify.studio.serve.catalog import Selection
from ramify.studio.serve.collections_api import CollectionsApi
from ramify.studio.serve.questions import Asked, Event, Failure
from ramify.studio.serve.reviewing import Decided
from ramify.studio.serve.serving import Ask, Editing, Serving
from ramify.studio.serve.settings_of import strategies_json
from ramify.studio.serve.sources import file_of, media_type, passage_json
from ramify.studio.serve.streams import SSE, Stream, sse
from ramify.studio.serve.threads import Rate
from ramify.studio.serve.users import user_of
from ramify.tools.errors import UsageError

PREFIX = "/ramify/v1"
_FILE_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_NO_SCRIPTS = {"Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"}
"""A document can neither run a script in the server's name nor load anything; browsers show no PDF so, and run none of its scripts here."""
PDF = "application/pdf"


class JsonApi:
    """The routes of our own interface."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def routes(self) -> list[Route]:
        """Return the routes, below `PREFIX`."""
        return [
            Route("/about", self.about),
            Route("/collections", self.collections),
            Route("/strategies", self.strategies),
            Route("/ask", self.ask, methods=["POST"]),
            Route("/stop", self.stop, methods=["POST"]),
            Route("/threads", self.threads),
            Route("/threads/{thread}", self.thread),
            Route("/threads/{thread}", self.delete_thread, methods=["DELETE"]),
            Route("/threads/{thread}/edit", self.edit, methods=["POST"]),
            Route("/threads/{thread}/decisions", self.decide, methods=["POST"]),
            Route("/threads/{thread}/rating", self.rate, methods=["POST"]),
            Route("/source", self.source),
            Route("/file", self.file),
            Route("/page", self.page, methods=["POST"]),
            *(CollectionsApi(made).routes() if (made := self._serving.collections) else ()),
        ]

    async def about(self, request: Request) -> Response:
        """Say who asks, and what there is to choose from."""
        catalog = self._serving.catalog
        first = catalog.collection(None).name
        default = {"collection": first, "strategy": catalog.strategy, "model": catalog.models[0]}
        told = {"version": version("ramify-rag"), "user": user_of(request), "default": default, "models": list(catalog.models)}
        return JSONResponse(told)

    async def collections(self, request: Request) -> Response:
        """List the collections."""
        made, catalog = self._serving.collections, self._serving.catalog
        if made is not None:
            listed = await asyncio.to_thread(made.listed, user_of(request))
        else:
            listed = [await asyncio.to_thread(one.to_json) for one in catalog.collections.values()]
        watched = {one.where: one.to_json() for one in self._serving.watched}
        for told in listed:
            if (one := catalog.collections.get(told["name"])) and one.where in watched:
                told["watched"] = watched[one.where]
        folders = list(map(str, made.folders)) if made is not None else []
        return JSONResponse({"collections": listed, "writable": made is not None, "folders": folders})

    async def strategies(self, request: Request) -> Response:
        """List the strategies with their settings."""
        return JSONResponse({"strategies": await asyncio.to_thread(strategies_json, self._serving.catalog)})

    async def ask(self, request: Request) -> Response:
        """Answer a question as server-sent events."""
        given = await read(request, Ask)
        asked = await self._serving.ask(user_of(request), given)
        return Stream(asked, _events(asked, given.question), SSE)

    async def stop(self, request: Request) -> Response:
        """Stop a question; its stream ends with an error of the kind `stopped`."""
        given = await read(request, Stopping)
        return JSONResponse({"stopped": self._serving.questions.stop(user_of(request), given.id)})

    async def threads(self, request: Request) -> Response:
        """List the user's conversations."""
        return JSONResponse({"threads": await self._serving.threads.listed(user_of(request))})

    async def thread(self, request: Request) -> Response:
        """Return a conversation with its turns."""
        name = request.path_params["thread"]
        found = await self._serving.threads.turns(user_of(request), name, dict(self._serving.catalog.collections))
        if found is None:
            raise _no_thread(name)
        for turn in found["turns"]:
            turn["remarks"] = await asyncio.to_thread(self._remarks, turn)
        return JSONResponse(found)

    def _remarks(self, turn: dict[str, Any]) -> dict[str, Any] | None:
        if turn["result"] is None:
            return None
        kept = Kept(collection=turn["collection"], result=turn["result"])
        return kept_remarks(turn["asked"], kept, self._serving.catalog)

    async def delete_thread(self, request: Request) -> Response:
        """Delete a conversation that is at no question."""
        user, name = user_of(request), request.path_params["thread"]
        if self._serving.questions.busy(user, name):
            raise UsageError(f"the conversation {name!r} is at a question", "stop it first")
        if not await self._serving.threads.delete(user, name):
            raise _no_thread(name)
        return JSONResponse({"deleted": name})

    async def edit(self, request: Request) -> Response:
        """Edit a branch of a conversation's last question and run on from there, as server-sent events."""
        name, given = request.path_params["thread"], await read(request, Editing)
        if (asked := await self._serving.edit(user_of(request), name, given)) is None:
            raise _no_thread(name)
        return Stream(asked, _events(asked), SSE)

    async def decide(self, request: Request) -> Response:
        """Take what a person decided on what a conversation's question proposes; the question's own stream tells what comes of it."""
        name, given = request.path_params["thread"], await read(request, Decided)
        if not self._serving.questions.decide(user_of(request), name, given):
            raise HTTPException(
                404, f"nothing of the conversation {name[:80]!r} waits for this decision: its event `review` says what does"
            )
        return JSONResponse({"decided": name})

    async def rate(self, request: Request) -> Response:
        """Rate an answer of a conversation."""
        name, given = request.path_params["thread"], await read(request, Rate)
        if not await self._serving.threads.rate(user_of(request), name, given):
            raise HTTPException(404, f"the conversation {name[:80]!r} has no such question with this answer")
        return JSONResponse({"rated": given.rating})

    async def source(self, request: Request) -> Response:
        """Return the text of a passage, and where it stands."""
        selection = self._selection(request)
        identity, quote = request.query_params.get("passage", ""), request.query_params.get("quote", "")
        found = await asyncio.to_thread(passage_json, selection, identity, quote)
        if found is None:
            raise _no_passage(identity)
        return JSONResponse(found)

    async def file(self, request: Request) -> Response:
        """Return the file of a passage."""
        identity = request.query_params.get("passage", "")
        path = await asyncio.to_thread(file_of, self._selection(request), identity)
        if path is None:
            raise HTTPException(404, f"there is no file of the passage {identity[:80]!r} here: its text is at {PREFIX}/source")
        kind = media_type(path)
        headers = _FILE_HEADERS if kind == PDF else {**_FILE_HEADERS, **_NO_SCRIPTS}
        return FileResponse(path, headers=headers, media_type=kind, filename=path.name, content_disposition_type="inline")

    def _selection(self, request: Request) -> Selection:
        return self._serving.catalog.selection(request.query_params.getlist("collection"))

    async def page(self, request: Request) -> Response:
        """Return the page of an answer, to be stored."""
        drawn = await asyncio.to_thread(page_of, await read(request, Kept), self._serving.catalog)
        return HTMLResponse(drawn, headers={**_FILE_HEADERS, **_NO_SCRIPTS, "Content-Disposition": "attachment; filename=answer.html"})


class Stopping(BaseModel):
    """Which question to stop, by the id of its event `accepted`."""

    id: str


def refusal(failure: Failure) -> dict[str, Any]:
    """Return a failure in the form of our own interface."""
    return {"error": failure.to_json()}


async def _events(asked: Asked, question: str | None = None) -> AsyncIterator[str]:
    """Yield what happens; without the question as it was asked, nothing is said of how it was understood."""
    async for event in asked.events():
        if event.name == "result":
            result = asked.answer()
            yield sse(Event("remarks", remarks(result.question if question is None else question, result)))
        yield sse(event)


def _no_thread(name: str) -> HTTPException:
    return HTTPException(404, f"there is no conversation {name[:80]!r}: {PREFIX}/threads lists those that there are")


def _no_passage(identity: str) -> HTTPException:
    return HTTPException(404, f"there is no passage {identity[:80]!r} here: take the id of a citation, and its collection")
