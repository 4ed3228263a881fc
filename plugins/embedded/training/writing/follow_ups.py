"""Follow-ups as people rewrote them so that they stand alone, and made ones: a pronoun for what the turns before have named."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, Final

from plugins.embedded.training.example import Part, seeded_random
from plugins.embedded.training.source import load_data_folder
from plugins.embedded.training.writing.chains import linked
from plugins.embedded.training.writing.contrasts import noun
from plugins.embedded.training.writing.links import LINKS, TAILS
from plugins.embedded.training.writing.names import Pool, drawn_part, key, pool
from plugins.embedded.training.writing.phrases import asked
from plugins.embedded.training.writing.single import group_of, leans, plainly_single
from plugins.embedded.training.writing.written import Written, capital, fold, recased, words

_LINES: Final = 6
_BEFORE: Final = 3
_CHARACTERS: Final = 1200
_MOST: Final = {"gecor_camrest": 1000, "disflqa": 1500, "kvret_cqr": 700}
_FOLDERS: Final = ("canard_dev", "cast_ikat_rewrites", "mtrag_rewrites", "gecor_camrest", "kvret_cqr", "followup_nlidb", "disflqa")

_QUESTION = re.compile(r"(?:who|what|which|when|where|why|how|is|are|was|were|does|did|do)\b", re.IGNORECASE)
_OF_ARTICLE = re.compile(r"\b(?:article|interesting|anything else|something else)\b", re.IGNORECASE)


def rewrites(data: Path) -> Iterator[Written]:
    """Give the follow-ups of every folder that has some."""
    for name in _FOLDERS:
        items = [item for item in load_data_folder(data / name).questions if item["metadata"].get("year", 0) < 2023]
        items = seeded_random("rewrites", name).sample(items, min(len(items), _MOST.get(name, len(items))))
        for item in items:
            written = _rewrite(data, name, item)
            if written and _covered(written):
                yield written


def _rewrite(data: Path, name: str, item: dict[str, Any]) -> Written | None:
    turns = [re.sub(r"\s+", " ", turn).strip() for turn in item["metadata"]["history"]]
    question = re.sub(r"\s+", " ", item["question"]).strip()
    if not question or not item["answer"] or len(question) > 400 or (name == "canard_dev" and _OF_ARTICLE.search(question)):
        return None
    titles, turns = (turns[:2], turns[2:]) if name == "canard_dev" else ([], turns)
    rng = seeded_random("rewrite", item["id"])
    needed = set(words(item["answer"])) & set(words(" ".join(titles))) - set(words(" ".join([*turns[-_LINES:], question])))
    shown = [] if not needed and rng.random() < 0.7 else titles
    history = "\n".join([*shown, *shortened(turns, _LINES - len(shown))])
    answer = recased(_tidy(item["answer"]), [question, history])
    if not history and name != "disflqa" and fold(answer) != fold(question):
        return None
    return Written(name, _group(data, name, item), question, history, "rewrite", (answer,))


def shortened(turns: list[str], lines: int) -> list[str]:
    """Keep the last turns, and of long ones the beginning."""
    kept: list[str] = []
    left = _CHARACTERS
    for turn in reversed(turns[-lines:]):
        cut = turn if len(turn) <= 350 else turn[:350].rsplit(" ", 1)[0]
        if len(cut) > left:
            break
        left -= len(cut)
        kept.insert(0, cut)
    return kept


def _tidy(answer: str) -> str:
    text = re.sub(r"\s+([?.!,;:])", r"\1", re.sub(r"\s+", " ", answer)).strip()
    text = re.sub(r"[.,]\?$", "?", text[:1].upper() + text[1:])
    return text.rstrip(". ") + "?" if _QUESTION.match(text) and not text.endswith("?") else text


def _group(data: Path, name: str, item: dict[str, Any]) -> str:
    if name == "canard_dev":
        return fold(item["metadata"]["history"][0])
    if name == "disflqa":
        return _squad_titles(data).get(item["metadata"]["squad_id"]) or fold(item["answer"])
    if item["metadata"].get("topic"):
        return fold(str(item["metadata"]["topic"]))
    return fold((item["metadata"]["history"] or [item["question"]])[0])


@lru_cache(maxsize=1)
def _squad_titles(data: Path) -> dict[str, str]:
    folder = load_data_folder(data / "squad_dev")
    return {item["id"]: group_of(folder, item) for item in folder.questions}


def _covered(written: Written) -> bool:
    """Tell whether a rewrite is made of words that were said, but for a few."""
    said = set(words(written.question)) | set(words(written.history))
    tokens = words(written.steps[0])
    missing = [word for word in tokens if word not in said]
    return 3 <= len(tokens) <= 45 and len(missing) <= max(2, 0.25 * len(tokens))


def unchanged(data: Path, count: int) -> Iterator[Written]:
    """Put questions that stand alone after a history that they have nothing to do with: they stay as they are."""
    folders = [load_data_folder(data / name) for name in ("squad_dev", "squadshifts", "nq_oracle_dev", "tatqa_text")]
    pools = [[(folder, item) for item in folder.questions if item["answer"] and _alone(item["question"])] for folder in folders]
    technical = [
        (load_data_folder(data / "techdocs_faq"), item)
        for item in load_data_folder(data / "techdocs_faq").questions
        if _alone(item["question"])
    ]
    full = [some for some in pools if len(some) > _BEFORE]
    for number in range(count if full else 0):
        rng = seeded_random("unchanged", number)
        folder, item = rng.choice(rng.choice([*full, *([technical] if technical else [])]))
        group = group_of(folder, item)
        before = [other for _, other in rng.sample(rng.choice(full), rng.randint(1, _BEFORE))]
        turns = [line for other in before for line in (other["question"], str(other["answer"]))]
        question = re.sub(r"\s+", " ", item["question"]).strip()
        yield Written("unchanged", group, question, "\n".join(shortened(turns, _LINES)), "rewrite", (_asked(question),))


def _asked(question: str) -> str:
    return question[:1].upper() + question[1:].rstrip("?. ") + "?"


def _alone(question: str) -> bool:
    return plainly_single(question) and not leans(question) and len(question.split()) >= 5


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
        rng = seeded_random("said before", number)
        yield _swapped(names, rng) if number % 4 == 0 else _followed(names, rng)


def described(data: Path, count: int) -> Iterator[Written]:
    """Make follow-ups of what was only described: `he` is then the director of the film, `it` the film."""
    names = pool(data)
    pairs = [(start, kind) for start, ends in LINKS.items() for kind in ends if kind in TAILS]
    people = [pair for pair in pairs if pair[1] in _PEOPLE and pair[0] not in _PEOPLE]
    for number in range(count):
        rng = seeded_random("described", number)
        part = drawn_part(rng)
        link = rng.choice(people if number % 3 else pairs)
        yield _described(link, link[1] in _PEOPLE and number % 5 < 2, names, part, rng)


def _described(link: tuple[str, str], named: bool, names: Pool, part: Part, rng: Random) -> Written:
    """Ask of a thing described by another one, or of that other one; where it was named after all, its name is meant."""
    start, kind = link
    name = names.draw(start, part, rng)
    phrase = rng.choice(LINKS[start][kind]).replace("{s}", name)
    opening = rng.choice(_plain(kind)).replace("{x}", phrase)
    turns = [opening, _answer(opening, rng)] if rng.random() < 0.4 else [opening]  # what was not sure is not told
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
    if rng.random() < 0.08 and (owned := re.fullmatch(r"What is \{x\}'s ([\w -]+)\?", question)):
        return f"And {own} {owned[1]}?"
    text = re.sub(r"\{x\} (?=is |received|was )", f"{subject} ", question.replace("{x}'s", own))
    text = _SUBJECT.sub(lambda match: match[0].replace("{x}", subject), text)
    return capital(text.replace("{x}", subject if text.startswith("{x}") else thing))


def _turns(kind: str, name: str, names: Pool, rng: Random) -> list[str]:
    """Make turns after which a thing is what the talk is about: as an answer, or as what was asked about."""
    starts = [start for start, ends in LINKS.items() if kind in ends]
    turns: list[str] = []
    if rng.random() < 0.25:
        turns = [(turn := rng.choice(TAILS["company"]).replace("{x}", names.draw("company", "train", rng))), _answer(turn, rng)]
    if starts and rng.random() < 0.5:
        start = rng.choice(starts)
        link = rng.choice(LINKS[start][kind])
        turn = asked(link).replace("{s}", names.draw(start, "train", rng))
        return [*turns, turn, name if rng.random() < 0.7 else f"{capital(name)}."]
    turn = rng.choice(TAILS[kind]).replace("{x}", name)
    return [*turns, turn, _answer(turn, rng)]


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
    turns = [question.replace("{x}", one), _answer(question, rng)]
    return Written(
        "said_before", key(one), rng.choice(_ABOUT).replace("{n}", other), "\n".join(turns), "rewrite", (question.replace("{x}", other),)
    )
