"""What a browser sees at the address of the server: the page, its style sheet and its scripts."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from ramify.tools.pages import draw, packaged, style

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Nothing is loaded from elsewhere, nothing inline is run, and no other page has this one in a frame."""
HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_SHEET = "serve.css"
_PARTS = {
    _SHEET: "text/css",
    "serve.svg": "image/svg+xml",
    "serve.js": "text/javascript",
    "serve_parts.js": "text/javascript",
    "serve_panels.js": "text/javascript",
    "serve_review.js": "text/javascript",
}


def routes() -> list[Route]:
    """Return the routes of the page: they ask for no token, and tell nothing that does."""
    return [Route("/", _index), Route("/page/{name}", _part)]


async def _index(request: Request) -> Response:
    return HTMLResponse(f"{draw('serve.html')}\n", headers=HEADERS)


async def _part(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _PARTS:
        raise HTTPException(404, f"the page has no part {name[:80]!r}: it is made of {', '.join(_PARTS)}")
    content = f"{style()}\n{packaged(_SHEET)}" if name == _SHEET else packaged(name)
    return Response(content, media_type=_PARTS[name], headers=HEADERS)
