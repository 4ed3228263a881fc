"""Words for relatives that take two steps, with what the steps ask for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from training.example import seeded
from training.writing.names import key
from training.writing.pools import drawn_part, pool
from training.writing.question_words import ask
from training.writing.style import two, typed
from training.writing.tails import TAILS
from training.writing.written import Written

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
        rng = seeded("kin", number)
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
