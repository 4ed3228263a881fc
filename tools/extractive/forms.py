"""The forms in which a text would answer a question, as patterns."""

import re
from dataclasses import dataclass
from functools import lru_cache

from ramify.tools.extractive.grammar import is_person_noun
from ramify.tools.extractive.questions import is_type
from ramify.tools.extractive.relation import Relation
from ramify.tools.extractive.relations import RELATIONS
from ramify.tools.extractive.spans import DATE, NAME, PLACE

_SHAPES = {
    "name": f"(?P<answer>{NAME})",
    "place": f"(?P<answer>{PLACE})",
    "date": f"(?P<answer>{DATE})",
    "words": r"(?P<answer>[a-z][\w' -]{2,40}?)",
}
_FEW = r"(?:(?:[a-z0-9][\w’'-]*|[A-Z][a-z]+(?:-[A-Z][a-z]+)?(?:an|ish|ese|ch|ss|i)(?= [a-z])),? ){0,4}"
"""Words that may stand before a name, none of them part of it."""
_SKIP = {"~name": NAME, "~place": PLACE, "~date": DATE, "~few": _FEW}


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
def forms(question: str, kind: str, noun: str = "") -> tuple[Form, ...]:
    """Give the forms in which a text would answer a question, those whose answer has its kind."""
    relations = [relation for relation in RELATIONS if re.search(relation.asked, question, re.I)]
    stated = (*relations, *_named_by(kind, noun))
    return tuple(form for relation in stated for form in _compiled(relation) if form.shape in _ANSWERS.get(kind, ()))


def _named_by(kind: str, noun: str) -> tuple[Relation, ...]:
    """Give the forms that any role or kin has: `his nephew X`, `X was his nephew`, `with X as his adviser`."""
    if kind != "person" or not noun or not is_role(noun):
        return ()
    role = re.escape(noun)
    after = rf"{{name}},? (?:was|is|became|has been)(?: later)? (?:his|her|its|their|the|an?)(?: [a-z]+){{0,2}} {role}\b"
    own = rf"\b(?:[Hh]is|[Hh]er|[Ii]ts)(?: [a-z]+)? {role},? {{name}}"
    return (Relation(role, (own, after, rf"\bwith {{name}} as (?:his|her|its) {role}\b")),)


def is_role(noun: str) -> bool:
    """Tell whether a noun says what somebody is to another: a wife or an adviser, not a man."""
    return is_person_noun(noun) and not is_type(noun)


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
