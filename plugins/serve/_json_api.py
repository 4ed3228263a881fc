"""Ramify's own JSON interface, for the web page and scripts: collections, strategies, questions, conversations and sources."""

import asyncio
import base64
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, ConfigDict, NonNegativeInt
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ramify.serve._answers import (
    StoredResult,
    media_type,
    passage_file,
    passage_json,
    result_remarks,
    stored_remarks,
    stored_result_page,
)
from ramify.serve._public import public_index, public_result
from ramify.serve.catalog import MAX_QUOTED_CHARS, Selection, strategies_json
from ramify.serve.questions import DecisionsRequest, Event, Failure, RunningQuestion
from ramify.serve.service import MAX_CHOSEN_FILES, AskRequest, EditRequest, QuestionService, RatingRequest
from ramify.serve.suggesting import Suggestions
from ramify.serve.transport import NO_STORE_HEADERS, SSE_MEDIA_TYPE, AnswerStream, format_sse, parse_body, request_user
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.quoting import truncate_line

PREFIX = "/ramify/v1"
_FILE_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_NO_SCRIPTS = {"Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"}
"""Documents can neither run scripts in the server's origin nor load anything. Not sent with PDF files: browsers would not display them."""
PDF = "application/pdf"


class CreateCollectionRequest(BaseModel):
    """Create a collection of uploads, or with `folder`, of a folder on the server."""

    model_config = ConfigDict(extra="forbid")

    name: str
    folder: str | None = None


class DocumentChunk(BaseModel):
    """A part of a document: its offset, its bytes in base64, and the size of the whole document, without which the part completes it."""

    model_config = ConfigDict(extra="forbid")

    file: str
    offset: NonNegativeInt = 0
    content: str
    size: NonNegativeInt | None = None


class StopRequest(BaseModel):
    """Stop a question, named by the id of its event `accepted`."""

    id: str


