"""Split yes/no questions that compare two things: born before, longer than, the same person."""

import re

from ramify.tools.extractive.grammar import AUXILIARIES, ROLES, WORKS, base_form
from ramify.tools.extractive.ordering import ADJECTIVES, label
from ramify.tools.extractive.split import How, Split

CLAIM = "claim"
"""The noun of a split whose order is claimed, not asked for."""
_ORDERS: dict[str, How] = {"before": "earlier", "earlier than": "earlier", "after": "later", "later than": "later"}
_ORDERED = re.compile(
    rf"^(?P<aux>(?i:{AUXILIARIES})) (?P<one>.+?) (?P<verb>(?:first )?(?!the |of |in )[a-z]+(?: [a-z]+){{0,5}}?) "
    rf"(?P<word>{'|'.join(_ORDERS)}) (?P<other>.+)$"
)
_AGED = re.compile(r"^(?:is|was) (?P<one>.+?) (?P<word>older|younger) than (?P<other>.+)$", re.I)
_SIZED = re.compile(
    r"^(?:is|was|are|were) (?P<one>.+?) "
    r"(?P<word>longer|larger|bigger|taller|higher|deeper|wider|heavier|shorter|smaller|lower) than (?P<other>.+)$",
    re.I,
)
_LESS = ("shorter", "smaller", "lower")
_THINGS = re.compile(rf"\b(?:{WORKS}|university|river|element|castle|church|bridge)\b", re.I)
_TAIL = re.compile(r"\s+(?:was|were|is|did|does|had)(?:\s+[a-z]+)?$")
_SAME_PERSON = re.compile(
    rf"^(?:is|was|are|were) the (?P<role>{ROLES})s? of (?P<names>.+?) the same(?: (?:person|man|woman|people|one|individual))?$",
    re.I,
)


def claim(question: str) -> Split | None:
    """Split a claim about the order, the size or the identity of two things."""
    text = " ".join(question.split()).rstrip("? ")
    return _lifetime(text) or _same_person(text) or _sized(text) or _aged(text) or _ordered(text)


def _lifetime(text: str) -> Split | None:
    """Split `How long did X live` into birth and death: a text seldom tells both in one place."""
    found = re.match(r"how long did (.+) live$", text, re.I)
    return Split(f"When was {found[1]} born?", f"When did {found[1]} die?", "span") if found else None


def _ordered(text: str) -> Split | None:
    found = _ORDERED.match(text)
    other = _TAIL.sub("", found["other"]) if found else ""
    if found is None or not _alike(found["one"], other):
        return None
    aux, verb = found["aux"].casefold(), found["verb"]
    asked = f"When {aux} {{}} {verb}?" if aux in ("was", "were", "is", "are") else f"When did {{}} {base_form(verb)}?"
    return _claimed(asked, _ORDERS[found["word"].casefold()], found["one"], other)


def _aged(text: str) -> Split | None:
    found = _AGED.match(text)
    if found is None:
        return None
    asked = "When was {} released?" if re.search(r"\bfilm\b", found["one"]) else "When was {} born?"
    asked = "When was {} founded?" if asked.endswith("born?") and _THINGS.search(found["one"]) else asked
    return _claimed(asked, "earlier" if found["word"].casefold() == "older" else "later", found["one"], found["other"])


def _sized(text: str) -> Split | None:
    found = _SIZED.match(text)
    if found is None:
        return None
    word = found["word"].casefold()
    adjective = ADJECTIVES.get(word) or word.removesuffix("er")
    return _claimed(f"How {adjective} is {{}}?", "less" if word in _LESS else "more", found["one"], found["other"])


def _claimed(asked: str, how: How, one: str, other: str) -> Split:
    names = label(one), label(other)
    return Split(asked.format(names[0]), asked.format(names[1]), how, names, CLAIM)


def _alike(one: str, other: str) -> bool:
    """Tell whether two texts are names or descriptions of one sort, not a clause or a date."""
    sorts = [_sort(text) for text in (one, other)]
    return "" not in sorts and (sorts[0] == sorts[1] or "described" in sorts)


def _sort(text: str) -> str:
    if re.search(r"[,;]|^\d", text):
        return ""
    if re.match(rf"the (?:[a-z]+ )?(?:{ROLES}|{WORKS}|inventor|discoverer|man|woman)\b", text):
        return "described"
    plain = text.removeprefix("the ").removeprefix("The ")
    return "named" if plain[:1].isupper() else "common" if " " not in plain or text != plain else ""


def _same_person(text: str) -> Split | None:
    """Split `Are the directors of A and B the same person?`."""
    found = _SAME_PERSON.match(text)
    if found is None:
        return None
    one, joined, other = found["names"].partition(" and ")
    other = re.sub(rf"^the {found['role']} of ", "", other)
    if not joined:
        return None
    role = found["role"].casefold()
    return Split(f"Who is the {role} of {one}?", f"Who is the {role} of {other}?", "same", (label(one), label(other)), role)
