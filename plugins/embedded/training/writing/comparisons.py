"""Questions that compare two things, with what each of the two is asked."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Final

from plugins.embedded.training.example import seeded_random
from plugins.embedded.training.writing.chains import linked
from plugins.embedded.training.writing.contrasts import Contrast, counted, dated, measured, noun, roles, valued
from plugins.embedded.training.writing.links import LINKS
from plugins.embedded.training.writing.names import Pool, drawn_part, key, pool
from plugins.embedded.training.writing.phrases import asked
from plugins.embedded.training.writing.sameness import affirmed, listed
from plugins.embedded.training.writing.written import Written, ask, one, two, typed

Maker = Callable[[], Iterator[Contrast]]
_MAKERS: Final[tuple[tuple[Maker, int], ...]] = (
    (dated, 14),
    (counted, 11),
    (measured, 9),
    (valued, 11),
    (listed, 28),
    (affirmed, 15),
    (roles, 12),
)
_ROLE = re.compile(r"the (?!nationality)[\w ]+ of \{s\}(?= (?:born|die|from)\b|\?$)")
_SHARE: Final = {
    "earlier": 5,
    "later": 4,
    "more": 4,
    "less": 3,
    "before": 3,
    "after": 3,
    "exceeds": 4,
    "same": 5,
    "differ": 4,
    "both": 4,
    "either": 4,
    "which": 4,
    "agree": 6,
}


def comparisons(data: Path, count: int) -> Iterator[Written]:
    """Make comparisons, and of what they ask of each thing the singles and the bridges."""
    names = pool(data)
    for number in range(count):
        rng = seeded_random("comparison", number)
        maker = rng.choices([maker for maker, _ in _MAKERS], [share for _, share in _MAKERS])[0]
        contrasts = _by_how(maker.__name__)
        how = rng.choices(list(contrasts), [_SHARE[how] for how in contrasts])[0]
        for written in _compared(rng.choice(contrasts[how]), maker, names, rng):
            yield typed(written, rng)


@lru_cache(maxsize=16)
def _by_how(name: str) -> dict[str, list[Contrast]]:
    made: dict[str, list[Contrast]] = defaultdict(list)
    for contrast in next(maker for maker, _ in _MAKERS if maker.__name__ == name)():
        made[contrast.how].append(contrast)
    return dict(made)


def _compared(contrast: Contrast, maker: Maker, names: Pool, rng: Random) -> Iterator[Written]:
    part = drawn_part(rng)
    nested = rng.random() < 0.16 and any(contrast.kind in ends for ends in LINKS.values()) and "{n}" not in contrast.question
    start, link = _leading(contrast.kind, rng) if nested else (contrast.kind, "{s}")
    first, second = names.two(start, part, rng)
    group = key(first)
    a, b = (link.replace("{s}", name) for name in (first, second))
    question = contrast.question.replace("{a}", a).replace("{b}", b).replace("{n}", noun(contrast.kind))
    steps = [contrast.each.replace("{s}", name) for name in ((b, a) if contrast.swapped else (a, b))]
    source = "compared_nested" if nested else "compared"
    yield two(question[0].upper() + question[1:], steps[0], steps[1], source, group, contrast.how)
    if nested:
        yield two(
            steps[0], asked(link).replace("{s}", second if contrast.swapped else first), contrast.each.replace("{s}", "{1}"), source, group
        )
    elif maker is roles and (role := _ROLE.search(contrast.each)):
        name = second if contrast.swapped else first
        person = role[0].replace("{s}", name)
        yield two(steps[0], f"Who is {person}", steps[0].replace(person, "{1}"), source + "_inner", group)
        yield one(ask(f"Who is {person}"), "compared_hop", group)
    elif rng.random() < 0.25:
        yield one(ask(steps[0]), "compared_hop", group)


def _leading(kind: str, rng: Random) -> tuple[str, str]:
    """Draw a phrase that leads to a kind, and the kind it starts from."""
    start = rng.choice([start for start, ends in LINKS.items() if kind in ends])
    while True:
        link, end = linked(start, "", rng)
        if end == kind:
            return start, link
