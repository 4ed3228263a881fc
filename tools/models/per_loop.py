"""A thing that belongs to one event loop, made once for each: HTTP clients must not be shared between loops."""

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """Make one `T` for each event loop that asks; `first` is given to the loop that comes first."""

    def __init__(self, make: Callable[[], T], first: T) -> None:
        self._make = make
        self._spare: list[T] = [first]
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        self._lock = threading.Lock()

    async def here(self) -> T:
        """Give this loop's own."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._made and self._spare:
                self._made[loop] = self._spare.pop()
            if loop in self._made:
                return self._made[loop]
        fresh = await asyncio.to_thread(self._make)  # reads certificates from disk
        with self._lock:
            return self._made.setdefault(loop, fresh)
