"""What a browser sees at the address of the server: for now a page that says what there is."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

_TOLD = """ramify serve

Our own interface is at /ramify/v1, OpenAI's protocol at /v1, Ollama's at /api: docs/serving.md tells how they are used.
"""


def routes() -> list[Route]:
    """Return the routes of the page: they ask for no token, and tell nothing that does."""
    return [Route("/", _index)]


async def _index(request: Request) -> Response:
    return PlainTextResponse(_TOLD)
