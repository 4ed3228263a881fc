"""Bridges made of noun phrases, and of words for relatives, that lead from thing to thing, and a question about the last one."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from plugins.embedded.training.example import Part, seeded_random
from plugins.embedded.training.writing.links import LINKS, TAILS
from plugins.embedded.training.writing.names import Pool, drawn_part, key, pool
from plugins.embedded.training.writing.phrases import asked
from plugins.embedded.training.writing.written import Written, ask, indirect, one, two, typed

_MARKS = ("who ", "that ", "where ", "which ", " of ", " in ", " by ", " for ", " on ", " from ", "founded")


def chains(data: Path, count: int) -> Iterator[Written]:
    """Make bridges of two to four hops, each with the shorter ones inside it."""
    names = pool(data)
    for number in range(count):
        rng = seeded_random("chain", number)
        part = drawn_part(rng)
        for written in _chain(names, part, rng):
            if "located located" not in written.question:
                yield typed(written, rng)


def _chain(names: Pool, part: Part, rng: Random) -> Iterator[Written]:
    start = rng.choice([kind for kind in LINKS if kind != "rule" or rng.random() < 0.5])
    name = names.draw(start, part, rng)
    phrases = [name]
    questions: list[str] = []
    kinds = [start]
    for _ in range(rng.choices((1, 2, 3), (62, 32, 6))[0]):
        if kinds[-1] not in LINKS:
            break
        link, end = linked(kinds[-1], phrases[-1], rng)
        questions.append(asked(link))
        phrases.append(link.replace("{s}", phrases[-1]))
        kinds.append(end)
    yield from _told(phrases, questions, tail(kinds[-1], phrases[-1], rng), key(name), rng)
    if start in TAILS and rng.random() < 0.25:
        yield one(tail(start, name, rng).replace("{x}", name), "chain_hop", key(name))


def linked(kind: str, phrase: str, rng: Random) -> tuple[str, str]:
    """Draw a noun phrase that leads on from a kind; no bare genitive after a clause, which would be taken for another."""
    while True:
        end = rng.choice(list(LINKS[kind]))
        link = rng.choice(LINKS[kind][end])
        if not link.startswith("{s}'s") or not any(mark in phrase for mark in _MARKS):
            return link, end


def tail(kind: str, phrase: str, rng: Random) -> str:
    """Draw a question about a phrase of a kind."""
    while True:
        question = rng.choice(TAILS[kind])
        if "{x}'s" not in question or not any(mark in phrase for mark in _MARKS[:4]):
            return question


def _told(phrases: list[str], questions: list[str], last: str, group: str, rng: Random) -> Iterator[Written]:
    """Tell each hop as an example: the whole question, the question for the thing it is about, down to the single one."""
    source = "chain"
    whole = last.replace("{x}", phrases[-1])
    inner = [question.replace("{s}", phrase) for question, phrase in zip(questions, phrases, strict=False)]
    turned = indirect(whole, phrases[-1], rng) if rng.random() < 0.06 else None
    made = two(whole, inner[-1], last.replace("{x}", "{1}"), source, group)
    yield Written(source, group, turned, "", "bridge", made.steps) if turned else made
    for at in range(len(inner) - 1, 0, -1):
        yield two(inner[at], inner[at - 1], questions[at].replace("{s}", "{1}"), source + "_inner", group)
    if rng.random() < 0.3:
        yield one(ask(inner[0]), source + "_hop", group)


KIN: Final = {
    "paternal grandfather": ("father", "father"),
    "paternal grandmother": ("father", "mother"),
    "maternal grandfather": ("mother", "father"),
    "maternal grandmother": ("mother", "mother"),
    "father-in-law": ("spouse", "father"),
    "mother-in-law": ("spouse", "mother"),
    "uncle": ("father", "brother"),
    "aunt": ("mother", "sister"),
    "stepfather": ("mother", "husband"),
    "stepmother": ("father", "wife"),
    "sister-in-law": ("spouse", "sister"),
    "brother-in-law": ("spouse", "brother"),
    "son-in-law": ("daughter", "husband"),
    "daughter-in-law": ("son", "wife"),
    "niece": ("sibling", "daughter"),
    "nephew": ("sibling", "son"),
    "grandchild": ("child", "child"),
    "grandson": ("child", "son"),
    "granddaughter": ("child", "daughter"),
    "grandfather": ("father", "father"),
    "grandmother": ("mother", "mother"),
    "great-grandfather": ("grandfather", "father"),
}


def kin(data: Path, count: int) -> Iterator[Written]:
    """Ask for relatives two steps away, and for facts about them."""
    names = pool(data)
    for number in range(count):
        rng = seeded_random("kin", number)
        name = names.draw("person", drawn_part(rng), rng)
        word = rng.choice(list(KIN))
        first, second = KIN[word]
        phrase = rng.choice((f"the {word} of {name}", f"{name}'s {word}"))
        verb = rng.choice(("is", "was"))
        yield typed(two(f"Who {verb} {phrase}", f"Who is the {first} of {name}", f"Who is the {second} of {{1}}", "kin", key(name)), rng)
        if number % 3 == 0:
            tail = rng.choice([question for question in TAILS["person"] if "{x}'s" not in question])
            yield typed(
                two(tail.replace("{x}", phrase), ask(f"Who is the {word} of {name}"), tail.replace("{x}", "{1}"), "kin_tail", key(name)),
                rng,
            )
