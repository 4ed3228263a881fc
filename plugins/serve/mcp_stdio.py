"""The MCP server on stdin and stdout."""

import asyncio
import json
from collections import Counter
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError

from ramify.tools.quoting import one_line, truncate_message
from ramify.tools.user_input import is_unicode


async def serve_stdio(server: Server[Any]) -> None:
    """Serve on stdin and stdout until the client has closed stdin and all its requests are answered, or it has disconnected."""
    try:
        async with stdio_server() as (incoming, outgoing), asyncio.TaskGroup() as group:
            forwarded, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            reply, replies = anyio.create_memory_object_stream[SessionMessage](0)
            pending = _PendingRequests()
            group.create_task(_forward(incoming, outgoing, forwarded, pending))
            group.create_task(_write(replies, outgoing, pending))
            await server.run(receive, reply, server.create_initialization_options())
    except* (BrokenPipeError, anyio.BrokenResourceError):  # stdout is closed
        pass


class _PendingRequests:
    """The requests that are not answered yet: the library would drop them at the end of stdin."""

    def __init__(self) -> None:
        self._ids: Counter[RequestId] = Counter()  # a client may give an id twice
        self.all_answered = asyncio.Event()
        self.all_answered.set()

    def track(self, message: JSONRPCMessage) -> None:
        """Track a message from or to the client. Cancelled requests are not answered."""
        if isinstance(message, JSONRPCRequest):
            self._ids[message.id] += 1
        elif isinstance(message, JSONRPCResponse | JSONRPCError):
            self._remove(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._remove((message.params or {}).get("requestId"))
        (self.all_answered.clear if self._ids else self.all_answered.set)()

    def _remove(self, request_id: object) -> None:
        """Remove one request of an id, if there is one."""
        if isinstance(request_id, int | str) and request_id in self._ids:
            self._ids[request_id] -= 1
            self._ids += Counter()  # drops what is zero


async def _forward(
    incoming: ReadStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
    forwarded: WriteStream[SessionMessage | Exception],
    pending: _PendingRequests,
) -> None:
    """Forward messages of the client, answer invalid ones, which the library would ignore, and return when all are answered."""
    async with forwarded:
        async for message in incoming:
            if isinstance(message, Exception):
                await outgoing.send(SessionMessage(_parse_error_reply(message)))
            else:
                pending.track(message.message)
                await forwarded.send(message)
        await pending.all_answered.wait()


async def _write(replies: ReadStream[SessionMessage], outgoing: WriteStream[SessionMessage], pending: _PendingRequests) -> None:
    """Forward messages to the client until there are no more, then close the stream, so that the process can end."""
    async with outgoing:
        async for message in replies:
            await outgoing.send(message)
            pending.track(message.message)


def _parse_error_reply(error: Exception) -> JSONRPCResponse | JSONRPCError:
    """Return the reply to an invalid message: an error result for a tool call, else a protocol error.

    The library's parser rejects unpaired surrogates (\\ud800), but Python's accepts them, so that the id of such a call is known.
    """
    failure: Any = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else {"msg": str(error), "input": ""}
    try:
        request = json.loads(failure["input"]) if isinstance(failure["input"], str) else failure["input"]
    except (ValueError, RecursionError):
        request = None
    fields = request if isinstance(request, dict) else {}
    request_id = (
        fields["id"] if isinstance(fields.get("id"), int) or (isinstance(fields.get("id"), str) and is_unicode(fields["id"])) else None
    )
    problem = truncate_message(one_line(f"the message is not valid: {failure['msg']}"))
    line = f"{problem} — send JSON in UTF-8, without unpaired surrogates"
    if request_id is None or fields.get("method") != "tools/call":
        return JSONRPCError(
            jsonrpc="2.0", id=request_id, error=ErrorData(code=PARSE_ERROR if request is None else INVALID_REQUEST, message=line)
        )
    result = {"content": [{"type": "text", "text": f"error: {line}"}], "isError": True}
    return JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result)
