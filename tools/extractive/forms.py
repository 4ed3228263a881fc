"""The forms in which a text would answer a question, as patterns."""

import re
from dataclasses import dataclass
from functools import lru_cache

from ramify.tools.extractive.relations import RELATIONS, Relation
from ramify.tools.extractive.spans import DATE, NAME, PLACE

_SHAPES = {
    "name": f"(?P<answer>{NAME})",
    "place": f"(?P<answer>{PLACE})",
    "date": f"(?P<answer>{DATE})",
    "words": r"(?P<answer>[a-z][\w' -]{2,40}?)",
}
_SKIP = {"~name": NAME, "~place": PLACE, "~date": DATE, "~few": r"(?:[\w’'-]+,? ){0,4}"}


@dataclass(frozen=True)
class Form:
    """One way to state a relation, compiled; the rank is its place among the forms, the surest first."""

    pattern: re.Pattern[str]
    rank: int
    shape: str


_ANSWERS = {
    "date": ("date",), "number": (), "person": ("name",), "place": ("place", "name"), "title": ("name",), "name": ("name", "place"),
    "phrase": ("name", "place", "words"),
}  # fmt: skip


@lru_cache(maxsize=2048)
def forms(question: str, kind: str) -> tuple[Form, ...]:
    """Give the forms in which a text would answer a question, those whose answer has its kind."""
    relations = [relation for relation in RELATIONS if re.search(relation.asked, question, re.I)]
    return tuple(form for relation in relations for form in _compiled(relation) if form.shape in _ANSWERS.get(kind, ()))


@lru_cache(maxsize=64)
def _compiled(relation: Relation) -> tuple[Form, ...]:
    return tuple(Form(re.compile(_expanded(form)), rank, _shape(form)) for rank, form in enumerate(relation.forms))


def _shape(form: str) -> str:
    return next((name for name in _SHAPES if f"{{{name}}}" in form), "name")


def _expanded(form: str) -> str:
    for name, shape in _SKIP.items():
        form = form.replace(name, shape)
    for name, shape in _SHAPES.items():
        form = form.replace(f"{{{name}}}", shape)
    return form
