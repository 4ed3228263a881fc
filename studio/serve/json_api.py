"""Our own interface, for the page and for scripts: collections, strategies, questions, conversations and sources as JSON."""

import asyncio
import base64
import binascii
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, ConfigDict, NonNegativeInt
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ramify.studio.serve.answers import Kept, file_of, kept_remarks, media_type, page_of, passage_json, remarks
from ramify.studio.serve.catalog import Selection, strategies_json
from ramify.studio.serve.questions import Asked, Decided, Event, Failure
from ramify.studio.serve.serving import Ask, Editing, Rate, Serving
from ramify.studio.serve.transport import NOT_STORED, SSE, Stream, read, sse, user_of
from ramify.tools.errors import UsageError

PREFIX = "/ramify/v1"
_FILE_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_NO_SCRIPTS = {"Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"}
"""A document can neither run a script in the server's name nor load anything; browsers show no PDF so, and run none of its scripts here."""
PDF = "application/pdf"


class Making(BaseModel):
    """A collection to be made; with `folder`, of a folder on the server."""

    model_config = ConfigDict(extra="forbid")

    name: str
    folder: str | None = None


class Part(BaseModel):
    """A part of a document: where it begins, and its bytes in base64."""

    model_config = ConfigDict(extra="forbid")

    file: str
    offset: NonNegativeInt = 0
    content: str


class Stopping(BaseModel):
    """Which question to stop, by the id of its event `accepted`."""

    id: str


