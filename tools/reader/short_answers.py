"""Read a short answer out of passages with the embedded network: the likeliest span of all passages, or yes, or no.

In tables and forms, where a question names a row, the answer is the one cell that it asks for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ramify.tools.embeddings.named import similarities
from ramify.tools.english import content_stems, fold, sentences
from ramify.tools.reader import multilingual
from ramify.tools.reader.calibration import GUESS, NOTHING, Evidence, confidence
from ramify.tools.reader.reading import MULTILINGUAL, Quote, Reader, Reading, in_context, read_contexts, reader_for
from ramify.tools.splitting import splits

_NOWHERE = -1
_EITHER = 0.2
_LONGEST = 400
"""Characters of a question that are read: whatever is told before, what is asked comes last."""
_BORDER = re.compile(r"\s+\|(?=\s)|\t|\n[ \t]*\n|\n(?=[ \t]*(?:[^\n:]{1,60}: |[-*•–·|#>] |\d{1,3}[.)] ))")
"""Between cells of a row, paragraphs, fields (`name: Ada Reed`, then `role: engineer`) and items of a list."""
_WRAPPED = 50
"""A line of so many characters was broken because it was full, and a sentence goes on in the next one."""


@dataclass(frozen=True)
class Span:
    """An answer, how sure the reader is, and where it stands: the passage's number from 1, 0 for none."""

    answer: str
    confidence: float
    passage: int


@dataclass(frozen=True)
class ReadAnswer:
    """An answer that a passage gives, by its number from 1, how likely it is, and where it was read; a yes or no stands nowhere."""

    answer: str
    value: float
    passage: int
    start: int = _NOWHERE
    end: int = _NOWHERE

    @property
    def verdict(self) -> bool:
        """Return whether it is a yes or no."""
        return self.start == _NOWHERE


def read(question: str, passages: Sequence[Quote]) -> Span:
    """Answer a question, be it with a guess of low confidence; an empty answer where no passage seems to hold one."""
    asked = question if len(question) <= _LONGEST else sentences(question)[-1][-_LONGEST:]
    contexts = tuple(in_context(passage["title"], passage["text"]) for passage in passages)
    begins = [len(context) - len(passage["text"]) for context, passage in zip(contexts, passages, strict=True)]
    reader = reader_for(asked, contexts)
    best, evidence = weigh(asked, contexts, reader, begins)
    if best is None:
        return Span("", NOTHING, 0)
    sure = confidence(evidence, reader.verdicts if best.verdict else reader.spans)
    answer = multilingual.IN_KOREAN[best.answer] if best.verdict and multilingual.is_korean(asked) else best.answer
    return Span(answer if sure >= GUESS else "", sure, best.passage)


def weigh(question: str, contexts: Sequence[str], reader: Reader, begins: Sequence[int] = ()) -> tuple[ReadAnswer | None, Evidence]:
    """Choose an answer among what a reader reads; the evidence of the multilingual one is the answer's likelihood alone.

    begins: where the text starts in each context, after its title.
    """
    readings = read_contexts(question, contexts, reader)
    found = [*answers(question, readings, contexts, begins or [0] * len(contexts)), *verdicts(readings)]
    if reader is MULTILINGUAL:
        found = [replace(one, answer=multilingual.without_particle(one.answer)) for one in found]
    best, (place, rival) = ranked(found)
    if reader is MULTILINGUAL:
        return best, Evidence(place, rival)
    return best, Evidence(place, rival, len(question.split()), single(question))


def single(question: str) -> float:
    """Return the probability that a question asks for one fact; 0 if only ways to split it are likely."""
    ways = splits(question)
    return next((way.sure for way in ways if way.how == "single"), 0.0 if ways else 1.0)


def answers(question: str, readings: Sequence[Reading], contexts: Sequence[str], begins: Sequence[int]) -> Iterator[ReadAnswer]:
    """Yield the spans of all passages with the probability of span and passage; none crosses a title, bracket, line, cell or field.

    Where a question names a row of a table or a record, what is read anywhere in them is taken for the cell that it asks for.
    """
    for number, (reading, context, begin) in enumerate(zip(readings, contexts, begins, strict=True), 1):
        there = cells(context, begin)
        cell = asked_cell(question, there) if there else None
        in_cells = 0.0
        for spot in reading.spots:
            if cell is not None and any(one.start <= spot.start < one.end for one in there):
                in_cells += spot.probability
                continue
            end = piece_end(context, spot.start, spot.end)
            text = context[spot.start : end].strip(" ,;")
            if fold(text) and not spot.start < begin < end and text.count("(") == text.count(")"):
                yield ReadAnswer(text, reading.span * spot.probability, number, spot.start, end)
        if cell is not None and in_cells and not is_empty(cell.text):
            yield ReadAnswer(cell.text, reading.span * in_cells, number, cell.start, cell.end)


def piece_end(context: str, start: int, end: int) -> int:
    """Return where the line, cell or field ends in which a span starts, or the span's own end if that comes first.

    A sentence that goes on in the next line, because its line was full or in lower case, is one piece.
    """
    while start < end and context[start].isspace():
        start += 1
    if border := _BORDER.search(context, start, end):
        end = border.start()
    for found in re.finditer("\n", context[start:end]):
        at = start + found.start()
        line, after = context[context.rfind("\n", 0, at) + 1 : at], context[at + 1 :].lstrip()[:1]
        if len(line) < _WRAPPED and not after.islower():
            return at
    return end


