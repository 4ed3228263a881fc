"""Know when to stop: a model that does not answer at all is not asked two thousand times."""

from ramify.evaluation.rows import Row
from ramify.tools.errors import ModelError

IN_A_ROW = 10
"""Questions that fail one after another, each before anything has come of it."""


class Patience:
    """Watch lines; ModelError where nothing is answered any more."""

    def __init__(self) -> None:
        self._failed = 0

    def see(self, row: Row) -> None:
        """Count failures in a row; a question that failed after its tree had begun to grow shows that the model does answer."""
        self._failed = self._failed + 1 if row["error"] is not None and len(row["tree"]) <= 1 else 0
        if self._failed == IN_A_ROW:
            what = f"{IN_A_ROW} questions failed one after another ({str(row['error']).partition(' — ')[0]})"
            raise ModelError(what, "see that the model answers (`ramify doctor`), then run the command again: it goes on where it stopped")