class JsonApi:
    """The routes of the JSON interface."""

    def __init__(self, service: QuestionService) -> None:
        self._service = service
        self._suggestions = Suggestions()
        self._catalog, self._threads, self._collections = service.catalog, service.threads, service.collections

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
            Route("/collections", self.create_collection, methods=["POST"]),
            Route("/collections/{name}", self.delete_collection, methods=["DELETE"]),
            Route("/collections/{name}/questions", self.suggested_questions),
            Route("/collections/{name}/documents", self.documents),
            Route("/collections/{name}/documents", self.upload_document, methods=["POST"]),
            Route("/collections/{name}/documents", self.delete_document, methods=["DELETE"]),
            Route("/collections/{name}/index", self.start_indexing, methods=["POST"]),
            Route("/collections/{name}/stop", self.stop_indexing, methods=["POST"]),
            Route("/collections/{name}/progress", self.indexing_progress),
            Route("/collections/{name}/tests", self.run_tests, methods=["POST"]),
        ]

    async def about(self, request: Request) -> Response:
        """Return the version, the user, the defaults and the models; of the default model the name, and why another is used instead."""
        first, models = self._catalog.collection(None).name, list(self._catalog.models)
        default = {"collection": first, "strategy": self._catalog.strategy, "model": models[0]}
        model, notices = await asyncio.to_thread(self._catalog.resolved_model)
        about = {"version": version("ramify-rag"), "user": request_user(request), "default": default, "models": models}
        return JSONResponse({**about, "model": model, "notices": notices})

    async def collections(self, request: Request) -> Response:
        """List the collections."""
        listed = await asyncio.to_thread(self._collections.list_collections, request_user(request))
        watched_by_index = {folder.where: folder.to_json() for folder in self._service.watched_folders}
        for entry in listed:
            if (folder := self._catalog.collections.get(entry["name"])) and folder.where in watched_by_index:
                entry["watched"] = watched_by_index[folder.where]
            if tests := self._service.tests.get(entry["name"]):
                entry["tests"] = tests.to_json()
        return JSONResponse({"collections": listed, "writable": True, "folders": list(map(str, self._collections.folders))})

    async def strategies(self, request: Request) -> Response:
        """List the strategies with their settings."""
        return JSONResponse({"strategies": await asyncio.to_thread(strategies_json, self._catalog)})

    async def ask(self, request: Request) -> Response:
        """Answer a question as server-sent events."""
        body = await parse_body(request, AskRequest)
        running = await self._service.ask(request_user(request), body)
        return AnswerStream(running, self._answer_events(running, body.question))

    async def _answer_events(self, running: RunningQuestion, original: str | None = None) -> AsyncIterator[str]:
        """Yield the events of an answer; without the `original` question, the remarks do not mention how it was understood."""
        async for event in running.events():
            if event.name == "result":
                result = running.require_result()
                yield format_sse(Event("remarks", result_remarks(result.question if original is None else original, result)))
                event = Event("result", self._public_result(event.data))
            yield format_sse(event)

    def _public_result(self, result: dict[str, Any]) -> dict[str, Any]:
        return public_result(result, lambda description: public_index(description, list(self._catalog.collections.values())))

    async def stop(self, request: Request) -> Response:
        """Stop a question; its stream ends with an error of the kind `stopped`."""
        body = await parse_body(request, StopRequest)
        return JSONResponse({"stopped": self._service.questions.stop(request_user(request), body.id)})

    async def threads(self, request: Request) -> Response:
        """List the user's conversations."""
        return JSONResponse({"threads": await self._threads.list_threads(request_user(request))})

    async def thread(self, request: Request) -> Response:
        """Return a conversation with its turns."""
        name = request.path_params["thread"]
        conversation = await self._threads.turns(request_user(request), name, dict(self._catalog.collections))
        if conversation is None:
            raise _thread_not_found(name)
        for turn in conversation["turns"]:
            turn["remarks"] = None
            if turn["result"] is not None:
                stored = StoredResult(collection=turn["collection"], result=turn["result"])
                try:
                    turn["remarks"] = await asyncio.to_thread(stored_remarks, turn["asked"], stored, self._catalog)
                except IndexingError:  # the collection is damaged, and listed as such: the turn is shown without what its passages tell
                    stored = stored.model_copy(update={"collection": None})
                    turn["remarks"] = await asyncio.to_thread(stored_remarks, turn["asked"], stored, self._catalog)
                turn["result"] = self._public_result(turn["result"])
        return JSONResponse(conversation)

    async def delete_thread(self, request: Request) -> Response:
        """Delete a conversation; raise UsageError while one of its questions is being answered."""
        user, name = request_user(request), request.path_params["thread"]
        await self._service.questions.wait_for_stopped(user, name)
        if self._service.questions.is_busy(user, name):
            raise UsageError(f"a question of the conversation {name!r} is being answered", "stop it first")
        if not await self._threads.delete(user, name):
            raise _thread_not_found(name)
        return JSONResponse({"deleted": name})

    async def edit(self, request: Request) -> Response:
        """Edit a branch of a conversation's last question and resume from there, as server-sent events."""
        name, body = request.path_params["thread"], await parse_body(request, EditRequest)
        if (running := await self._service.edit(request_user(request), name, body)) is None:
            raise _thread_not_found(name)
        return AnswerStream(running, self._answer_events(running))

    async def decide(self, request: Request) -> Response:
        """Submit a person's decisions on the actions that a conversation's question proposed; its own stream continues."""
        name, body = request.path_params["thread"], await parse_body(request, DecisionsRequest)
        if not self._service.questions.decide(request_user(request), name, body):
            raise HTTPException(
                404, f"no question of the conversation {name[:80]!r} waits for this decision: send the id of its last event `review`"
            )
        return JSONResponse({"decided": name})

    async def rate(self, request: Request) -> Response:
        """Rate an answer of a conversation."""
        name, body = request.path_params["thread"], await parse_body(request, RatingRequest)
        if not await self._threads.rate(request_user(request), name, body):
            raise HTTPException(404, f"the conversation {name[:80]!r} has no such question with this answer: send both as in its turns")
        return JSONResponse({"rated": body.rating})

    async def source(self, request: Request) -> Response:
        """Return the text of a passage and its source."""
        selection = self._selection(request)
        identity, quote = request.query_params.get("passage", ""), request.query_params.get("quote", "")
        passage = await asyncio.to_thread(passage_json, selection, identity, quote)
        if passage is None:
            raise HTTPException(404, f"there is no passage {identity[:80]!r} on this server: send the id of a citation, and its collection")
        return JSONResponse(passage)

    async def file(self, request: Request) -> Response:
        """Return the file of a passage."""
        identity = request.query_params.get("passage", "")
        path = await asyncio.to_thread(passage_file, self._selection(request), identity)
        if path is None:
            raise HTTPException(404, f"the file of the passage {identity[:80]!r} is not available: get its text from {PREFIX}/source")
        kind = media_type(path)
        headers = _FILE_HEADERS if kind == PDF else {**_FILE_HEADERS, **_NO_SCRIPTS}
        return FileResponse(path, headers=headers, media_type=kind, filename=path.name, content_disposition_type="inline")

    def _selection(self, request: Request) -> Selection:
        return self._catalog.selection(request.query_params.getlist("collection"))

    async def page(self, request: Request) -> Response:
        """Return an answer as an HTML page, as a download."""
        content = await asyncio.to_thread(stored_result_page, await parse_body(request, StoredResult), self._catalog)
        return HTMLResponse(content, headers={**_FILE_HEADERS, **_NO_SCRIPTS, "Content-Disposition": "attachment; filename=answer.html"})

    async def create_collection(self, request: Request) -> Response:
        """Create a collection."""
        body = await parse_body(request, CreateCollectionRequest)
        return JSONResponse({"name": await asyncio.to_thread(self._collections.create, request_user(request), body.name, body.folder)})

    async def delete_collection(self, request: Request) -> Response:
        """Delete a collection."""
        name = request.path_params["name"]
        await asyncio.to_thread(self._collections.delete, request_user(request), name)
        return JSONResponse({"deleted": name})

    async def suggested_questions(self, request: Request) -> Response:
        """Return a few questions that a collection, or the files that are named, can answer; found by rules, or by the model."""
        collection = self._catalog.collection(request.path_params["name"])
        files = request.query_params.getlist("file")[:MAX_CHOSEN_FILES]
        if request.query_params.get("by") != "model":
            return JSONResponse({"questions": await self._suggestions.suggest(collection, files)})
        settings = await asyncio.to_thread(self._catalog.default_settings, request.query_params.get("model"))
        return JSONResponse({"questions": await self._suggestions.suggest(collection, files, settings)})

    async def documents(self, request: Request) -> Response:
        """List the documents of a collection."""
        return JSONResponse(await asyncio.to_thread(self._collections.list_documents, request.path_params["name"]))

    async def upload_document(self, request: Request) -> Response:
        """Append a chunk to an uploaded document."""
        body = await parse_body(request, DocumentChunk)
        try:
            content = base64.b64decode(body.content, validate=True)
        except ValueError as error:  # binascii.Error, or a character that is not ASCII
            raise UsageError(
                f"the content of {truncate_line(repr(body.file), MAX_QUOTED_CHARS)} is not base64 ({error})", "encode its bytes in base64"
            ) from None
        user, name = request_user(request), request.path_params["name"]
        size = await asyncio.to_thread(self._collections.append_upload, user, name, body.file, body.offset, content, body.size)
        return JSONResponse({"file": body.file, "bytes": size})

    async def delete_document(self, request: Request) -> Response:
        """Delete an uploaded document."""
        name, file = request.path_params["name"], request.query_params.get("file", "")
        if not await asyncio.to_thread(self._collections.delete_document, request_user(request), name, file):
            raise HTTPException(404, f"there is no document {file[:80]!r} in {name!r}: GET …/documents lists its documents")
        return JSONResponse({"deleted": file})

    async def start_indexing(self, request: Request) -> Response:
        """Start indexing a collection."""
        self._collections.start_indexing(request_user(request), request.path_params["name"])
        return JSONResponse({"started": True}, 202)

    async def stop_indexing(self, request: Request) -> Response:
        """Stop indexing a collection; it can be resumed."""
        return JSONResponse({"stopped": self._collections.stop_indexing(request_user(request), request.path_params["name"])})

    async def indexing_progress(self, request: Request) -> Response:
        """Return the progress of the running or last build as server-sent events."""
        name = request.path_params["name"]
        if (job := self._collections.find_build(name)) is None:
            raise HTTPException(404, f"{name[:80]!r} has not been indexed since the server was started: start with POST …/index")
        events = (format_sse(event) async for event in job.events())
        return StreamingResponse(events, media_type=SSE_MEDIA_TYPE, headers=NO_STORE_HEADERS)

    async def run_tests(self, request: Request) -> Response:
        """Run the tests of a collection; the list of collections has what came of them."""
        name = request.path_params["name"]
        if (tests := self._service.tests.get(name)) is None:
            raise HTTPException(404, f"{name[:80]!r} has no tests here: start the server with --test {name[:80]}=FILE")
        tests.start()
        return JSONResponse({"started": True}, 202)


def error_body(failure: Failure) -> dict[str, Any]:
    """Return the body of an error response."""
    return {"error": failure.to_json()}


def _thread_not_found(name: str) -> HTTPException:
    return HTTPException(404, f"there is no conversation {name[:80]!r}: GET {PREFIX}/threads lists yours")
