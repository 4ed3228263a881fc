"""Bridges composed of questions that people asked: what another question finds, or a phrase of the same kind, takes a name's place."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from plugins.embedded.training.example import Part, assign_part, seeded_random
from plugins.embedded.training.source import load_data_folder
from plugins.embedded.training.writing.links import LINKS
from plugins.embedded.training.writing.names import COUNTRIES, STATES, Pool, pool
from plugins.embedded.training.writing.phrases import asked as question_for
from plugins.embedded.training.writing.phrases import base, head, past, phrased
from plugins.embedded.training.writing.single import group_of, leans
from plugins.embedded.training.writing.written import Written, ask, fold, several, two, typed, words

_FOLDERS: Final = ("squad_dev", "squadshifts", "nq_oracle_dev", "qed_dev")
_PER_ANSWER: Final = 60
_PER_QUESTION: Final = 12
_BEFORE: Final = frozenset(
    several("did does do was is were are in on at of to from by for with and or as than between near the visit leave into about against")
)
_AFTER: Final = frozenset(
    several(
        "is was are were in on at of to from by for and or have has had do does did when after before during since with as "
        "that than become "
        "born die died located found have get use play win make take move live begin start end"
    )
)
_DULL: Final = frozenset(
    several("name names term word words title nickname plural form leaning weight nature setting reason goal longest kind type")
)
_LOOSE = re.compile(r"\b(?:or|paragraph|article|passage|statement|writer|poster|one|two|these)\b", re.IGNORECASE)
_NAME = re.compile(r"(?:the )?[A-Z0-9][\w'’.-]*(?: (?:of|the|and|de|von|van|[A-Z0-9][\w'’.-]*)){0,4}")


@dataclass(frozen=True)
class Asked:
    """A question that people asked, with its answer and what it is dealt by."""

    question: str
    answer: str
    group: str

    @property
    def part(self) -> Part:
        """Tell what it is for."""
        return assign_part(self.group)


def bridges(data: Path, most: int) -> Iterator[Written]:
    """Compose bridges of two hops, and of those some of three."""
    known = [asked for name in _FOLDERS for asked in questions(data, name)]
    named = _by_answer(known)
    used: Counter[str] = Counter()
    twice: list[tuple[Asked, str]] = []
    order = seeded_random("bridges").sample(known, len(known))
    for asked in order:
        rng = seeded_random("bridge", asked.question)
        for made, answer in _composed(asked, named, used, rng):
            yield typed(made, rng)
            twice.append((Asked(made.question, asked.answer, asked.group), answer))
            if len(twice) >= most:
                break
        if len(twice) >= most:
            break
    yield from _deeper([asked for asked, _ in twice], known, used, most // 5)


def questions(data: Path, name: str) -> Iterator[Asked]:
    """Give the questions of a folder that refer to nothing outside them."""
    folder = load_data_folder(data / name)
    for item in folder.questions:
        question = re.sub(r"\s+", " ", item["question"]).strip()
        if item.get("metadata", {}).get("domain", "new_wiki") != "new_wiki" or _LOOSE.search(question):
            continue
        if item["answer"] and not leans(question) and 4 <= len(question.split()) <= 22:
            yield Asked(question, item["answer"].strip().rstrip("."), group_of(folder, item))


def _by_answer(known: list[Asked]) -> dict[tuple[str, Part], list[Asked]]:
    grouped: dict[tuple[str, Part], list[Asked]] = defaultdict(list)
    for asked in known:
        answer = fold(re.sub(r"^the ", "", asked.answer, flags=re.IGNORECASE))
        if (
            _NAME.fullmatch(asked.answer)
            and len(answer) > 3
            and not answer.isdigit()
            and answer not in fold(asked.question)
            and _leads(asked.question)
        ):
            grouped[answer, asked.part].append(asked)
    return grouped


def _leads(question: str) -> bool:
    pair = phrased(question)
    return bool(pair and head(pair[0]) not in _DULL)


def _composed(asked: Asked, named: dict[tuple[str, Part], list[Asked]], used: Counter[str], rng: Random) -> Iterator[tuple[Written, str]]:
    parts = asked.question.rstrip("?").split(" ")
    for start, end in _spans(len(parts)):
        answer = fold(re.sub(r"'s$", "", " ".join(parts[start:end])))
        choices = [other for other in named.get((answer, asked.part), ()) if _fit(asked, other)]
        choices = [other for other in choices if used[other.question] < _PER_QUESTION]
        if not choices or used[answer] >= _PER_ANSWER or not stands(parts, start, end):
            continue
        for inner in rng.sample(choices, min(4, len(choices))):
            made = _put(parts, start, end, inner, asked.group)
            if made:
                used[answer] += 1
                used[inner.question] += 1
                yield made, inner.answer
        return


def _spans(count: int) -> Iterator[tuple[int, int]]:
    for length in range(min(5, count - 1), 0, -1):
        for start in range(1, count - length + 1):
            yield start, start + length


def _fit(outer: Asked, inner: Asked) -> bool:
    """Tell whether a question may stand in another: it is not the same thing asked twice."""
    shared = set(words(outer.question)) & set(words(inner.question))
    return (
        fold(outer.answer) not in fold(inner.question)
        and len([word for word in shared if len(word) > 3]) <= 3
        and len(inner.question) <= 100
    )


def stands(parts: list[str], start: int, end: int) -> bool:
    """Tell whether words stand as a whole noun phrase, by the words around them."""
    before = parts[start - 1]
    after = parts[end] if end < len(parts) else ""
    whole = parts[end - 1]
    if not (before.casefold() in _BEFORE or past(before)) or whole.endswith((",", ":", '"')) or parts[start].startswith('"'):
        return False
    if before == "the" and start >= 2 and parts[start - 2].casefold() not in _BEFORE:
        return False
    if before == "of" and start >= 3 and parts[start - 2][:1].isupper():
        return False
    bound = before.casefold() in ("did", "does", "do")
    return not after or whole.endswith("'s") or after in _AFTER or past(after) or (bound and base(after))


def _put(parts: list[str], start: int, end: int, inner: Asked, group: str) -> Written | None:
    pair = phrased(inner.question)
    if not pair:
        return None
    phrase, first = pair
    genitive = "'s" if parts[end - 1].endswith("'s") else ""
    if genitive and re.search(r"\b(?:who|that|which|where)\b", phrase):
        return None
    place = parts[start - 1].casefold() in ("in", "at", "from", "to", "near", "into")
    if phrase.startswith("the person who" if place else "the place where"):
        return None
    begin = start - 1 if parts[start - 1].casefold() == "the" else start
    before, after = " ".join(parts[:begin]), " ".join(parts[end:])
    return two(f"{before} {phrase}{genitive} {after}", first, f"{before} {{1}}{genitive} {after}", "composed", group)


def _deeper(composed: list[Asked], known: list[Asked], used: Counter[str], most: int) -> Iterator[Written]:
    """Put composed questions into others in turn."""
    named = _by_answer([asked for asked in composed if len(asked.question.split()) <= 16])
    count = 0
    for asked in known:
        rng = seeded_random("deeper", asked.question)
        for made, _ in _composed(asked, named, used, rng):
            if count < most and len(made.question.split()) <= 30:
                count += 1
                yield typed(Written("composed_deep", made.group, made.question, "", made.how, (ask(made.steps[0]), made.steps[1])), rng)


_KINDS: Final = ("person", "company", "city", "university", "team", "band", "book", "film", "river", "building")
_PER_NAME: Final = 40


def hybrids(data: Path, most: int) -> Iterator[Written]:
    """Put phrases that lead to a thing into questions that people asked of such a thing."""
    names = pool(data)
    known = _kinds(names)
    used: Counter[str] = Counter()
    asked = [question for name in _FOLDERS for question in questions(data, name)]
    made = 0
    for question in seeded_random("hybrids").sample(asked, len(asked)):
        rng = seeded_random("hybrid", question.question)
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
    links: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for start, ends in LINKS.items():
        for end, phrases in ends.items():
            links[end] += [(start, phrase) for phrase in phrases]
    return links


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
