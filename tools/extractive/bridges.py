"""Split a question that holds a description: first who or what that is, then the rest of the question."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ramify.tools.extractive.grammar import INVERTED, PLURAL_PEOPLE, TAIL, VERBS, base_form, name_end
from ramify.tools.extractive.kinship import KIN, kinship
from ramify.tools.extractive.questions import names_a_thing
from ramify.tools.extractive.split import SLOT, Split
from ramify.tools.extractive.wording import ask_for, ask_owned, has_verb

_PREPOSITION = r"in|on|at|from|for|with|by|to|through|of|under"
_MARKER = (
    rf"of|that|who|whom|whose|which|where|(?:{_PREPOSITION}) (?:which|whom|whose)|with|about|starring|featuring|"
    rf"containing|below|above|behind|"
    rf"beneath|near|named after|called|played by|[a-z]+(?:ed|own|tten|ung|de|ilt|un) (?:by|in|after|for|from|on|as|with|to)"
)
_OPENER = re.compile(rf"\b[Tt]he (?P<head>(?:[a-z][\w-]*'?s? |[A-Z][a-z]+(?:an|ish|ese|ch) )*?[a-z][\w-]*) (?P<marker>{_MARKER})\b")
_NOT_HEADS = re.compile(
    rf"\b(?:same|name|names|number|rest|end|start|beginning|part|side|list|type|kind|date|year|time|age|place|"
    rf"death|theory|title|most|cause|amount|size|is|was|are|were|did|does|{_MARKER})\b"
)
_WORDINGS = (
    (re.compile(r"^(?:where|what) (?:is|was) the place of birth of (.+)$", re.I), r"Where was \1 born"),
    (re.compile(r"^(?:where|what) (?:is|was) the place of death of (.+)$", re.I), r"Where did \1 die"),
    (re.compile(r"^(?:where|what) (?:is|was) the place of burial of (.+)$", re.I), r"Where was \1 buried"),
    (re.compile(r"^(which|what) (country|nationality|city) (.+) (is|was) (from|of)$", re.I), r"\1 \2 \4 \3 \5"),
    (re.compile(r"\b(?:the )?place of birth of\b"), "the birthplace of"),
    (re.compile(r"\b(?:the )?place of death of\b"), "the deathplace of"),
)
_WHOLE = re.compile(
    r"^(?:who|what|which(?: [\w-]+)?|when|where|whom)(?: (?:is|was|are|were|did|does))?(?: (?:the "
    r")?(?:name|nationality|title) of)?$",
    re.I,
)
_EXTRAPOSED = re.compile(
    rf"\b(was|were|is|did|does|do) (the [a-z][\w -]*?) ((?:{VERBS})(?: (?:from|at|in|into)(?! wh(?:ich|om|ose)))?) ((?:(?:{_PREPOSITION}) "
    rf")?(?:who|whom|whose|which|that)\b[^?]*)"
)
_OWNER = re.compile(r"['’][sS]?\s+(?P<thing>(?:[A-Z][a-z]+(?:an|ish|ese) )?[a-z][\w-]*(?:\s+[a-z][\w-]*){0,3})")
_THING_ENDS = re.compile(
    rf"\s(?:is|was|are|were|did|does|do|has|had|on|in|of|from|at|to|and|or|by|with|for|who|that|which|a|an|"
    rf"the|not|first|later|named|called|{VERBS})\b.*"
)
_PLAIN = re.compile(
    r"(\s+(?:the |an? )?(?:(?!(?:was|were|is|are|did|had|has|have|that|who|which|in|on|at|by|for)\b)[a-z][\w-]*\s+)*?"
    r"(?!(?:was|were|is|are|did|had|has|have)\b)[a-z][\w-]*)\s+(?:was|were|is|are|has|have|had|died|live|lived|die)\b"
)
_WHERE = re.compile(
    r"^(?P<ask>(?:who|which|what|when|how) .{8,}?),? where (?P<who>[^,]+?) "
    r"(?:(?:was|is) (?P<past>born|buried|educated|killed|raised)|(?P<verb>died|lived|studied|worked|grew up))$",
    re.I,
)
_TOLD = re.compile(r"\s(?:(?:is|was|are|were|has|had)(?: [a-z]+(?:ed|en))?|won|received|became|made|wrote|[a-z]+ed)\s")
_WH = re.compile(r"\b(?:who|whom|what|which|where|when)\b", re.I)
_CLAIM = re.compile(r"\b(?:article|report|coverage|piece|reports|articles)\b")
_ATTRIBUTE = re.compile(
    r"\bthe ((?:[A-Z][\w'.&-]*)(?: (?:(?:of|the|and|in|on) )*[A-Z0-9][\w'.&-]*)*)(?:'s?)? "
    r"(performer|developer|director|producer|author|creator|publisher|manufacturer|composer|writer|singer|owner|founder|designer)\b(?! of)"
)
_LOOSE = re.compile(r"(?: (?!(?:in|on|at|for|with|by|to|from|as|before|after|and|or|when|while|is|was|are|were|did|does)\b)[a-z][\w'-]*)+$")
_ATTRIBUTES = frozenset(("birthday", "nationality", "age", "date", "time", "year", "religion", "population", "length", "height", "theory"))


@dataclass(frozen=True)
class Description:
    """A part of a question that stands for something to be looked up."""

    start: int
    end: int
    question: str


def bridge(question: str) -> Split | None:
    """Split off the innermost description of a question, if it has one."""
    text = " ".join(question.split()).rstrip("? ")
    if kin := kinship(text):
        return kin
    if _CLAIM.search(text) and re.match(r"(?:do|does|did|is|was|were|are|has|have|between|considering|after)\b", text, re.I):
        return None
    text = _ATTRIBUTE.sub(r"the \2 of \1", text)
    for pattern, wording in _WORDINGS:
        text = pattern.sub(wording, text)
    text = _EXTRAPOSED.sub(r"\1 \2 \4 \3", text)
    found = [part for part in (*_descriptions(text), *_possessions(text)) if not _is_whole(text, part)]
    if not found:
        return _located(text)
    inner = max(found, key=lambda part: (part.start, -part.end))
    return Split(f"{inner.question}?", f"{text[: inner.start]}{SLOT}{text[inner.end :]}?", "bridge")


def _located(text: str) -> Split | None:
    """Split off a place that is told only by what happened there: `a castle where X was born`."""
    found = _WHERE.match(text)
    if found is None or re.search(r"\bthe [a-z ]+$", found["ask"]):
        return None
    asked = f"Where was {found['who']} {found['past']}" if found["past"] else f"Where did {found['who']} {base_form(found['verb'])}"
    return Split(f"{asked}?", f"{found['ask']} in {SLOT}?", "bridge")


def _is_whole(text: str, part: Description) -> bool:
    """Tell whether the question asks for nothing but what the description stands for: then it is simple."""
    return not text[part.end :].strip() and _WHOLE.match(text[: part.start].strip()) is not None


def _descriptions(text: str) -> Iterator[Description]:
    for start in (match.start() for match in re.finditer(r"\b[Tt]he ", text)):
        found = _OPENER.match(text, start)
        if found is None or _NOT_HEADS.search(found["head"]) or found["head"].split()[-1] in PLURAL_PEOPLE:
            continue
        end = _complement_end(text, found)
        known = found["marker"] != "of" or names_a_thing(found["head"].split()[-1])
        if _is_predicate(text, start, end, found["marker"]):
            continue
        if known and end > found.end() and not _WH.search(text[found.end() : end].replace(" where ", " ")):
            yield Description(start, end, ask_for(found["head"], found["marker"], text[found.end() : end].strip()))


def _is_predicate(text: str, start: int, end: int, marker: str) -> bool:
    """Tell whether the marker is the verb of the question: `In which year was the subway opened in Budapest?`"""
    verb = marker.split()[0]
    asks = INVERTED.match(text)
    participle = " " in marker and verb.endswith(("ed", "own", "tten", "ung", "ilt", "un"))
    return bool(participle and asks and asks.end() == start and not text[end:].strip())


def _complement_end(text: str, found: re.Match[str]) -> int:
    """Find where a description ends: after the name it holds, or where the outer verb stands."""
    marker, start = found["marker"], found.end()
    clausal = marker.split()[-1] in {"that", "who", "whom", "whose", "which", "where"}
    if not clausal and (end := name_end(text, start)) is not None:
        played = re.compile(r"\s+as\b").match(text, end)
        return (name_end(text, played.end()) or end) if played else _loose_end(text, found.start(), end)
    if not clausal and (plain := _PLAIN.match(text, start)):
        return plain.end(1)
    end = _clause_end(text, found.start(), start)
    # The verb at the end belongs to the description where that has no other: `the city where Lem died`.
    return end if not clausal or has_verb(text[start:end]) else max(end, len(text))


def _loose_end(text: str, opened: int, end: int) -> int:
    """Go on to the last plain word: `the author of The Timothy files`."""
    limit = _clause_end(text, opened, end) if opened else end
    return limit if _LOOSE.fullmatch(text[end:limit]) else end


def _clause_end(text: str, opened: int, start: int) -> int:
    if opened == 0:
        verbs = list(_TOLD.finditer(text, start + 4))
        return verbs[-1].start() if verbs and _WH.search(text, verbs[-1].start()) else start
    end = len(text)
    if (tail := TAIL.search(text, start)) and _has_tail(text, tail[1]):
        end = tail.start()
    comma = re.search(r", (?![A-Z])", text[start:end])
    return start + comma.start() if comma else end


def _has_tail(text: str, tail: str) -> bool:
    """Tell whether the last verb is the question's own: `Where was the man who … born?`, not `Who is the man who … died?`"""
    if INVERTED.match(text):
        return True
    copular = re.match(r"^(?:which|what) [\w -]+? (?:is|was|are|were) ", text, re.I)
    return copular is not None and tail in ("from", "in", "at", "on")


def _possessions(text: str) -> Iterator[Description]:
    """Find `X's mother`; a title such as `Tarkovsky's Solaris` is none."""
    for found in _OWNER.finditer(text):
        start = _owner_start(text, found.start())
        thing = _known_thing(_THING_ENDS.sub("", found["thing"]))
        if start is None or not thing or KIN.match(thing):
            continue
        yield Description(start, found.start("thing") + len(thing), ask_owned(text[start : found.start()], thing))


def _known_thing(words: str) -> str:
    """Cut a possession after its last noun of a known kind; empty where it has none, or is an attribute."""
    known = [match.end() for match in re.finditer(r"[a-z-]+", words) if names_a_thing(match[0]) and match[0] not in _ATTRIBUTES]
    return words[: known[-1]] if known else ""


def _owner_start(text: str, end: int) -> int | None:
    """Find where the owner's name begins: the first place from which one name reaches to the apostrophe."""
    for match in re.finditer(r"(?:^|(?<=\s))[\"'“(]?[A-Z0-9…]", text[:end]):
        begins = match.start()
        if begins and name_end(text[:end], begins) == end:
            return begins
    return None
