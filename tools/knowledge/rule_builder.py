"""The builder by rules: names by their shape, connected by the sentences that hold both, reports of such sentences; no model is called."""

from collections.abc import Callable, Sequence

from ramify.tools.errors import IndexingError
from ramify.tools.extractive.question_kinds import reads
from ramify.tools.index.progress import Progress
from ramify.tools.knowledge.build import Reading
from ramify.tools.knowledge.elements import Knowledge
from ramify.tools.knowledge.graph import Graph, quoted, settled
from ramify.tools.knowledge.quoted_elements import quoted_elements
from ramify.tools.knowledge.reports import QUOTED, Material, Report, quoted_report
from ramify.tools.knowledge.units import Piece

_SAMPLE, _LOOKED_AT = 200, 600
"""Passages that are looked at to find out whether a corpus is English, and characters of each."""
_TOLD = 1000
"""How often it is told how far reading is: every so many passages."""


class ByRules:
    """Build without a model."""

    made_by = reported_by = QUOTED

    async def read(self, pieces: Sequence[Piece], progress: Progress) -> Reading:
        """Find names and what connects them; IndexingError where most of the documents are not in English."""
        _check_language(pieces)
        found = []
        for number, elements in enumerate(quoted_elements(pieces), 1):
            found.append(elements)
            if number % _TOLD == 0 or number == len(pieces):
                progress(number, len(pieces), "passages for names")
        return Reading(found)

    async def settle(self, knowledge: Knowledge, progress: Progress) -> Graph:
        """Take one sentence for each element."""
        return settled(knowledge, quoted)

    async def report(self, materials: Sequence[Material], told: Callable[[int], None]) -> list[Report]:
        """Quote sentences."""
        reports = [quoted_report(material) for material in materials]
        told(len(reports))
        return reports


def _check_language(pieces: Sequence[Piece]) -> None:
    sample = pieces[:: max(1, len(pieces) // _SAMPLE)]
    foreign = sum(not reads(piece.text[:_LOOKED_AT]) for piece in sample)
    if 2 * foreign > len(sample):
        what = "most of these documents do not look like English, and the names of a graph are found by rules for English"
        raise IndexingError(what, "name a language model with --model, such as ollama:llama3.1:8b, and a multilingual --embedding")
