"""The groups that documents truly belong to, which passages found are of another one, and documents whose metadata are degraded."""

import random
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from langchain_core.documents import Document

from ramify.evaluation.dataset import Dataset
from ramify.evaluation.searching.degraded_cells import NOISE, Cell
from ramify.tools.documents.load import Loading
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.leaves import Binned, binned, values_of
from ramify.tools.hierarchy.partition import keys_of

Keys = frozenset[tuple[str, ...]]
WRONG_GROUP = "wrong_group@5"
_PLACES = 5


class Truth:
    """The documents of a data set as they are, and their groups by some fields of metadata."""

    def __init__(self, dataset: Dataset, fields: Sequence[str]) -> None:
        self.documents = {str(document.id): document for document in Loading(list(dataset.documents))}
        self._known = sorted({field for document in self.documents.values() for field in document.metadata})
        self._wanted = [binned(name, self._known) for name in fields]
        self.fields = tuple(one.field for one in self._wanted)
        self.groups = {id: self._keys(document.metadata) for id, document in self.documents.items()}

    def _keys(self, metadata: dict[str, Any]) -> Keys:
        return frozenset(key for key, _ in keys_of(tuple(one.values(values_of(metadata.get(one.field))) for one in self._wanted)))

    def check(self) -> None:
        """UsageError for a field that no document has of its own, and that can therefore not be taken from any."""
        for field in self.fields:
            if field not in self._known:
                raise UsageError(
                    f"no document has the metadata {field!r} that could be degraded", f"group by what there is: {', '.join(self._known)}"
                )

    def wrong_group(self, found: Iterable[str], gold: Sequence[str]) -> float | None:
        """Give the share of the first five places that documents of other groups than the gold's take; none where it has no group."""
        own = self._of(gold)
        return sum(self._of([one]).isdisjoint(own) for one in list(found)[:_PLACES]) / _PLACES if own else None

    def filter(self, gold: Sequence[str]) -> dict[str, list[Any]] | None:
        """Give the filter that lets the gold documents' groups through and no other; none where they have no group."""
        if not self._of(gold):
            return None
        return {one.field: self._alike(one, [id for id in gold if self.groups.get(id)]) for one in self._wanted}

    def _alike(self, one: Binned, documents: Sequence[str]) -> list[Any]:
        """List the values of a field that group a document with some others."""
        own = {value for id in documents for value in one.values(values_of(self.documents[id].metadata[one.field]))}
        every = dict.fromkeys(value for document in self.documents.values() for value in _listed(document.metadata.get(one.field)))
        return [value for value in every if not own.isdisjoint(one.values(values_of(value)))]

    def degraded(self, cell: Cell, seed: int) -> list[Document]:
        """Give the documents that a cell meets, without their group's metadata or with another's; larger shares meet the same and more."""
        ids = sorted(self.documents)
        random.Random(f"{seed} {cell.draw}").shuffle(ids)
        met = [self.documents[id] for id in ids[: round(cell.share * len(ids))]]
        found = [self._changed(document, self._other(document, cell, seed) if cell.degraded == NOISE else {}) for document in met]
        return [new for old, new in zip(met, found, strict=True) if new.metadata != old.metadata]

    def _changed(self, document: Document, values: dict[str, Any]) -> Document:
        kept = {name: value for name, value in document.metadata.items() if name not in self.fields}
        return document.model_copy(update={"metadata": {**kept, **values}})

    def _other(self, document: Document, cell: Cell, seed: int) -> dict[str, Any]:
        """Draw the values of another group that there is."""
        own = self.groups[str(document.id)]
        others = [values for keys, values in self._values.items() if keys != own]
        return random.Random(f"{seed} {cell.draw} {document.id}").choice(others) if others else {}

    @cached_property
    def _values(self) -> dict[Keys, dict[str, Any]]:
        """Give the values of each group as a document of it has them."""
        found: dict[Keys, dict[str, Any]] = {}
        for id, document in sorted(self.documents.items()):
            if keys := self.groups[id]:
                found.setdefault(keys, {field: document.metadata[field] for field in self.fields})
        return found

    def _of(self, documents: Sequence[str]) -> Keys:
        return frozenset().union(*(self.groups.get(id, frozenset()) for id in documents))


def _listed(value: Any) -> list[Any]:
    listed = value if isinstance(value, list) else [value]
    return [one for one in listed if isinstance(one, (str, int, float))]
