"""What calls have shown of a server, for the calls that follow: what it refuses, and whether it can be asked at all."""

import threading
import time
from dataclasses import dataclass, field

from ramify.tools.models.learned_tokens import LearnedCount
from ramify.tools.models.structured_call import PLAIN, Feature, Way

NOTICES: dict[Feature, str] = {
    "form": "{name} takes no form for its replies: they are read from its text",
    "logprobs": "{name} gives no log probabilities: a confidence is what it says itself",
}
"""What the result says of a feature that is done without."""
FIRST, LONGEST = 5.0, 60.0
"""Seconds until a server that was left out is looked at again: at first, and at most; doubled each time."""
IN_A_ROW = 3
"""Calls that fail one after another before a server that does reply is left out."""


@dataclass(eq=False)
class Record:
    """What calls have shown of a server; shared by all who call the same model."""

    answered: bool = False
    """Whether it ever answered as such a server does."""
    refused: set[Feature] = field(default_factory=set)
    way: Way = PLAIN
    """How it is asked, where it may think."""
    count: LearnedCount | None = None

    def counting(self, name: str) -> LearnedCount:
        """Give the count that learns from the server's reports; blocking at first."""
        if self.count is None:
            self.count = LearnedCount(name)
        return self.count

    def move(self, way: Way, on: Way) -> None:
        """Leave a way for another, unless a call beside this one has done so."""
        if self.way is way:
            self.way = on

    def notices(self, name: str, thought: int) -> list[str]:
        """Say what is done otherwise than meant; `thought` is how many tokens a thought may take."""
        told = [self.way.notice, *(NOTICES[feature] for feature in sorted(self.refused))]
        return [words.format(name=name, more=f"each reply may take {thought} tokens more") for words in told if words]


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
