"""Frames that compare things by the people behind them: films by their directors, and the like."""

# ruff: noqa: E501  # tables

from collections.abc import Iterator
from typing import Final

from training.writing.contrasts import Contrast

_ROLES: Final = {
    "film": "director director director composer producer screenwriter", "song": "performer singer writer", "book": "author illustrator", "album": "performer producer",
    "company": "founder CEO owner", "university": "founder president", "series": "creator host", "building": "architect owner", "band": "lead_singer drummer founder",
    "team": "coach captain owner", "magazine": "editor founder", "city": "mayor founder", "country": "president king", "project": "manager sponsor", "game": "designer composer",
    "department": "head", "invention": "inventor discoverer", "party": "leader founder", "software": "maintainer creator",
}  # fmt: skip
_BORN: Final = (
    ("earlier", "Which {k} has the {r} who was born first, {a} or {b}?"), ("earlier", "Which {k} has the {r} who was born earlier, {a} or {b}?"),
    ("earlier", "Which {k} whose {r} was born first, {a} or {b}?"), ("earlier", "Which {k} has the {r} born first, {a} or {b}?"),
    ("earlier", "Which {k} has the {r} who is older, {a} or {b}?"), ("earlier", "Whose {r} was born first, {a} or {b}?"),
    ("earlier", "Whose {r} is older, {a} or {b}?"), ("earlier", "Which {k}'s {r} was born earlier, {a} or {b}?"),
    ("earlier", "Which {k} has the older {r}, {a} or {b}?"), ("earlier", "Who was born first, the {r} of {a} or the {r} of {b}?"),
    ("earlier", "Who is older, {a}'s {r} or {b}'s {r}?"), ("earlier", "Which {k} whose {r} is older, {a} or {b}?"),
    ("later", "Which {k} has the {r} who was born later, {a} or {b}?"), ("later", "Which {k} has the {r} who is younger, {a} or {b}?"),
    ("later", "Whose {r} is younger, {a} or {b}?"), ("later", "Which {k} has the younger {r}, {a} or {b}?"), ("later", "Which {k} has the {r} born later, {a} or {b}?"),
    ("later", "Which {k} whose {r} is younger, {a} or {b}?"), ("later", "Who was born later, the {r} of {a} or the {r} of {b}?"),
    ("before", "Was the {r} of {a} born before the {r} of {b}?"), ("before", "Is the {r} of {a} older than the {r} of {b}?"), ("before", "Is {a}'s {r} older than {b}'s {r}?"),
    ("after", "Was the {r} of {a} born after the {r} of {b}?"), ("after", "Is the {r} of {a} younger than the {r} of {b}?"),
)  # fmt: skip
_DIED: Final = (
    ("earlier", "Which {k} has the {r} who died first, {a} or {b}?"), ("earlier", "Which {k} has the {r} who died earlier, {a} or {b}?"),
    ("earlier", "Which {k} has the {r} died first, {a} or {b}?"), ("earlier", "Whose {r} died first, {a} or {b}?"), ("earlier", "Which {k} whose {r} died first, {a} or {b}?"),
    ("later", "Which {k} has the {r} who died later, {a} or {b}?"), ("later", "Whose {r} died later, {a} or {b}?"), ("later", "Which {k} has the {r} died later, {a} or {b}?"),
    ("before", "Did the {r} of {a} die before the {r} of {b}?"), ("after", "Did the {r} of {a} die after the {r} of {b}?"),
)  # fmt: skip
_NATION: Final = (
    ("same", "Do both {k}s {a} and {b} have the {r}s that share the same nationality?"), ("same", "Do both {r}s of {k}s {a} and {b} have the same nationality?"),
    ("same", "Do {r} of {k} {a} and {r} of {k} {b} share the same nationality?"), ("same", "Do the {r}s of {a} and {b} have the same nationality?"),
    ("same", "Do both {r}s of {k}s {a} and {b} share the same nationality?"), ("same", "Do the {r} of {a} and the {r} of {b} have the same nationality?"),
    ("same", "Is the nationality of the {r} of {a} the same as that of the {r} of {b}?"), ("differ", "Do the {r}s of {a} and {b} have different nationalities?"),
    ("differ", "Do the {r} of {a} and the {r} of {b} differ in nationality?"), ("agree", "What nationality do the {r}s of {a} and {b} share?"),
)  # fmt: skip
_COUNTRY: Final = (
    ("same", "Are the {r}s of both {k}s {a} and {b} from the same country?"), ("same", "Are {r} of {k} {a} and {r} of {k} {b} from the same country?"),
    ("same", "Are {r} of {k} {a} and {r} of {k} {b} both from the same country?"), ("same", "Do both {k}s {a} and {b} have the {r}s from the same country?"),
    ("same", "Do both {k}s: {a} and {b} have the {r}s from the same country?"), ("same", "Do both {k}s, {a} and {b}, have the {r}s who are from the same country?"),
    ("same", "Are the {r}s of {k}s {a} and {b} both from the same country?"), ("same", "Are the {r}s of {a} and {b} from the same country?"),
    ("same", "Are {a}'s {r} and {b}'s {r} from the same country?"), ("same", "Are both {r} of {k} {a} and {r} of {k} {b} from the same country?"),
    ("differ", "Are the {r}s of {a} and {b} from different countries?"), ("agree", "Which country are both the {r} of {a} and the {r} of {b} from?"),
)  # fmt: skip
_FACTS: Final = (
    (_BORN, "When was the {r} of {s} born?"), (_DIED, "When did the {r} of {s} die?"), (_NATION, "What is the nationality of the {r} of {s}?"),
    (_COUNTRY, "Which country is the {r} of {s} from?"),
)  # fmt: skip


def roles() -> Iterator[Contrast]:
    """Give frames that compare the people behind things."""
    for kind, people in _ROLES.items():
        for role in (word.replace("_", " ") for word in people.split()):
            for frames, each in _FACTS:
                for how, frame in frames:
                    plural = frame.replace("{k}s", _many(kind)).replace("{k}", kind)
                    yield Contrast(kind, how, plural.replace("{r}", role), each.replace("{r}", role))


def _many(kind: str) -> str:
    return kind if kind == "series" else kind[:-1] + "ies" if kind[-1] == "y" and kind[-2] not in "aeiou" else kind + "s"
