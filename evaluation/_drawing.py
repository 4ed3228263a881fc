"""Draw passages of an index to ask about: at random, spread over documents, and in pairs that share a name."""

import hashlib
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ramify.nodes.retrieve import passage_of
from ramify.nodes.tree import Passage
from ramify.tools.english import bare_title, fold, holds, names_in, sentences
from ramify.tools.index import Hit, Index
from ramify.tools.index.passage_store import document_of

_SHORTEST = 100
"""Characters of a passage that is asked about."""
_LETTERS = 0.65
"""Share of them that are letters in prose; tables, listings and code have fewer."""
_READ = 50
_NAMES, _NEAR = 12, 10
"""Names of a passage by which others are looked for, and passages found by each."""


class Draw(NamedTuple):
    """Passages to ask one question about, and the name that two of them share."""

    kind: str
    passages: tuple[Passage, ...]
    name: str = ""

    @property
    def id(self) -> str:
        """Return an id that the same kind and passages always get."""
        told = "\x1f".join((*(passage.id for passage in self.passages), self.name))
        return f"{self.kind}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def spread(ids: Sequence[str], seed: str) -> list[str]:
    """Return ids in random order, first one of each document, then a second of each, and so on; a file of pages is a document."""
    seen: Counter[str] = Counter()
    rounds = []
    for id in random.Random(seed).sample(ids, len(ids)):
        file = document_of(id).partition("#")[0]
        rounds.append((seen[file], id))
        seen[file] += 1
    return [id for _, id in sorted(rounds, key=lambda one: one[0])]


def draws(index: Index, kind: str, seed: int) -> Iterator[Draw]:
    """Yield what to ask about; the same seed gives the same. Blocking."""
    for passage in prose(index, f"{seed} {kind}"):
        if kind != "two-hop":
            yield Draw(kind, (passage,))
        elif pair := linked(index, passage):
            yield pair


def prose(index: Index, seed: str) -> Iterator[Passage]:
    """Yield the passages that are prose and not too short, spread over the documents. Blocking."""
    order = spread(index.ids(), seed)
    for start in range(0, len(order), _READ):
        for document in index.get_by_ids(order[start : start + _READ]):
            text = document.page_content
            if len(text) >= _SHORTEST and sum(map(str.isalpha, text)) >= _LETTERS * len(text):
                yield passage_of(Hit(document, 1.0, 1.0))


def linked(index: Index, passage: Passage) -> Draw | None:
    """Return the passage with one of another document that tells of a name in it: one titled so, else of the rarest name; None if none."""
    own = fold(bare_title(passage.title))
    found = [name for sentence in sentences(passage.text) for name in names_in(sentence)]
    names = [name for name in dict.fromkeys(found) if len(name) > 2 and fold(name) not in own][:_NAMES]
    ranked = []
    for place, (name, hits) in enumerate(zip(names, index.search(names, _NEAR, mmr=None) if names else [], strict=True)):
        others = [one for hit in hits if (one := passage_of(hit)).source != passage.source and holds(f"{one.title} {one.text}", name)]
        for other in others[:1]:
            best = next((one for one in others if fold(bare_title(one.title)) == fold(name)), other)
            titled = fold(bare_title(best.title)) == fold(name)
            ranked.append((not titled, len(others), place, Draw("two-hop", (passage, best), name)))
    return min(ranked, key=lambda one: one[:3])[3] if ranked else None
