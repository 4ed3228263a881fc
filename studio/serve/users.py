"""Tokens, and whom they belong to."""

import hmac
import re
from collections.abc import Mapping, Sequence

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from ramify.tools.errors import UsageError
from ramify.tools.scrub import learn

VARIABLE = "RAMIFY_SERVE_TOKEN"
DEFAULT = "default"
"""The user of a server without tokens, and of a token without a name."""
SHORTEST = 8
_NAME = re.compile(r"[\w.-]{1,40}", re.ASCII)
_SCHEME = "bearer"


def users_of(tokens: Sequence[str]) -> dict[str, str]:
    """Return the secrets by their users; UsageError for a token that is none. Messages and logs do not show them."""
    found: dict[str, str] = {}
    for token in tokens:
        name, colon, secret = token.partition(":")
        name, secret = (name, secret) if colon else (DEFAULT, name)
        learn(secret)
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name of a user", "write --token NAME:SECRET, the name in letters, digits, _, . and -")
        if len(secret) < SHORTEST or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise UsageError(
                f"the token of {name!r} has {len(secret)} characters", f"give at least {SHORTEST} letters, digits and signs, without spaces"
            )
        if name in found:
            raise UsageError(f"{name!r} has two tokens", "give each user one")
        found[name] = secret
    return found


class Tokens:
    """Let through requests with a token and say whose it is; without tokens, all are the default user's."""

    def __init__(self, app: ASGIApp, users: Mapping[str, str]) -> None:
        self._app = app
        self._users = {name: secret.encode() for name, secret in users.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request; raise HTTPException where its token is missing or not known."""
        if scope["type"] == "http":
            scope["ramify.user"] = self._user(Headers(scope=scope).get("authorization", "")) if self._users else DEFAULT
        await self._app(scope, receive, send)

    def _user(self, authorization: str) -> str:
        scheme, _, given = authorization.partition(" ")
        secret = given.strip().encode() if scheme.lower() == _SCHEME else b""
        known = [name for name, one in self._users.items() if hmac.compare_digest(one, secret)]
        if not known:
            what = "the token is not known here" if secret else "this server asks for a token"
            raise HTTPException(401, f"{what}: send the header `Authorization: Bearer TOKEN`", {"WWW-Authenticate": "Bearer"})
        return known[0]


def user_of(request: Request) -> str:
    """Return whose request it is."""
    return str(request.scope["ramify.user"])
