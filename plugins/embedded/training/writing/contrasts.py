"""Frames of questions that compare two things `{a}` and `{b}`, or the people behind them, each with the question `{s}` that is asked of both."""

# ruff: noqa: E501  # tables

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Contrast:
    """A frame: how its two answers are brought together, the question, and the one asked of each thing."""

    kind: str
    how: str
    question: str
    each: str
    swapped: bool = False


_NOUNS: Final = {"person": "person", "employee": "colleague", "series": "series", "software": "tool", "setting": "setting", "invention": "thing",
                 "document": "document", "device": "machine", "service": "service", "state": "state", "building": "building"}  # fmt: skip
_FIRST: Final = (
    "Which {n} was {v} first, {a} or {b}?", "Which was {v} earlier, {a} or {b}?", "Was {a} or {b} {v} first?", "What was {v} first, {a} or {b}?",
    "Which of {a} and {b} was {v} first?", "Which {n} was {v} earlier: {a} or {b}?", "Which one was {v} first, {a} or {b}?",
    "Between {a} and {b}, which {n} was {v} first?", "Which {n} was {v} earliest, {a} or {b}?", "Which {n}, {a} or {b}, was {v} first?",
)  # fmt: skip
_LAST: Final = (
    "Which {n} was {v} later, {a} or {b}?", "Which {n} was {v} more recently, {a} or {b}?", "Which was {v} last, {a} or {b}?",
    "Was {a} or {b} {v} more recently?", "Which of {a} and {b} was {v} later?", "Which {n}, {a} or {b}, was {v} more recently?",
)  # fmt: skip
_BEFORE: Final = (
    "Was {a} {v} before {b}?",
    "Was {a} {v} earlier than {b}?",
    "Was {a} {v} before {b} was?",
    "Is it true that {a} was {v} before {b}?",
)
_AFTER: Final = ("Was {a} {v} after {b}?", "Was {a} {v} later than {b}?", "Was {a} {v} more recently than {b}?")
_MADE: Final = {
    "film": "released made", "song": "released recorded", "album": "released recorded", "book": "published written", "company": "founded established",
    "university": "founded established opened", "building": "built opened completed constructed", "band": "formed founded", "city": "founded settled",
    "team": "founded established", "magazine": "founded established published", "game": "released developed", "invention": "invented discovered described",
    "software": "released updated installed", "document": "signed approved written", "device": "installed serviced inspected delivered repaired",
    "project": "started approved completed planned", "order": "placed shipped delivered", "server": "installed rebooted", "party": "founded formed",
    "series": "released cancelled", "battle": "fought", "part": "replaced ordered delivered", "file": "created changed", "setting": "introduced changed added",
    "command": "introduced added", "service": "started deployed",
}  # fmt: skip
_OLDER: Final = {"company": "founded", "building": "built", "university": "founded", "film": "released", "city": "founded", "band": "formed",
                 "software": "released", "device": "installed", "team": "founded", "magazine": "founded", "document": "signed"}  # fmt: skip
_COUNTED: Final = {
    "city": "inhabitants residents churches universities districts hospitals", "country": "inhabitants provinces neighbours islands airports", "university": "students faculties",
    "company": "employees subsidiaries customers offices stores", "band": "members albums", "film": "awards", "album": "tracks songs", "book": "pages chapters",
    "series": "episodes seasons", "building": "floors rooms elevators", "team": "titles fans trophies", "person": "children siblings awards", "state": "counties",
    "software": "users modules dependencies", "server": "cores users disks", "document": "pages sections annexes", "project": "members milestones risks",
    "department": "employees vacancies", "device": "valves sensors outlets", "river": "tributaries", "game": "levels players", "magazine": "readers subscribers",
    "service": "instances replicas", "command": "options parameters", "party": "members seats", "order": "items positions",
}  # fmt: skip
_MEASURED: Final = {
    "person": (("tall", "taller", "shorter"), ("old", "older", "younger")), "building": (("tall", "taller", "shorter"), ("high", "higher", "lower")),
    "river": (("long", "longer", "shorter"), ("deep", "deeper", "shallower")), "city": (("large", "larger", "smaller"), ("big", "bigger", "smaller")),
    "film": (("long", "longer", "shorter"),), "song": (("long", "longer", "shorter"),), "country": (("large", "larger", "smaller"), ("big", "bigger", "smaller")),
    "device": (("heavy", "heavier", "lighter"), ("expensive", "more expensive", "cheaper"), ("loud", "louder", "quieter")),
    "part": (("expensive", "more expensive", "cheaper"), ("heavy", "heavier", "lighter")), "software": (("fast", "faster", "slower"), ("expensive", "more expensive", "cheaper")),
    "server": (("fast", "faster", "slower"),), "document": (("long", "longer", "shorter"),), "state": (("large", "larger", "smaller"),), "file": (("large", "larger", "smaller"),),
    "book": (("long", "longer", "shorter"),), "project": (("expensive", "more expensive", "cheaper"),),
}  # fmt: skip
_VALUED: Final = {
    "city": "population area elevation", "country": "population area", "company": "revenue turnover profit", "building": "height capacity", "river": "length width",
    "film": "budget running time", "software": "price memory limit", "setting": "default value maximum value", "device": "weight maximum pressure power consumption price",
    "part": "weight price rated current torque", "project": "budget duration cost", "service": "timeout memory limit port number", "server": "uptime memory size",
    "document": "total amount length", "order": "total amount", "department": "budget headcount", "university": "tuition enrollment", "state": "population area",
    "invention": "boiling point price density", "team": "budget stadium capacity",
}  # fmt: skip
_PHRASES: Final = (
    "running time", "memory limit", "default value", "maximum value", "maximum pressure", "power consumption", "rated current", "port number", "memory size",
    "total amount", "boiling point", "stadium capacity",
)  # fmt: skip


