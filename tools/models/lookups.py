"""Things looked up once for all who want them, each without waiting for any other."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

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
            self._look(key, found, look)
        return found.result()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._found.clear()

    def _look(self, key: Hashable, found: Future[T], look: Callable[[], T]) -> None:
        try:
            found.set_result(look())
        except BaseException as error:
            with self._lock:
                if self._found.get(key) is found:
                    del self._found[key]
            found.set_exception(error)
            raise
