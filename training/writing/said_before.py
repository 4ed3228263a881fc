"""Follow-ups made of what is asked of a thing: a pronoun takes its place once the turns before have named it."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from training.example import seeded
from training.writing.chains import linked
from training.writing.contrasts import noun
from training.writing.links import LINKS
from training.writing.names import key
from training.writing.phrases import asked
from training.writing.pools import Pool, drawn_part, pool
from training.writing.question_words import capital, recased
from training.writing.tails import TAILS
from training.writing.written import Part, Written

_PEOPLE: Final = ("person", "employee")
_SUBJECT = re.compile(r"\b(?:is|was|are|were|did|does|do|has|have|can|will) \{x\}")
_ANSWERS: Final = (
    (
        r"when|in (?:which|what) year|what year|on what date|what is the date",
        ("1987", "12 March 1921", "On May 3, 2014.", "In 1956.", "July 2019", "1874", "2 January 2021."),
    ),
    (r"how (?:many|much|old|tall|large|long|far|big|high)", ("12", "About 4,500.", "Two.", "1,312", "3.5", "Around forty.", "250 m")),
    (
        r"where|in (?:which|what) (?:city|country|state|folder)",
        ("Leeds", "In the north of the country.", "Vienna.", "In Springfield.", "Norway", "Room 214"),
    ),
    (r"is|are|was|were|does|do|did|has|can", ("Yes.", "No.", "Yes", "no")),
    (r"who", ("Maria Lindqvist", "John Ellery.", "Anton Reiss", "Dr. Sandra Okafor.")),
    (r"", ("It is not said.", "The passages do not say.", "8080", "Blue and white.", "Unknown", "The standard one.")),
)
_AND: Final = ("And", "and", "Okay, and", "And then,", "So", "Thanks.", "OK.")
_ABOUT: Final = (
    "What about {n}?",
    "And {n}?",
    "how about {n}",
    "And what about {n}?",
    "and {n}?",
    "What about {n}",
    "Same question for {n}.",
    "And for {n}?",
)


def said_before(data: Path, count: int) -> Iterator[Written]:
    """Make follow-ups with what they mean."""
    names = pool(data)
    for number in range(count):
        rng = seeded("said before", number)
        yield _swapped(names, rng) if number % 4 == 0 else _followed(names, rng)


def described(data: Path, count: int) -> Iterator[Written]:
    """Make follow-ups of what was only described: `he` is then the director of the film, `it` the film."""
    names = pool(data)
    pairs = [(start, kind) for start, ends in LINKS.items() for kind in ends if kind in TAILS]
    people = [pair for pair in pairs if pair[1] in _PEOPLE and pair[0] not in _PEOPLE]
    for number in range(count):
        rng = seeded("described", number)
        part = drawn_part(rng)
        link = rng.choice(people if number % 3 else pairs)
        yield _described(link, link[1] in _PEOPLE and number % 5 < 2, names, part, rng)


def _described(link: tuple[str, str], named: bool, names: Pool, part: Part, rng: Random) -> Written:
    """Ask of a thing described by another one, or of that other one; where it was named after all, its name is meant."""
    start, kind = link
    name = names.draw(start, part, rng)
    phrase = rng.choice(LINKS[start][kind]).replace("{s}", name)
    told = rng.choice(_plain(kind)).replace("{x}", phrase)
    turns = [told, _answer(told, rng)] if rng.random() < 0.4 else [told]  # what was not sure is not told
    if named:
        phrase, turns = (who := names.draw(kind, part, rng)), [_who_is(phrase, rng), who]
    of_it = start in TAILS and start not in _PEOPLE and kind in _PEOPLE and rng.random() < 0.3
    meant, asked_of = (name, start) if of_it else (phrase, kind)
    question = rng.choice(_plain(asked_of))
    leaning = _leaning(question, asked_of, rng)
    whole = recased(question.replace("{x}", meant), [leaning, *turns])
    return Written("described", key(name), leaning, "\n".join(turns), "rewrite", (whole,))


def _who_is(phrase: str, rng: Random) -> str:
    """Ask for whom a phrase describes."""
    return f"Who {rng.choice(('is', 'was'))} {phrase}?" if rng.random() < 0.6 else asked(phrase)


def _plain(kind: str) -> list[str]:
    """Give the questions of a kind in which a description can stand for the thing."""
    return [question for question in TAILS[kind] if "{x}'s" not in question]


def _followed(names: Pool, rng: Random) -> Written:
    part = drawn_part(rng)
    kind = rng.choice(list(TAILS))
    name = names.draw(kind, part, rng) if kind not in ("currency", "language") else names.draw("country", part, rng)
    kind = "country" if kind in ("currency", "language") else kind
    question = rng.choice(TAILS[kind])
    leaning = _leaning(question, kind, rng)
    if rng.random() < 0.2:
        leaning = f"{rng.choice(_AND)} {leaning[0].casefold() + leaning[1:]}"
    if rng.random() < 0.3:
        leaning = leaning.casefold().rstrip("?")
    turns = _turns(kind, name, names, rng)
    return Written(
        "said_before", key(name), leaning, "\n".join(turns), "rewrite", (recased(question.replace("{x}", name), [leaning, *turns]),)
    )


def _leaning(question: str, kind: str, rng: Random) -> str:
    """Write a question with a pronoun for the thing it is about."""
    people = kind in _PEOPLE
    own, subject, thing = rng.choice((("his", "he", "him"), ("her", "she", "her"))) if people else ("its", "it", "it")
    if (not people and rng.random() < 0.3) or (people and rng.random() < 0.08):
        subject = thing = f"{rng.choice(('that', 'the', 'this'))} {noun(kind)}"
        own = f"{subject}'s"
    if rng.random() < 0.6:
        question = re.sub(r"(is|was|are) the ([\w -]+?) of \{x\}", r"\1 {x}'s \2", question)
    if rng.random() < 0.08 and (found := re.fullmatch(r"What is \{x\}'s ([\w -]+)\?", question)):
        return f"And {own} {found[1]}?"
    text = re.sub(r"\{x\} (?=is |received|was )", f"{subject} ", question.replace("{x}'s", own))
    text = _SUBJECT.sub(lambda found: found[0].replace("{x}", subject), text)
    return capital(text.replace("{x}", subject if text.startswith("{x}") else thing))


def _turns(kind: str, name: str, names: Pool, rng: Random) -> list[str]:
    """Make turns after which a thing is what the talk is about: as an answer, or as what was asked about."""
    starts = [start for start, ends in LINKS.items() if kind in ends]
    turns: list[str] = []
    if rng.random() < 0.25:
        turns = [(told := rng.choice(TAILS["company"]).replace("{x}", names.draw("company", "train", rng))), _answer(told, rng)]
    if starts and rng.random() < 0.5:
        start = rng.choice(starts)
        link = rng.choice(LINKS[start][kind])
        told = asked(link).replace("{s}", names.draw(start, "train", rng))
        return [*turns, told, name if rng.random() < 0.7 else f"{capital(name)}."]
    told = rng.choice(TAILS[kind]).replace("{x}", name)
    return [*turns, told, _answer(told, rng)]


def _answer(question: str, rng: Random) -> str:
    return rng.choice(
        next(answers for pattern, answers in _ANSWERS if re.match(rf"(?:{pattern})\b" if pattern else "", question, re.IGNORECASE))
    )


def _swapped(names: Pool, rng: Random) -> Written:
    """Ask the same of another thing."""
    part = drawn_part(rng)
    kind = rng.choice([kind for kind in TAILS if kind not in ("currency", "language")])
    one, other = names.two(kind, part, rng)
    question = rng.choice(TAILS[kind])
    if kind in LINKS and rng.random() < 0.4:
        link, _ = linked(kind, one, rng)
        question = asked(link).replace("{s}", "{x}")
    told = [question.replace("{x}", one), _answer(question, rng)]
    return Written(
        "said_before", key(one), rng.choice(_ABOUT).replace("{n}", other), "\n".join(told), "rewrite", (question.replace("{x}", other),)
    )