def noun(kind: str) -> str:
    """Give the noun that people call a thing of a kind by."""
    return _NOUNS.get(kind, kind)


def dated() -> Iterator[Contrast]:
    """Give frames that compare dates."""
    for kind, done in _MADE.items():
        for verb in done.split():
            each = f"When was {{s}} {verb}?"
            for how, frames in (("earlier", _FIRST), ("later", _LAST), ("before", _BEFORE), ("after", _AFTER)):
                yield from (Contrast(kind, how, frame.replace("{v}", verb), each) for frame in frames)
    for kind, verb in _OLDER.items():
        each = f"When was {{s}} {verb}?"
        for how, word in (("earlier", "older"), ("later", "newer")):
            yield Contrast(kind, how, f"Which {{n}} is {word}, {{a}} or {{b}}?", each)
            yield Contrast(kind, "before" if how == "earlier" else "after", f"Is {{a}} {word} than {{b}}?", each)


def counted() -> Iterator[Contrast]:
    """Give frames that compare numbers."""
    for kind, things in _COUNTED.items():
        for thing in things.split():
            each = f"How many {thing} does {{s}} have?"
            who = "Who" if kind == "person" else "Which {n}"
            for how, word, most in (("more", "more", "the most"), ("less", "fewer", "the fewest")):
                yield Contrast(kind, how, f"{who} has {word} {thing}, {{a}} or {{b}}?", each)
                yield Contrast(kind, how, f"Does {{a}} or {{b}} have {word} {thing}?", each)
                yield Contrast(kind, how, f"Which of {{a}} and {{b}} has {most} {thing}?", each)
            yield Contrast(kind, "exceeds", f"Does {{a}} have more {thing} than {{b}}?", each)
            yield Contrast(kind, "exceeds", f"Does {{a}} have fewer {thing} than {{b}}?", each, swapped=True)
            yield Contrast(kind, "same", f"Do {{a}} and {{b}} have the same number of {thing}?", each)


def measured() -> Iterator[Contrast]:
    """Give frames that compare sizes and the like."""
    for kind, scales in _MEASURED.items():
        for plain, more, less in scales:
            each = "When was {s} born?" if plain == "old" else f"How {plain} is {{s}}?"
            who = "Who" if kind == "person" else "Which {n}"
            for how, word in (("more", more), ("less", less)):
                combination = {"more": "earlier", "less": "later"}[how] if plain == "old" else how
                yield from (Contrast(kind, combination, frame, each) for frame in (
                    f"{who} is {word}, {{a}} or {{b}}?", f"Is {{a}} or {{b}} {word}?", f"Which of {{a}} and {{b}} is {word}?", f"Which is {word}, {{a}} or {{b}}?",
                ))  # fmt: skip
            yes = "before" if plain == "old" else "exceeds"
            yield Contrast(kind, yes, f"Is {{a}} {more} than {{b}}?", each)
            yield Contrast(kind, yes, f"Is {{a}} {less} than {{b}}?", each, swapped=True)


def valued() -> Iterator[Contrast]:
    """Give frames that compare values."""
    for kind, text in _VALUED.items():
        for value in _values(text):
            each = f"What is the {value} of {{s}}?"
            for how, word in (("more", "higher"), ("more", "larger"), ("more", "greater"), ("less", "lower"), ("less", "smaller")):
                yield Contrast(kind, how, f"Which {{n}} has the {word} {value}, {{a}} or {{b}}?", each)
                yield Contrast(kind, how, f"Which has a {word} {value}, {{a}} or {{b}}?", each)
                yield Contrast(kind, "exceeds", f"Is the {value} of {{a}} {word} than the {value} of {{b}}?", each, swapped=how == "less")
                yield Contrast(kind, "exceeds", f"Does {{a}} have a {word} {value} than {{b}}?", each, swapped=how == "less")
            yield Contrast(kind, "same", f"Do {{a}} and {{b}} have the same {value}?", each)
            yield Contrast(kind, "same", f"Is the {value} of {{a}} the same as the {value} of {{b}}?", each)
            yield Contrast(kind, "differ", f"Is the {value} of {{a}} different from the {value} of {{b}}?", each)


def _values(text: str) -> Iterator[str]:
    for phrase in _PHRASES:
        if phrase in text:
            text = text.replace(phrase, "")
            yield phrase
    yield from text.split()


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
