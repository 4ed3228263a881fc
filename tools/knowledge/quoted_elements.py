"""Elements by rules, without a model: names by their shape, connected where a sentence has both, described by that sentence."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from ramify.tools.english import bare_title, sentences
from ramify.tools.folded_text import fold
from ramify.tools.knowledge.elements import Elements, Link, Mention, key_of, linked
from ramify.tools.knowledge.names import Named, Titles, by_first_word, lexicon, names_of, spans_of, titles_of
from ramify.tools.knowledge.units import Piece

MOST_FILES = 2
"""Files that a title may stand in and be a name."""
_NUMBERED = re.compile(r"^(?:[A-Z]\.)?(?:\d+(?:\.\d+)+\.?|\d+[.)])\s+(?=\S)")
"""A section: 9.8. Data Types, E.19.4 Thanks, 3) Ferry, but not "12 Years a Slave"."""
MOST_NAMES = 20
"""Names of a sentence that are connected with each other; of a table or a list the first."""


def quoted_elements(pieces: Sequence[Piece]) -> Iterator[Elements]:
    """Yield the elements of each passage: each name and each connection with the sentence that tells of it."""
    known = lexicon(piece.text for piece in pieces)
    titles = titles_of(_telling(pieces), known)
    for piece in pieces:
        yield _elements(piece, names_of(piece.text, known, titles), titles)


def in_sentences(pieces: Sequence[Piece], names: Iterable[str]) -> Iterator[Link]:
    """Connect names, given by their keys, where a sentence has both: for a text whose names a model related to nothing."""
    written = by_first_word(names)
    for piece in pieces:
        for sentence in sentences(piece.text):
            for one, other in combinations(dict.fromkeys(spans_of(fold(sentence), written)), 2):
                yield linked(one, other, sentence, piece.id)


def title_key(title: str) -> str:
    """Give the key of a title: without what tells two articles of one name apart, as in "Solaris (1972 film)"."""
    return key_of(bare_title(title))


def _telling(pieces: Sequence[Piece]) -> dict[str, str]:
    """List titles and headings as they are written, by key; those of numbered sections, and of parts of many files, name nothing."""
    written = {title_key(title): bare_title(title) for piece in pieces for title in piece.titles if not _NUMBERED.match(title)}
    files: dict[str, set[str]] = defaultdict(set)
    for piece in pieces:
        for title in piece.titles:
            files[title_key(title)].add(piece.document.partition("#")[0])
    return {key: title for key, title in written.items() if len(files[key]) <= MOST_FILES}


def topics(piece: Piece, titles: Titles) -> list[str]:
    """List the keys of what a passage stands under that are names, the innermost first."""
    return list(dict.fromkeys(key for title in reversed(piece.titles) if (key := title_key(title)) in titles.written))


def _elements(piece: Piece, named: Sequence[Named], titles: Titles) -> Elements:
    said = sentences(piece.text)
    by_sentence: dict[int, dict[str, str]] = defaultdict(dict)
    for one in named:
        by_sentence[one.sentence].setdefault(one.key, one.name)
    topic = next(iter(topics(piece, titles)), "")
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
    return Elements(tuple(first.values()), tuple(links))
