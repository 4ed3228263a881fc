"""Yes/no questions about relations: of one paragraph, and whether two paragraphs agree."""

from collections.abc import Iterator

from ramify.tools.english import bare_title, fold
from ramify.tools.reader.reading import in_context
from training.countries import country_of
from training.example import Example, seeded
from training.relations import stated
from training.source import Document

_CLAIMS = {
    "director": ("Was {s} directed by {o}?", "Is {o} the director of {s}?", "Did {o} direct {s}?"),
    "country of citizenship": ("Is {s} {o}?", "Is the nationality of {s} {o}?"),
    "occupation": ("Is {s} a {o}?", "Was {s} a {o}?"),
    "date of birth": ("Was {s} born on {o}?", "Was {s} born in {o}?"),
    "place of birth": ("Was {s} born in {o}?",),
    "author": ("Was {s} written by {o}?", "Did {o} write {s}?"),
    "cast member": ("Does {o} star in {s}?", "Is {o} in the cast of {s}?"),
    "founded by": ("Did {o} found {s}?", "Was {s} founded by {o}?"),
    "location": ("Is {s} in {o}?", "Is {s} located in {o}?"),
    "performer": ("Was {s} performed by {o}?",),
    "spouse": ("Was {s} married to {o}?",),
}
_SAME = {
    "country of citizenship": ("Do {a} and {b} have the same nationality?", "Are {a} and {b} of the same nationality?",
                               "Are {a} and {b} from the same country?"),
    "country": ("Are {a} and {b} located in the same country?", "Are {a} and {b} both located in the same country?"),
    "country of origin": ("Are {a} and {b} from the same country?", "Do both {a} and {b} originate from the same country?"),
    "occupation": ("Do {a} and {b} have the same occupation?", "Are {a} and {b} both known as a {o}?", "Are {a} and {b} both {o}s?"),
    "director": ("Were {a} and {b} directed by the same person?",),
}  # fmt: skip


def claims(documents: list[Document], source: str) -> Iterator[Example]:
    """Claim what a paragraph states, and what another states in its place."""
    known = [(document, stated(document)) for document in documents if document.title]
    for name in _CLAIMS:
        holders = [(document, document.text[slice(*found[name])]) for document, found in known if name in found]
        for number, (document, answer) in enumerate(holders):
            choose = seeded(document.id, name, "claim")
            true = choose.random() < 0.5
            other = holders[(number + choose.randrange(1, 50)) % len(holders)][1]
            if not true and (fold(other) in fold(document.text) or (country_of(other) or other) == (country_of(answer) or answer)):
                continue
            question = choose.choice(_CLAIMS[name]).format(s=bare_title(document.title or ""), o=answer if true else other)
            yield Example(source, document.id, question, in_context(document.title, document.text), "yes" if true else "no")


def agreements(documents: list[Document], source: str) -> Iterator[Example]:
    """Ask whether two paragraphs state the same of a relation."""
    known = [(document, stated(document)) for document in documents if document.title]
    for name in _SAME:
        holders = [(document, document.text[slice(*found[name])]) for document, found in known if name in found]
        holders.sort(key=lambda item: (fold(country_of(item[1]) or item[1]), item[0].id))
        for number, (document, answer) in enumerate(holders[:-1]):
            choose = seeded(document.id, name, "same")
            step = 1 if choose.random() < 0.6 else choose.randrange(1, len(holders))
            other, its = holders[(number + step) % len(holders)]
            question = choose.choice(_SAME[name]).format(a=bare_title(document.title or ""), b=bare_title(other.title or ""), o=answer)
            same = fold(country_of(answer) or answer) == fold(country_of(its) or its)
            context = " ".join(in_context(item.title, item.text) for item in (document, other))
            yield Example(source, document.id, question, context, "yes" if same else "no")
