"""The web server that runs an application: slow clients are cut off, and questions are stopped before it waits for their connections."""

from typing import Any

import uvicorn
from starlette.applications import Starlette

from ramify.studio.serve.questions import Questions
from ramify.studio.server.guard import LimitedProtocol

GRACE_S = 10
"""Seconds that connections have to end when the server is stopped."""


class WebServer(uvicorn.Server):
    """A server that ends running answers when it is stopped, before it waits for their connections."""

    def __init__(self, app: Starlette, questions: Questions) -> None:
        super().__init__(
            uvicorn.Config(app, http=LimitedProtocol, ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=GRACE_S)
        )
        self._questions = questions

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop questions, then connections."""
        await self._questions.close()
        await super().shutdown(sockets)
