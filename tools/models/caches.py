"""Things made once for many: a find for all who look for it, a client for all calls of one event loop."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class Lookup(Generic[T]):
    """Remember the latest finds by key; who asks for the same at the same time shares one look, a failure is told and not remembered."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, Future[T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, look: Callable[[], T]) -> T:
        """Give what was found, or look; blocking."""
        with self._lock:
            found = self._found.get(key)
            if first := found is None:
                found = self._found[key] = Future()
                while len(self._found) > self._most:
                    self._found.popitem(last=False)
        assert found is not None
        if first:
            try:
                found.set_result(look())
            except BaseException as error:
                with self._lock:
                    if self._found.get(key) is found:
                        del self._found[key]
                found.set_exception(error)
                raise
        return found.result()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._found.clear()


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
