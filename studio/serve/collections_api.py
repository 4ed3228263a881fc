"""The part of our own interface that makes, fills, indexes and deletes collections."""

import asyncio
import base64
import binascii
from collections.abc import AsyncIterator

from pydantic import BaseModel, ConfigDict, NonNegativeInt
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ramify.studio.serve.bodies import read
from ramify.studio.serve.collections import Build, Collections
from ramify.studio.serve.streams import HEADERS, SSE, sse
from ramify.studio.serve.users import user_of
from ramify.tools.errors import UsageError


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


class CollectionsApi:
    """The routes that change collections."""

    def __init__(self, collections: Collections) -> None:
        self._collections = collections

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/collections", self.make, methods=["POST"]),
            Route("/collections/{name}", self.delete, methods=["DELETE"]),
            Route("/collections/{name}/documents", self.documents),
            Route("/collections/{name}/documents", self.receive, methods=["POST"]),
            Route("/collections/{name}/documents", self.remove, methods=["DELETE"]),
            Route("/collections/{name}/index", self.index, methods=["POST"]),
            Route("/collections/{name}/stop", self.stop, methods=["POST"]),
            Route("/collections/{name}/progress", self.progress),
        ]

    async def make(self, request: Request) -> Response:
        """Make a collection."""
        given = await read(request, Making)
        return JSONResponse({"name": await asyncio.to_thread(self._collections.make, user_of(request), given.name, given.folder)})

    async def delete(self, request: Request) -> Response:
        """Delete a collection."""
        name = request.path_params["name"]
        await asyncio.to_thread(self._collections.delete, user_of(request), name)
        return JSONResponse({"deleted": name})

    async def documents(self, request: Request) -> Response:
        """List the documents of a collection."""
        return JSONResponse(await asyncio.to_thread(self._collections.documents, request.path_params["name"]))

    async def receive(self, request: Request) -> Response:
        """Take in a part of a document."""
        given = await read(request, Part)
        try:
            content = base64.b64decode(given.content, validate=True)
        except binascii.Error as error:
            raise UsageError(f"the content of {given.file!r} is not base64 ({error})", "encode its bytes in base64") from None
        user, name = user_of(request), request.path_params["name"]
        held = await asyncio.to_thread(self._collections.receive, user, name, given.file, given.offset, content)
        return JSONResponse({"file": given.file, "bytes": held})

    async def remove(self, request: Request) -> Response:
        """Delete a document that was sent."""
        name, file = request.path_params["name"], request.query_params.get("file", "")
        if not await asyncio.to_thread(self._collections.remove, user_of(request), name, file):
            raise HTTPException(404, f"there is no document {file[:80]!r} in {name!r}: its documents are listed")
        return JSONResponse({"deleted": file})

    async def index(self, request: Request) -> Response:
        """Begin to index a collection."""
        self._collections.index(user_of(request), request.path_params["name"])
        return JSONResponse({"started": True}, 202)

    async def stop(self, request: Request) -> Response:
        """Stop indexing; what is done so far is kept."""
        return JSONResponse({"stopped": self._collections.stop(user_of(request), request.path_params["name"])})

    async def progress(self, request: Request) -> Response:
        """Tell how far the build that runs, or ran last, is, as server-sent events."""
        name = request.path_params["name"]
        if (build := self._collections.build(name)) is None:
            raise HTTPException(404, f"{name[:80]!r} has not been indexed since the server was started: begin with POST …/index")
        return StreamingResponse(_events(build), media_type=SSE, headers=HEADERS)


async def _events(build: Build) -> AsyncIterator[str]:
    async for event in build.events():
        yield sse(event)
