"""Comparisons made of questions that people asked: of two things at once, what they asked of one."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from plugins.embedded.training.example import Part, assign_part, seeded_random
from plugins.embedded.training.source import load_data_folder
from plugins.embedded.training.writing.names import bare, kind_of
from plugins.embedded.training.writing.phrases import past
from plugins.embedded.training.writing.single import leans
from plugins.embedded.training.writing.written import Written, fold, two, typed

_FOLDERS: Final = ("boolq_train", "boolq_dev", "nq_oracle_dev", "qed_dev", "squad_dev", "squadshifts")
_POLAR = re.compile(r"(?P<be>is|are|was|were|does|do|did|can|has|have) (?P<rest>.+)", re.IGNORECASE)
_MANY: Final = {"is": "are", "was": "were", "does": "do", "has": "have"}
_NUMBER = re.compile(r"(?P<how>how many (?P<thing>[\w -]+?)) (?P<be>does|do|did) \{s\} (?P<verb>\w+)(?P<rest>.*)", re.IGNORECASE)
_VALUE = re.compile(r"what (?:is|was) (?P<value>the \w+(?: \w+)?) of \{s\}", re.IGNORECASE)
_WHEN = re.compile(r"when (?P<be>was|were|did) \{s\} (?P<rest>.+)", re.IGNORECASE)

_SHAPED = re.compile(r"(?:is|are|was|were|does|do|did|can|has|have|how many|what is the|what was the|when)\b", re.IGNORECASE)


def likened(data: Path, most: int) -> Iterator[Written]:
    """Ask of two things what was asked of one, where its name stands in the question."""
    for name in _FOLDERS:
        titles = _titles(data, name)
        folder = load_data_folder(data / name)
        count = 0
        for item in seeded_random("likened", name).sample(folder.questions, len(folder.questions)):
            rng = seeded_random("liken", item["id"])
            for written in _pair(data, name, item, titles, rng):
                yield typed(written, rng)
                count += 1
            if count >= most // len(_FOLDERS):
                break


def _titles(data: Path, name: str) -> dict[tuple[str, Part], list[str]]:
    titles: dict[tuple[str, Part], list[str]] = defaultdict(list)
    for document in dict.fromkeys(load_data_folder(data / name).documents.values()):
        title = bare(document.title or "")
        if (
            title
            and title not in titles[kind_of(document) or "", assign_part(fold(title))]
            and len(title.split()) <= 5
            and "list" not in title.casefold()
        ):
            titles[kind_of(document) or "", assign_part(fold(title))].append(title)
    return titles


def _pair(data: Path, name: str, item: dict[str, object], titles: dict[tuple[str, Part], list[str]], rng: Random) -> Iterator[Written]:
    if not _SHAPED.match(str(item["question"])):
        return
    supporting = item["supporting"]
    document = load_data_folder(data / name).documents.get(supporting[0]["doc_id"]) if isinstance(supporting, list) and supporting else None
    question = re.sub(r"\s+", " ", str(item["question"])).strip().rstrip("?")
    title = bare(document.title or "") if document else ""
    if (
        not document
        or title.casefold() not in question.casefold()
        or not title
        or leans(question)
        or len(question.split()) > 16
        or " or " in question
        or " and " in question
    ):
        return
    kind = kind_of(document)
    if (not kind and not _POLAR.match(question)) or re.match(r"amazon|reddit", title, re.IGNORECASE):
        return
    match = re.search(rf"(?<![\w'-])(?:the |an? )?{re.escape(title)}(?![\w'’-])(?! (?-i:[A-Z0-9]))", question, re.IGNORECASE)
    others = titles.get((kind or "", assign_part(fold(title))), [])
    other = rng.choice(others) if others else title
    if not match or fold(other) == fold(title):
        return
    other = other.casefold() if match[0].islower() else other
    frame = question[: match.start()] + "{s}" + question[match.end() :]
    made = _liked(frame, match[0], other, rng)
    if made:
        how, text, steps = made
        yield two(text, steps[0], steps[1], "likened", fold(title), how)


def _liked(frame: str, a: str, b: str, rng: Random) -> tuple[str, str, tuple[str, str]] | None:
    each = (frame.replace("{s}", a), frame.replace("{s}", b))
    if (match := _POLAR.fullmatch(frame)) and match["rest"].startswith("{s} "):
        be, rest = match["be"].casefold(), match["rest"][4:]
        many = _MANY.get(be, be)
        share = rng.random()
        if share < 0.4 and not re.match(r"(?:an?|the) ", rest):
            return "both", rng.choice((f"{many} both {a} and {b} {rest}", f"{many} {a} and {b} both {rest}")), each
        if share < 0.6:
            return "either", rng.choice((f"{be} either {a} or {b} {rest}", f"{be} one of {a} and {b} {rest}")), each
        if be in ("is", "was", "can", "has"):
            return (
                "which",
                rng.choice((f"which of {a} and {b} {be} {rest}", f"which {be} {rest}, {a} or {b}", f"{be} {a} or {b} {rest}")),
                each,
            )
        return "which", f"{be} {a} or {b} {rest}", each
    return _counted(frame, a, b, each, rng)


def _counted(frame: str, a: str, b: str, each: tuple[str, str], rng: Random) -> tuple[str, str, tuple[str, str]] | None:
    if match := _NUMBER.fullmatch(frame):
        if rng.random() < 0.5:
            return "exceeds", f"{match['be']} {a} {match['verb']} more {match['thing']}{match['rest']} than {b}", each
        return "more", f"which {match['be']} {match['verb']} more {match['thing']}{match['rest']}, {a} or {b}", each
    if match := _VALUE.fullmatch(frame):
        value = match["value"].removeprefix("the ")
        how, text = rng.choice(
            (
                ("same", f"do {a} and {b} have the same {value}"),
                ("differ", f"do {a} and {b} have a different {value}"),
                ("agree", f"what {value} do {a} and {b} share"),
                ("same", f"is the {value} of {a} the same as the {value} of {b}"),
                ("agree", f"what {value} do {a} and {b} have in common"),
            )
        )
        return how, text, each
    if (match := _WHEN.fullmatch(frame)) and (match["be"] == "did" or past(match["rest"].split()[0])):
        how = rng.choice(("before", "after", "earlier"))
        if how == "earlier":
            return (how, f"{match['be']} {a} or {b} {match['rest']} first", each) if "first" not in frame else None
        return how, f"{match['be']} {a} {match['rest']} {how} {b}", each
    return None
