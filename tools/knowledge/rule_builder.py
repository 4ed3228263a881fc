"""A graph without a model: names by their shape, connected by the sentences that have both, and reports that quote such sentences."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

from ramify.tools.english import bare_title, fold, sentences
from ramify.tools.errors import IndexingError
from ramify.tools.extractive.question_kinds import reads
from ramify.tools.index.progress import Progress, silent
from ramify.tools.knowledge.build import Reading, Structure, Structured, build_graph
from ramify.tools.knowledge.elements import Elements, Knowledge, Link, Mention, linked, title_key
from ramify.tools.knowledge.graph import Graph, is_prose, quoted, settled
from ramify.tools.knowledge.names import by_first_word, lexicon, names_of, spans_of, titles_of
from ramify.tools.knowledge.reports import QUOTED, Finding, Material, Report
from ramify.tools.knowledge.units import Piece
from ramify.tools.quoting import brief

_SAMPLE, _LOOKED_AT = 200, 600
"""Passages that are looked at to find out whether a corpus is English, and characters of each."""
_TOLD = 1000
"""How often it is told how far reading is: every so many passages."""
MOST_FILES = 2
"""Files that a title may stand in and be a name."""
_NUMBERED = re.compile(r"^(?:[A-Z]\.)?(?:\d+(?:\.\d+)+\.?|\d+[.)])\s+(?=\S)")
"""A section: 9.8. Data Types, E.19.4 Thanks, 3) Ferry, but not "12 Years a Slave"."""
MOST_NAMES = 20
"""Names of a sentence that are connected with each other; of a table or a list the first."""
_MOST_WORDS = 300
_WORDS = 5
"""Words of a quoted report for each doubling of its community."""
_HEARD = 2
"""So often a name is told of before others are preferred."""
_TITLED, _LONGEST_NAME = 3, 30
"""Names in the title of a quoted report, at most a third of them all, and the characters of each."""
_FEW = 3
"""Names of a community on which there is but one thing to say, briefly: a corpus has many of these."""
_HIGHEST = 10.0


class ByRules:
    """Build without a model."""

    made_by = reported_by = QUOTED

    async def read(self, pieces: Sequence[Piece], progress: Progress) -> Reading:
        """Find names and what connects them; IndexingError where most of the documents are not in English."""
        sampled = pieces[:: max(1, len(pieces) // _SAMPLE)]
        foreign = sum(not reads(piece.text[:_LOOKED_AT]) for piece in sampled)
        if 2 * foreign > len(sampled):
            what = "most of these documents do not look like English, and the names of a graph are found by rules for English"
            raise IndexingError(what, "name a language model with --model, such as ollama:llama3.1:8b, and a multilingual --embedding")
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


def build_graph_by_rules(folder: Path, structure: Structure | None = None, progress: Progress = silent) -> Structured:
    """Make the graph of the finished index in a folder without a model; blocking, and without an event loop: rules wait for nothing."""
    building = build_graph(folder, ByRules(), structure, progress)
    try:
        building.send(None)
    except StopIteration as finished:
        return finished.value  # type: ignore[no-any-return]
    building.close()
    raise AssertionError("building by rules waited for something")


def quoted_elements(pieces: Sequence[Piece]) -> Iterator[Elements]:
    """Yield the elements of each passage: each name and each connection with the sentence that tells of it."""
    known = lexicon(piece.text for piece in pieces)
    titles = titles_of(_telling(pieces), known)
    for piece in pieces:
        said = sentences(piece.text)
        by_sentence: dict[int, dict[str, str]] = defaultdict(dict)
        for one in names_of(piece.text, known, titles):
            by_sentence[one.sentence].setdefault(one.key, one.name)
        # What a passage stands under is its topic, if that is a name: of several, the innermost.
        topic = next((key for title in reversed(piece.titles) if (key := title_key(title)) in titles.written), "")
        first: dict[str, Mention] = {}
        links: list[Link] = []
        if topic:
            first[topic] = Mention(topic, titles.written[topic], piece.id, description=said[0] if said else "")
        for place in sorted(by_sentence):
            keys = list(by_sentence[place])[:MOST_NAMES]
            for key in keys:
                first.setdefault(key, Mention(key, by_sentence[place][key], piece.id, description=said[place]))
            together = [topic, *keys] if topic and topic not in keys else keys
            links += [linked(one, other, said[place], piece.id) for one, other in combinations(together, 2)]
        yield Elements(tuple(first.values()), tuple(links))


def in_sentences(pieces: Sequence[Piece], names: Iterable[str]) -> Iterator[Link]:
    """Connect names, given by their keys, where a sentence has both: for a text whose names a model related to nothing."""
    written = by_first_word(names)
    for piece in pieces:
        for sentence in sentences(piece.text):
            for one, other in combinations(dict.fromkeys(spans_of(fold(sentence), written)), 2):
                yield linked(one, other, sentence, piece.id)


def _telling(pieces: Sequence[Piece]) -> dict[str, str]:
    """List titles and headings as they are written, by key; those of numbered sections, and of parts of many files, name nothing."""
    written = {title_key(title): bare_title(title) for piece in pieces for title in piece.titles if not _NUMBERED.match(title)}
    files: dict[str, set[str]] = defaultdict(set)
    for piece in pieces:
        for title in piece.titles:
            files[title_key(title)].add(piece.document.partition("#")[0])
    return {key: title for key, title in written.items() if len(files[key]) <= MOST_FILES}


def quoted_report(material: Material) -> Report:
    """Report on a community in sentences of its documents: those that tell of its most connected names, of each not too often."""
    room = min(_MOST_WORDS, round(_WORDS * math.log2(max(2, len(material.community.members)))))
    heard: Counter[str] = Counter()
    findings: dict[str, Finding] = {}
    edges = [edge for edge in material.edges if is_prose(edge.told.text)] or [edge for edge in material.edges if edge.told.text][:1]
    if len(material.community.members) <= _FEW:
        edges = sorted(edges, key=lambda edge: len(edge.told.text))[:1]
    for edge in edges:
        text, length = edge.told.text, len(edge.told.text.split())
        if text in findings or (findings and (length > room or any(heard[key] >= _HEARD for key in edge.pair))):
            continue
        findings[text] = Finding(text, (edge.told.passage,))
        heard.update(edge.pair)
        room -= length
        if room <= 0:
            break
    return Report(
        community=material.community.id,
        title=", ".join(
            brief(name, _LONGEST_NAME) for name in list(material.names.values())[: min(_TITLED, max(1, len(material.names) // 3))]
        ),
        summary="",
        rating=min(_HIGHEST, round(math.log2(len(material.community.members)), 1)),
        findings=tuple(findings.values()),
        made_by=QUOTED,
        digest=material.digest,
    )
