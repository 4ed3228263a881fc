"""How many calls a server works on at once, learned from what it says of the calls it has served."""

from dataclasses import dataclass, field

MOST = 8
SHARE = 0.25
"""Part of a call's own time that is left out at either end when two are held side by side: replies are noticed late."""
QUEUED = 0.5
"""A call that waited for more than this part of its own time was queued."""


@dataclass(frozen=True)
class Served:
    """One call in seconds: when it was sent, when its reply was there, and how long the server says that it worked on it."""

    sent: float
    done: float
    own: float
    load: float = 0.0

    @property
    def queued(self) -> bool:
        """Tell whether it waited behind others."""
        return self.done - self.sent - self.own - self.load > QUEUED * self.own

    @property
    def core(self) -> tuple[float, float]:
        """Give the time in which the server was at work on it for certain."""
        return self.done - (1 - SHARE) * self.own, self.done - SHARE * self.own


@dataclass(eq=False)
class Pace:
    """A limit that grows from one call at a time for as long as the server serves all it is given, and then stays."""

    limit: int = 1
    settled: bool = False
    _round: list[Served] = field(default_factory=list)

    def learn(self, call: Served) -> None:
        """Take a call into account; the limit is judged when those that it let in, and those that took their places, are all served."""
        if self.settled:
            return
        self._round.append(call)
        if len(self._round) < 2 * self.limit - 1:
            return
        together = _together(self._round)
        if together >= self.limit:
            self.limit = min(2 * self.limit, MOST)
            self.settled = together >= MOST
        elif any(call.queued for call in self._round):
            self.limit, self.settled = together, True
        self._round.clear()


def _together(calls: list[Served]) -> int:
    """Count the most calls that were being served at one time."""
    cores = [call.core for call in calls]
    return max(sum(first <= begun < last for first, last in cores) for begun, _ in cores)
