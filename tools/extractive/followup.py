"""Reply to the prompt that makes a follow-up self-contained: pronouns and what was left out, by rules.

A pronoun stands for the topic of the questions before, a question word alone asks of it what was asked last.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ramify.tools.extractive.grammar import is_person_noun
from ramify.tools.extractive.language import reads
from ramify.tools.extractive.naming import names_in
from ramify.tools.extractive.questions import expected
from ramify.tools.extractive.topic import Topic, about, inverted, parts, topic_of

_OPENING = re.compile(r"^(?:(?:and|so|but|then|ok|okay|also|now|well)\b[\s,]+)+", re.I)
_ELLIPSIS = re.compile(r"^(?:what|how) about (?P<rest>.+)$", re.I)
_WORD_ALONE = re.compile(
    r"^(?:(?:in|on|at|by|for|from|to|with|since|until|through|of) )?(?:when|where|why|whom|how(?: long| often)?|(?:which|what) [a-z]+)$",
    re.I,
)
_ASKS = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b|^(?:is|are|was|were|do|does|did|has|have|had|can)\b", re.I)
_OWNS = re.compile(r"\b(?P<whose>his|her|their|its) (?P<what>(?!(?:and|or|in|at|to|from|with|by|on|of|for)\b)[a-z-]+)", re.I)
_PERSON = re.compile(r"\b(?:he|she|him|her|hers)\b", re.I)
_THING = re.compile(r"\b(?:it|they|them)\b", re.I)
_NAMED = re.compile(r"\b(?:this|that) (?P<noun>[a-z]+)\b(?! (?:who|which|that)\b)")
_THERE = re.compile(
    r"(?P<by>\b(?:through|from|to|near|past|around|over) )?\bthere\b(?! (?:is|are|was|were|any|a|an)\b)"
    r"(?<!is there)(?<!are there)(?<!was there)(?<!were there)",
    re.I,
)
_PERSONAL = ("his", "her")


def contextualize(slots: Mapping[str, Any]) -> dict[str, str]:
    """Write the topic in for the words that refer back; a question that refers to nothing stays as it is."""
    if not reads(slots["question"]):
        return {"question": slots["question"]}
    question = _OPENING.sub("", slots["question"].strip()).rstrip("? ")
    turns: Sequence[Mapping[str, Any]] = slots["turns"]
    asked, topic = str(turns[-1]["asked"]).strip().rstrip("? ") if turns else "", _topic(turns)
    short = _shortened(question)
    if _WORD_ALONE.match(question):
        whole = _carried(question, asked)
    else:
        whole = _replaced(question, topic) if short is None else _completed(short, asked, topic)
    return {"question": whole[:1].upper() + whole[1:] + "?"}


def _topic(turns: Sequence[Mapping[str, Any]]) -> Topic:
    """Gather what there is to refer to: of each kind the latest."""
    topics = [topic_of(turn) for turn in reversed(turns)]
    latest = {kind: next(filter(None, (getattr(topic, kind) for topic in topics)), "") for kind in ("person", "thing", "place")}
    return Topic(**latest)


def _carried(word: str, asked: str) -> str:
    """Ask what was asked before with another question word; where that asks who did something, with one more."""
    auxiliary, rest = inverted(asked)
    return f"{word} {auxiliary} {rest}" if auxiliary else f"{asked}, and {word.lower()}"


def _shortened(question: str) -> str | None:
    """Give what is left of a question that leaves its verb out: `what about Rome`, `Rome`."""
    if match := _ELLIPSIS.match(question):
        return match["rest"]
    return None if _ASKS.search(question) else question


def _completed(short: str, asked: str, topic: Topic) -> str:
    """Ask of something else what was asked before; a thing that somebody has is asked for."""
    rest = _replaced(short, topic)
    if _OWNS.search(short) or "'s " in short or "’s " in short:
        return f"{'Who' if expected(f'What is the {short.split()[-1]} of X').kind == 'person' else 'What'} is {rest}"
    names, new, old = names_in(asked), parts(rest), about(asked)
    replaced = (names[-1] if names else "") if rest[:1].isupper() else old.person if new.person else old.thing
    return asked.replace(replaced, rest) if replaced and replaced[:1].isupper() == rest[:1].isupper() else rest


def _replaced(question: str, topic: Topic) -> str:
    """Put names in the place of pronouns."""
    question = _OWNS.sub(lambda match: _owner(match, topic), question)
    question = _NAMED.sub(lambda match: _meant(match["noun"], topic) or match[0], question)
    question = _THERE.sub(lambda match: f"{match['by'] or 'in '}{topic.place}" if topic.place else match[0], question)
    for pattern, name in ((_PERSON, topic.person), (_THING, topic.thing)):
        question = _put(name, pattern, question)
    return question


def _meant(noun: str, topic: Topic) -> str:
    """Choose what `this city` or `that inventor` can stand for."""
    if is_person_noun(noun):
        return topic.person
    return topic.place if expected(f"Which {noun} is it").kind == "place" else topic.thing


def _put(name: str, pattern: re.Pattern[str], question: str) -> str:
    """Write a name, as it is, where the pattern matches; without a name nothing changes."""
    return pattern.sub(lambda match: name or match[0], question)


def _owner(match: re.Match[str], topic: Topic) -> str:
    name = topic.person if match["whose"].casefold() in _PERSONAL else topic.thing
    if name[:1].islower() and is_person_noun(match["what"]):
        return f"the {match['what']} of {name}"
    return f"{name}'s {match['what']}" if name else match[0]