class JsonApi:
    """The routes of our own interface."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._catalog, self._threads, self._collections = serving.catalog, serving.threads, serving.collections

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
            Route("/collections", self.make_collection, methods=["POST"]),
            Route("/collections/{name}", self.delete_collection, methods=["DELETE"]),
            Route("/collections/{name}/documents", self.documents),
            Route("/collections/{name}/documents", self.receive_document, methods=["POST"]),
            Route("/collections/{name}/documents", self.remove_document, methods=["DELETE"]),
            Route("/collections/{name}/index", self.begin_indexing, methods=["POST"]),
            Route("/collections/{name}/stop", self.stop_indexing, methods=["POST"]),
            Route("/collections/{name}/progress", self.indexing),
        ]

    async def about(self, request: Request) -> Response:
        """Say who asks, and what there is to choose from."""
        first, models = self._catalog.collection(None).name, list(self._catalog.models)
        default = {"collection": first, "strategy": self._catalog.strategy, "model": models[0]}
        return JSONResponse({"version": version("ramify-rag"), "user": user_of(request), "default": default, "models": models})

    async def collections(self, request: Request) -> Response:
        """List the collections."""
        listed = await asyncio.to_thread(self._collections.listed, user_of(request))
        watched = {one.where: one.to_json() for one in self._serving.watched}
        for told in listed:
            if (one := self._catalog.collections.get(told["name"])) and one.where in watched:
                told["watched"] = watched[one.where]
        return JSONResponse({"collections": listed, "writable": True, "folders": list(map(str, self._collections.folders))})

    async def strategies(self, request: Request) -> Response:
        """List the strategies with their settings."""
        return JSONResponse({"strategies": await asyncio.to_thread(strategies_json, self._catalog)})

    async def ask(self, request: Request) -> Response:
        """Answer a question as server-sent events."""
        given = await read(request, Ask)
        asked = await self._serving.ask(user_of(request), given)
        return Stream(asked, _events(asked, given.question))

    async def stop(self, request: Request) -> Response:
        """Stop a question; its stream ends with an error of the kind `stopped`."""
        given = await read(request, Stopping)
        return JSONResponse({"stopped": self._serving.questions.stop(user_of(request), given.id)})

    async def threads(self, request: Request) -> Response:
        """List the user's conversations."""
        return JSONResponse({"threads": await self._threads.listed(user_of(request))})

    async def thread(self, request: Request) -> Response:
        """Return a conversation with its turns."""
        name = request.path_params["thread"]
        found = await self._threads.turns(user_of(request), name, dict(self._catalog.collections))
        if found is None:
            raise _no_thread(name)
        for turn in found["turns"]:
            turn["remarks"] = None
            if turn["result"] is not None:
                kept = Kept(collection=turn["collection"], result=turn["result"])
                turn["remarks"] = await asyncio.to_thread(kept_remarks, turn["asked"], kept, self._catalog)
        return JSONResponse(found)

    async def delete_thread(self, request: Request) -> Response:
        """Delete a conversation that is at no question."""
        user, name = user_of(request), request.path_params["thread"]
        if self._serving.questions.busy(user, name):
            raise UsageError(f"the conversation {name!r} is at a question", "stop it first")
        if not await self._threads.delete(user, name):
            raise _no_thread(name)
        return JSONResponse({"deleted": name})

    async def edit(self, request: Request) -> Response:
        """Edit a branch of a conversation's last question and run on from there, as server-sent events."""
        name, given = request.path_params["thread"], await read(request, Editing)
        if (asked := await self._serving.edit(user_of(request), name, given)) is None:
            raise _no_thread(name)
        return Stream(asked, _events(asked))

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
        if not await self._threads.rate(user_of(request), name, given):
            raise HTTPException(404, f"the conversation {name[:80]!r} has no such question with this answer")
        return JSONResponse({"rated": given.rating})

    async def source(self, request: Request) -> Response:
        """Return the text of a passage, and where it stands."""
        selection = self._selection(request)
        identity, quote = request.query_params.get("passage", ""), request.query_params.get("quote", "")
        found = await asyncio.to_thread(passage_json, selection, identity, quote)
        if found is None:
            raise HTTPException(404, f"there is no passage {identity[:80]!r} here: take the id of a citation, and its collection")
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
        return self._catalog.selection(request.query_params.getlist("collection"))

    async def page(self, request: Request) -> Response:
        """Return the page of an answer, to be stored."""
        drawn = await asyncio.to_thread(page_of, await read(request, Kept), self._catalog)
        return HTMLResponse(drawn, headers={**_FILE_HEADERS, **_NO_SCRIPTS, "Content-Disposition": "attachment; filename=answer.html"})

    async def make_collection(self, request: Request) -> Response:
        """Make a collection."""
        given = await read(request, Making)
        return JSONResponse({"name": await asyncio.to_thread(self._collections.make, user_of(request), given.name, given.folder)})

    async def delete_collection(self, request: Request) -> Response:
        """Delete a collection."""
        name = request.path_params["name"]
        await asyncio.to_thread(self._collections.delete, user_of(request), name)
        return JSONResponse({"deleted": name})

    async def documents(self, request: Request) -> Response:
        """List the documents of a collection."""
        return JSONResponse(await asyncio.to_thread(self._collections.documents, request.path_params["name"]))

    async def receive_document(self, request: Request) -> Response:
        """Take in a part of a document."""
        given = await read(request, Part)
        try:
            content = base64.b64decode(given.content, validate=True)
        except binascii.Error as error:
            raise UsageError(f"the content of {given.file!r} is not base64 ({error})", "encode its bytes in base64") from None
        user, name = user_of(request), request.path_params["name"]
        held = await asyncio.to_thread(self._collections.receive, user, name, given.file, given.offset, content)
        return JSONResponse({"file": given.file, "bytes": held})

    async def remove_document(self, request: Request) -> Response:
        """Delete a document that was sent."""
        name, file = request.path_params["name"], request.query_params.get("file", "")
        if not await asyncio.to_thread(self._collections.remove, user_of(request), name, file):
            raise HTTPException(404, f"there is no document {file[:80]!r} in {name!r}: its documents are listed")
        return JSONResponse({"deleted": file})

    async def begin_indexing(self, request: Request) -> Response:
        """Begin to index a collection."""
        self._collections.index(user_of(request), request.path_params["name"])
        return JSONResponse({"started": True}, 202)

    async def stop_indexing(self, request: Request) -> Response:
        """Stop indexing; what is done so far is kept."""
        return JSONResponse({"stopped": self._collections.stop(user_of(request), request.path_params["name"])})

    async def indexing(self, request: Request) -> Response:
        """Tell how far the build that runs, or ran last, is, as server-sent events."""
        name = request.path_params["name"]
        if (build := self._collections.build(name)) is None:
            raise HTTPException(404, f"{name[:80]!r} has not been indexed since the server was started: begin with POST …/index")
        events = (sse(event) async for event in build.events())
        return StreamingResponse(events, media_type=SSE, headers=NOT_STORED)


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
