"""Resources opened once per name and shared by concurrent users."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class _OpenResource(Generic[T]):
    """An open resource, or one that is being opened, with its number of users."""

    users: int = 0
    value: T | None = None
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class SharedResources(Generic[T]):
    """Opens a resource for its first user and closes it after the last one; for one event loop."""

    def __init__(self, opening: Callable[[str], AbstractAsyncContextManager[T]]) -> None:
        self._opening = opening
        self._open: dict[str, _OpenResource[T]] = {}

    @asynccontextmanager
    async def use(self, name: str) -> AsyncIterator[T]:
        """Yield the resource of a name. If opening fails, the error is raised for each waiting user; a later use tries again."""
        entry = self._open.setdefault(name, _OpenResource())
        entry.users += 1
        try:
            async with entry.lock:
                if entry.value is None:
                    entry.value = await entry.stack.enter_async_context(self._opening(name))
            yield entry.value
        finally:
            entry.users -= 1
            if not entry.users:
                del self._open[name]
                await entry.stack.aclose()
