"""Questions of MuSiQue and FanOutQA with the steps that their makers gave."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from training.wordings import WORDINGS
from training.writing.aligned import heavy, place
from training.writing.data_folders import folder as load
from training.writing.decomposed import asks, first_of
from training.writing.phrases import asked
from training.writing.question_words import ask, fold, words
from training.writing.style import one, two
from training.writing.written import Written

_LONGEST: Final = 40


def linked(data: Path) -> Iterator[Written]:
    """Give the questions of MuSiQue: the last hop apart from what it rests on, and so on inwards."""
    for item in load(data / "musique_train").questions:
        hops = [natural(step["question"]) for step in item["decomposition"]["steps"]]
        yield from _peeled(item["question"], hops, "musique", fold(item["decomposition"]["steps"][0]["title"]))


def natural(hop: str) -> str:
    """Write a hop as a question."""
    subject, arrow, relation = hop.partition(" >> ")
    if not arrow:
        return ask(re.sub(r"(#\d) (?=['?])", r"\1", hop))
    wordings = [wording for wording in WORDINGS.get(relation.strip(), ()) if ">>" not in wording]
    return wordings[0].replace("{s}", subject.strip()) if wordings else ask(f"What is the {relation.strip()} of {subject.strip()}")


def _peeled(question: str, hops: list[str], source: str, group: str) -> Iterator[Written]:
    if len(hops) == 1:
        if "#" not in hops[0]:
            yield one(ask(question), source + "_hop", group)
        return
    if set(re.findall(r"#\d", hops[-1])) != {f"#{len(hops) - 1}"}:
        return
    found = _nested(question, hops[-1])
    if found and (doubled := re.search(r"\w+ed located$|born located$", question[found[0] : found[1]])):
        found = found[0], found[0] + doubled.end() - len(" located")
    phrase = found and question[found[0] : found[1]].strip(" ,")
    if not found or not phrase or len(heavy(phrase)) < 2 or not re.match(r"(?:the|an?|\w+'s) ", phrase):
        return
    first = asked(phrase)
    second = question[: found[0]] + "{1}" + question[found[1] :]
    yield two(question, first, second, source, group)
    yield from _peeled(first, hops[:-1], source + "_inner", group)


def _nested(question: str, hop: str) -> tuple[int, int] | None:
    """Find what stands in a question where the last hop has its reference: the words around it are the same."""
    before, after = (words(side) for side in re.split(r"#\d", hop, maxsplit=1))
    spots = [(match.start(), match.end(), match[0].casefold()) for match in re.finditer(r"\w+", question)]
    told = [word for _, _, word in spots]
    head = next((at for at in range(len(before), -1, -1) if told[:at] == before[:at]), 0)
    tail = next((at for at in range(len(after), -1, -1) if not at or told[-at:] == after[-at:]), 0)
    if len(before) - head > 0 or len(after) - tail > 0 or head + tail < 2 or len(told) - head - tail < 3:
        return None
    return spots[head][0], spots[len(spots) - tail - 1][1]


def fanned(data: Path) -> Iterator[Written]:
    """Give the questions of FanOutQA whose first step stands in them as a phrase."""
    for item in load(data / "fanoutqa_dev").questions:
        question, steps = item["question"], item["decomposition"]["steps"]
        found = place(steps[0]["question"], question)
        if not found or len(question.split()) > _LONGEST:
            continue
        first = first_of(question[found[0] : found[1]], steps[0]["question"])
        second = question[: found[0]] + "{1}" + question[found[1] :]
        if first and asks(second):
            yield two(question, first, second, "fanout", fold(question))
