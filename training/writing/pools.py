"""Names of every kind to fill frames with, each name for one part of the material alone."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Final

from training.source import Document
from training.writing.data_folders import folder as load
from training.writing.names import Names, key, made, names
from training.writing.question_words import fold, several
from training.writing.terms import terms
from training.writing.written import Part, dealt

_ARTICLES: Final = ("2wikimultihopqa_train", "musique_train", "hotpotqa_train", "boolq_train", "squad_dev", "nq_oracle_dev")
_MADE: Final = frozenset(several("state country department project device part document order rule server"))


def texts(data: Path, *folders: str) -> Iterator[Document]:
    """Give the documents of folders."""
    for folder in folders:
        yield from load(data / folder).documents.values()


class Pool:
    """Names by kind, drawn for one part at a time."""

    def __init__(self, found: Names) -> None:
        """Keep the names found."""
        self._found = found

    def draw(self, kind: str, part: Part, rng: Random) -> str:
        """Draw a name of a kind."""
        kind = "person" if kind == "employee" else kind
        known = self._found.get((kind, part), [])
        if known and kind not in _MADE and not (kind == "software" and rng.random() < 0.2):
            return rng.choice(known)
        return self._made(kind, part, rng) or rng.choice(self._found.get((kind, "train"), ["Quarry"]))

    def _made(self, kind: str, part: Part, rng: Random) -> str | None:
        """Make a name of a kind; of a few kinds there are too few for every part."""
        name = None
        for _ in range(200):
            name = made(kind, rng)
            if name is None or dealt(key(name)) == part:
                break
        return name

    def all(self, kind: str) -> list[str]:
        """List the names of a kind, of all parts."""
        return [name for (of, _), names in self._found.items() if of == kind for name in names]

    def two(self, kind: str, part: Part, rng: Random) -> tuple[str, str]:
        """Draw two different names of a kind."""
        one = self.draw(kind, part, rng)
        for _ in range(20):
            other = self.draw(kind, part, rng)
            if fold(other) != fold(one):
                return one, other
        return one, made("project", rng) or one


@lru_cache(maxsize=2)
def pool(data: Path) -> Pool:
    """Collect the names of the folders under a path."""
    found = names(texts(data, *_ARTICLES))
    return Pool({**found, **terms(texts(data, "techdocs_faq"))})


def drawn_part(rng: Random) -> Part:
    """Draw what a made example is for."""
    share = rng.random()
    return "measure" if share < 0.1 else "choose" if share < 0.15 else "train"