def verdicts(readings: Sequence[Reading]) -> list[ReadAnswer]:
    """Return yes and no of each passage that is likely enough to say either; below that nothing was measured."""
    return [
        ReadAnswer(answer, value, number)
        for number, reading in enumerate(readings, 1)
        for answer, value in (("Yes", reading.yes), ("No", reading.no))
        if reading.yes + reading.no >= _EITHER
    ]


def ranked(found: Sequence[ReadAnswer]) -> tuple[ReadAnswer | None, tuple[float, float]]:
    """Choose the likeliest answer; give it with the likelihood of its place and that of the likeliest answer elsewhere.

    Spans that overlap are one place, cut differently: they do not speak against each other.
    """
    if not found:
        return None, (0.0, 0.0)
    best = max(found, key=lambda item: item.value)
    place = sum(item.value for item in found if item is best or _overlapping(best, item))
    others = (item.value for item in found if not _overlapping(best, item) and fold(item.answer) != fold(best.answer))
    return best, (min(1.0, place), max(others, default=0.0))


def _overlapping(one: ReadAnswer, other: ReadAnswer) -> bool:
    """Return whether two answers overlap."""
    together = one.start < other.end and other.start < one.end
    return one.passage == other.passage and together


_LINE: Final = re.compile(r"[^\n]*(?:\n|$)")
_RULE: Final = re.compile(":?-+:?")
"""Stands below the head of a table in Markdown, in each column."""
_BETWEEN: Final = re.compile(r"[ \t]*(?:\||\t)[ \t]*")
_FIELD: Final = re.compile(r"[ \t]*(?P<field>[^\n:=|]{1,40}?)[ \t]*[:=][ \t]+(?P<value>\S[^\n]*?)[ \t]*")
_EMPTY: Final = frozenset(("", "-", "–", "n/a", "none", "not known", "unknown", "tbd", "vacant"))
_NAMED: Final = 0.5
"""Share of the words of a cell that a question has to hold for it to name that row."""
_LIKE: Final = 0.3
_LEAD: Final = 0.05
"""How similar the field's name has to be to what is asked, and by how much more than the next one's."""


class Cell(NamedTuple):
    """A value of a record: where its row begins, the field's name, the value, and where it stands in the passage."""

    row: int
    field: str
    text: str
    start: int
    end: int


Line = list[tuple[str, int, int]]


def cells(text: str, begin: int = 0) -> list[Cell]:
    """Return the values of all tables with a head, and of all records of two fields and more, from `begin` on."""
    found: list[Cell] = []
    table: list[Line] = []
    record: list[tuple[str, str, int, int]] = []
    for line in _LINE.finditer(text, begin):
        row = _cells_of(line[0].rstrip("\n"), line.start())
        if len(row) > 1 and all(_RULE.fullmatch(cell) for cell, _, _ in row):
            continue
        field = None if len(row) > 1 else _FIELD.fullmatch(line[0].rstrip("\n"))
        if table and len(row) != len(table[0]):
            head, *rows = table
            for one in rows:
                found += [Cell(one[0][1], name, *cell) for (name, _, _), cell in zip(head, one, strict=True)]
            table = []
        if len(row) > 1:
            table.append(row)
        if record and (field is None or field["field"] in {name for name, *_ in record}):
            found += [Cell(record[0][2], *one) for one in record if len(record) > 1]
            record = []
        if field is not None:
            start, end = field.span("value")
            record.append((field["field"], field["value"], line.start() + start, line.start() + end))
    return found


def asked_cell(question: str, some: Sequence[Cell]) -> Cell | None:
    """Return the cell in the row that a question names, under the field nearest to what it asks for; None where that is not plain."""
    words = content_stems(question)
    naming: dict[int, tuple[float, int, Cell]] = {}
    for cell in some:
        if held := content_stems(cell.text) & words:
            share = len(held) / len(content_stems(cell.text))
            naming[cell.row] = max(naming.get(cell.row, (0.0, 0, cell)), (share, len(held), cell), key=lambda one: one[:2])
    best = max((one[:2] for one in naming.values()), default=(0.0, 0))
    named = [row for row, one in naming.items() if one[:2] == best]
    if best[0] < _NAMED or len(named) != 1:
        return None
    by = naming[named[0]][2]
    row = [cell for cell in some if cell.row == by.row and cell != by]
    asked = " ".join(word for word in re.findall(r"[^\s?.,]+", question) if not content_stems(word) & content_stems(by.text)) or question
    likely = similarities(asked, [cell.field for cell in row])
    order = sorted(range(len(row)), key=lambda number: -likely[number])
    if not order or likely[order[0]] < _LIKE or (len(order) > 1 and likely[order[0]] - likely[order[1]] < _LEAD):
        return None
    return row[order[0]]


def is_empty(value: str) -> bool:
    """Return whether a cell says that there is nothing."""
    return value.strip().casefold() in _EMPTY


def _cells_of(line: str, begin: int) -> Line:
    borders = [0, *(place for found in _BETWEEN.finditer(line) for place in found.span()), len(line)]
    spans = list(zip(borders[::2], borders[1::2], strict=True))
    made = [(line[start:end].strip(), begin + start, begin + end) for start, end in spans]
    if len(made) > 1 and not made[0][0]:  # a border at the line's left edge, and often one at the right
        return made[1 : -1 if line.rstrip().endswith("|") else None]
    return made
