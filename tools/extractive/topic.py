"""What a turn of a conversation leaves to refer to: the topic of its question, and its answer where that was sure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ramify.tools.extractive.grammar import AUXILIARIES, INVERTED, TAIL, is_person_noun, name_end
from ramify.tools.extractive.naming import names_in
from ramify.tools.extractive.questions import expected
from ramify.tools.extractive.text import is_unknown

_PHRASE = re.compile(r"\b(?:the|an?) .+")
_PARTS = re.compile(r"^(?:the|an?) (?P<head>[a-z][a-z -]*?) (?:of|behind|in|for|from|who|whom|whose|which|that|with) (?P<rest>.+)$")
_OWNED = re.compile(r"^(?P<rest>.+)['’]s (?P<head>[a-z -]+)$")
_SPEAKER = re.compile(r"^(?:I|you|we|one|people|it|he|she|they|there)\b", re.I)
_BORN = re.compile(r"\b(?:born|die|died|buried|marry|married)\b")
_COPULA = re.compile(r"^(?:who|what|(?:which|what) [a-z]+) (?P<auxiliary>is|was|are|were) (?P<rest>.+)$", re.I)
_YES_NO = re.compile(rf"^(?:{AUXILIARIES}) ", re.I)
_ADVERB = re.compile(r"^(?:where|(?:(?P<by>in|at|on|from|to|into|by|for|with|through) )?(?:which|what) (?P<noun>[a-z-]+))\b", re.I)
_THINGS = ("place", "title", "name")


@dataclass(frozen=True)
class Topic:
    """Whom and what a question is about, and what place; by name or description, empty where there is none."""

    person: str = ""
    thing: str = ""
    place: str = ""


def topic_of(turn: Mapping[str, Any]) -> Topic:
    """Find what a turn leaves to refer to; in the place of an answer that was not sure stands what the question describes."""
    question = str(turn["asked"]).strip().rstrip("? ")
    kind = "person" if re.match(r"who\b", question, re.I) else expected(question).kind
    spoken, wanted = about(question), _wanted(question)
    sure = turn["sure"] and not is_unknown(turn["answer"])
    found = turn["answer"] if sure and wanted is not None else wanted or ""
    if kind == "person":
        return Topic(found or spoken.person, spoken.thing, spoken.place)
    if kind in _THINGS and found:
        aside = INVERTED.match(question) and kind == "place"  # a place is asked of something, which then is the topic
        return Topic(spoken.person, spoken.thing or found if aside else found, found if kind == "place" else spoken.place)
    return spoken


def inverted(question: str) -> tuple[str, str]:
    """Take a question apart into its auxiliary and what follows; two empty texts where what is asked for is what does something."""
    for pattern in (INVERTED, _YES_NO):
        if match := pattern.match(question):
            return match[0].split()[-1].casefold(), question[match.end() :]
    match = _COPULA.match(question)
    return (match["auxiliary"], match["rest"]) if match else ("", "")


def about(question: str) -> Topic:
    """Find what a question speaks of: its subject, or where that is asked for, what it says something of."""
    subject, predicate = _subject(inverted(question)[1])
    if not subject or _SPEAKER.match(subject):
        names = names_in(question)
        phrase = _PHRASE.search(TAIL.sub("", question))
        return Topic(names[0], names[-1], names[-1]) if names else parts(phrase[0] if phrase else "")
    topic = parts(subject)
    return Topic(person=topic.person) if topic.person == topic.thing and _BORN.search(predicate) else topic


def _subject(text: str) -> tuple[str, str]:
    """Split what follows an auxiliary: `the Titanic sink` speaks of the Titanic."""
    if (end := name_end(text, 0)) is not None:
        return text[:end].strip(), text[end:].strip()
    tail = TAIL.search(text)
    return (text[: tail.start()], tail[1]) if tail else (text, "")


def parts(phrase: str) -> Topic:
    """Tell a person from a thing: of `the inventor of the ballpoint pen`, the whole is a person, and the pen a thing."""
    match = _PARTS.match(phrase) or _OWNED.match(phrase)
    if match and is_person_noun(match["head"]):
        inner = parts(match["rest"])
        return Topic(phrase, inner.thing, inner.place)
    described = phrase[:1].islower()
    return Topic("" if described else phrase, phrase, phrase)


def _wanted(question: str) -> str | None:
    """Describe what a question asks the name of; None where it asks for no name."""
    if match := _COPULA.match(question):
        return match["rest"] if _PHRASE.match(match["rest"]) else None
    if INVERTED.match(question):
        return _clause(question)
    if match := re.match(r"who (?P<does>.+)$", question, re.I):
        return f"the person who {match['does']}"
    noun = expected(question).noun
    match = re.match(rf"(?:which|what) (?P<what>(?:[\w-]+ )*?{re.escape(noun)}) (?P<does>.+)$", question, re.I) if noun else None
    return f"the {match['what']} that {match['does']}" if match else ""


def _clause(question: str) -> str:
    """Describe what a question asks of something else: `the city in which Ada Lovelace was born`."""
    auxiliary, rest = inverted(question)
    subject, predicate = _subject(rest)
    match = _ADVERB.match(question)
    if not (match and predicate):
        return ""
    head = f"the {match['noun']} {match['by'].lower() + ' which' if match['by'] else 'that'}" if match["noun"] else "the place where"
    return f"{head} {subject} {auxiliary} {predicate}"
