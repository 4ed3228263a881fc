"""Whether a server can be asked: one that cannot is left out for a while, longer each time, and then looked at again."""

import threading
import time
from dataclasses import dataclass, field

FIRST, LONGEST = 5.0, 60.0
"""Seconds until a server that was left out is looked at again: at first, and at most; doubled each time."""
IN_A_ROW = 3
"""Calls that fail one after another before a server that does reply is left out."""


@dataclass(eq=False)
class Health:
    """How one server does; shared by all who call the same model there."""

    why: str = ""
    """Why it is left out; empty where it is asked."""
    _failed: int = 0
    _times: int = 0
    _again: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fail(self, why: str, gone: bool) -> bool:
        """Note a call that failed; tell whether it was the one by which the server is left out, at once where it is `gone`."""
        with self._lock:
            self._failed += 1
            if self.why or not (gone or self._failed >= IN_A_ROW):
                return False  # of many calls that a server dies under, the first counts
            self._leave_out(why)
            return True

    def serve(self) -> None:
        """Note a call that was served."""
        with self._lock:
            self._failed = self._times = 0

    def stay_out(self, why: str) -> None:
        """Note that a look at the server was in vain."""
        with self._lock:
            self._leave_out(why)

    def come_back(self) -> None:
        """Note that a look showed it to be there; whether it serves, the next calls show."""
        with self._lock:
            self.why, self._failed = "", 0

    def due(self) -> bool:
        """Tell one caller, and no other, that it is time to look at the server again."""
        with self._lock:
            now = time.monotonic()
            if not self.why or now < self._again:
                return False
            self._again = now + LONGEST  # the look is under way
            return True

    def _leave_out(self, why: str) -> None:
        self.why = why
        self._again = time.monotonic() + min(FIRST * 2**self._times, LONGEST)
        self._times += 1
