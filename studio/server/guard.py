"""Who may use the development server: a guard before all of its routes, as `http.app` of langgraph.json.

Any web page can send requests to this machine, and to a name of its own that leads to this machine. So a request has to be addressed to a
name on the list, come from a page on the list or from no page at all, and be of the kind that a browser asks about beforehand.
"""

import json
import os
import re
from collections.abc import Iterable
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ramify.studio.server.origins import pattern

READING = frozenset({"GET", "HEAD", "OPTIONS"})
INSIDE = "/noauth"
"""Where the server mounts itself for its own calls; no request from outside has this root."""


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    why: str


class Guard:
    """Answer what is not allowed with one line, and hand everything else on."""

    def __init__(self, app: ASGIApp, allowed: str) -> None:
        self._app = app
        self._allowed = re.compile(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a request or the opening of a socket."""
        refused = None if scope["type"] == "lifespan" or scope.get("root_path", "").startswith(INSIDE) else self._refusal(scope)
        if refused is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await JSONResponse({"detail": refused.why}, refused.status)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": refused.why})

    def _refusal(self, scope: Scope) -> Refusal | None:
        hosts, origins = _values(scope, "host"), _values(scope, "origin")
        if not hosts or not all(self._listed(f"http://{host}", f"https://{host}") for host in hosts):
            return _refused_origin("is not reached by the name", hosts[:1] and f"http://{hosts[0]}")
        if not all(self._listed(origin) for origin in origins):
            return _refused_origin("does not answer the pages of", origins[0])
        if not origins and _is_from_a_page_elsewhere(scope):
            return Refusal(403, "this server does not answer the pages of other sites")
        if scope.get("method", "GET") not in READING and _has_body(scope) and not _is_json(scope):
            return Refusal(415, "this server reads JSON: send it with the content type application/json")
        return None

    def _listed(self, *origins: str) -> bool:
        return any(self._allowed.fullmatch(origin) for origin in origins)


def _refused_origin(what: str, origin: str | list[str]) -> Refusal:
    named = (origin or "none")[:200]
    return Refusal(403, f"this server {what} {named!r} — whoever started it can add it: `ramify studio --allow-origin {named}`")


def _is_from_a_page_elsewhere(scope: Scope) -> bool:
    """Tell a picture, script or frame of a foreign page: a browser names no origin for those; following a link is no harm."""
    sites, kinds = _values(scope, "sec-fetch-site"), _values(scope, "sec-fetch-dest")
    return sites == ["cross-site"] and not (kinds == ["document"] and scope.get("method") in READING)


def _has_body(scope: Scope) -> bool:
    return bool(_values(scope, "transfer-encoding")) or any(length != "0" for length in _values(scope, "content-length"))


def _is_json(scope: Scope) -> bool:
    """Tell JSON by its declared type: any other, and none, a foreign page may send without asking beforehand."""
    kinds = {kind.partition(";")[0].strip().lower() for kind in _values(scope, "content-type")}
    return kinds == {"application/json"}


def _values(scope: Scope, name: str) -> list[str]:
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value.decode("latin-1") for key, value in headers if key.decode("latin-1").lower() == name]


def allowed() -> str:
    """Read the list that the server's CORS headers go by; where langgraph.json has none, ours."""
    cors = json.loads(os.environ.get("LANGGRAPH_HTTP") or "{}").get("cors") or {}
    return str(cors.get("allow_origin_regex") or pattern())


app = Starlette(middleware=[Middleware(Guard, allowed=allowed())])
"""No route of its own: LangGraph puts this app's middleware around all routes of the server."""
