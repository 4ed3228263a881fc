"""Questions that people asked of a named thing, asked of a thing that is found first: a phrase of the same kind takes the name's place."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from training.example import seeded
from training.writing.composed import questions, stands
from training.writing.links import LINKS
from training.writing.names import COUNTRIES, STATES
from training.writing.phrases import asked as question_for
from training.writing.pools import Pool, pool
from training.writing.question_words import fold
from training.writing.style import two, typed
from training.writing.written import Part, Written

_FOLDERS: Final = ("squad_dev", "squadshifts", "nq_oracle_dev", "qed_dev")
_KINDS: Final = ("person", "company", "city", "university", "team", "band", "book", "film", "river", "building")
_PER_NAME: Final = 40


def hybrids(data: Path, most: int) -> Iterator[Written]:
    """Put phrases that lead to a thing into questions that people asked of such a thing."""
    names = pool(data)
    known = _kinds(names)
    used: Counter[str] = Counter()
    asked = [question for name in _FOLDERS for question in questions(data, name)]
    made = 0
    for question in seeded("hybrids").sample(asked, len(asked)):
        rng = seeded("hybrid", question.question)
        spot = _spot(question.question, known, used)
        if not spot:
            continue
        for _ in range(2):
            yield typed(_filled(spot, names, question.part, question.group, rng), rng)
            made += 1
        if made >= most:
            return


def _kinds(names: Pool) -> dict[str, str]:
    known = {fold(name): kind for kind in _KINDS for name in names.all(kind) if len(name) > 3}
    known |= {name.casefold(): "country" for name in COUNTRIES} | {name.casefold(): "state" for name in STATES}
    return known


def _spot(question: str, known: dict[str, str], used: Counter[str]) -> tuple[str, str, str] | None:
    """Find a name of a known kind: what stands before it, its kind, and what stands after it."""
    parts = question.rstrip("?").split(" ")
    for length in (4, 3, 2, 1):
        for start in range(1, len(parts) - length + 1):
            end = start + length
            text = " ".join(parts[start:end])
            kind = known.get(fold(re.sub(r"['’]s$", "", text)))
            if not kind or not text[0].isupper() or not stands(parts, start, end) or used[fold(text)] >= _PER_NAME:
                continue
            used[fold(text)] += 1
            begin = start - 1 if parts[start - 1].casefold() == "the" else start
            own = text[-2:] if text.endswith(("'s", "’s")) else ""
            return " ".join(parts[:begin]), kind, f"{own} {' '.join(parts[end:])}"
    return None


def _leading() -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for start, ends in LINKS.items():
        for end, phrases in ends.items():
            found[end] += [(start, phrase) for phrase in phrases]
    return found


_LEADING: Final = _leading()


def _filled(spot: tuple[str, str, str], names: Pool, part: Part, group: str, rng: Random) -> Written:
    before, kind, after = spot
    choices = _LEADING[kind]
    if after.startswith(("'", "’")):
        choices = [
            (start, phrase) for start, phrase in choices if not re.search(r" (?:who|that|where|which|in which) |\} ", phrase)
        ] or choices
    start, phrase = rng.choice(choices)
    name = names.draw(start, part, rng)
    return two(
        f"{before} {phrase.replace('{s}', name)}{after}",
        question_for(phrase).replace("{s}", name),
        f"{before} {{1}}{after}",
        "hybrid",
        group,
    )
