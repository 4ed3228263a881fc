"""What requests say: their JSON, checked."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from ramify.tools.errors import UsageError
from ramify.tools.quoting import brief

M = TypeVar("M", bound=BaseModel)
_QUOTED = 80


async def read(request: Request, kind: type[M]) -> M:
    """Read the body of a request; UsageError, in a line, where it is not of its form."""
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        if not where:
            raise UsageError(f"the body of the request is not the JSON that is expected ({first['msg']})", "send an object") from None
        known = ", ".join(kind.model_fields)
        what = f"{where}={brief(repr(first['input']), _QUOTED)} is not valid ({first['msg']})"
        raise UsageError(what, f"correct it; a request has {known}") from None
