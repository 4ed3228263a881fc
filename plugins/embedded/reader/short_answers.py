"""Extract a short answer from passages with the embedded network: the likeliest span of all passages, or yes, or no.

In tables and forms, if a question names a row, the answer is the cell that it asks for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ramify.embedded.encoders.packaged import similarities
from ramify.embedded.reader import multilingual
from ramify.embedded.reader.calibration import MIN_GUESS_CONFIDENCE, NO_TEXT_CONFIDENCE, Evidence, confidence
from ramify.embedded.reader.listed_items import listed_answer
from ramify.embedded.reader.reading import MULTILINGUAL, PassageReading, PassageText, Reader, add_title, read_contexts, reader_for
from ramify.embedded.reader.selection import select_passages
from ramify.embedded.splitting import find_splits
from ramify.tools.english import content_stems, fold, sentences, spell_months

_NO_POSITION = -1
_MIN_YES_NO = 0.2
_MAX_QUESTION_CHARS = 400
"""Longer questions are truncated at the beginning, since the question itself comes last."""
_SEGMENT_END = re.compile(r"\s{1,40}\|(?=\s)|\t|(?<=\S) {3}|\n[ \t]*\n|\n(?=[ \t]*(?:[^\n:]{1,80}: |[-*•–·|#>] |\d{1,3}[.)] ))")
"""Between cells of a row, paragraphs, fields (`name: Ada Reed`, then `role: engineer`) and items of a list."""
_MIN_WRAPPED_CHARS = 50
"""Lines of at least this length were wrapped, and their sentence continues in the next line."""


@dataclass(frozen=True)
class ShortAnswer:
    """An answer, its calibrated confidence, and the number of its passage from 1, 0 for none."""

    answer: str
    confidence: float
    passage: int


@dataclass(frozen=True)
class AnswerCandidate:
    """A possible answer: its probability, the number of its passage from 1, and its character span; yes and no have none."""

    answer: str
    probability: float
    passage: int
    start: int = _NO_POSITION
    end: int = _NO_POSITION

    @property
    def is_yes_no(self) -> bool:
        """Return whether the answer is yes or no."""
        return self.start == _NO_POSITION


def read_answer(question: str, passages: Sequence[PassageText]) -> ShortAnswer:
    """Return the likeliest answer to a question, which may have a low confidence; empty if no passage seems to contain one."""
    asked_text = question if len(question) <= _MAX_QUESTION_CHARS else sentences(question)[-1][-_MAX_QUESTION_CHARS:]
    asked_text, selected = select_passages(asked_text, passages)
    contexts = tuple(add_title(item.passage["title"], item.passage["text"]) for item in selected)
    begins = [len(context) - len(item.passage["text"]) for context, item in zip(contexts, selected, strict=True)]
    reader = reader_for(asked_text, contexts)
    best, evidence = choose_answer(asked_text, contexts, reader, begins)
    if best is None:
        return ShortAnswer("", NO_TEXT_CONFIDENCE, 0)
    certainty = confidence(evidence, reader.yes_no_weights if best.is_yes_no else reader.span_weights)
    answer = multilingual.KOREAN_YES_NO[best.answer] if best.is_yes_no and multilingual.is_korean(asked_text) else best.answer
    read = selected[best.passage - 1]
    if not best.is_yes_no:
        begin = begins[best.passage - 1]
        span = (best.start - begin, best.end - begin)
        answer = listed_answer(asked_text, read.passage["text"], read.passage.get("heading", ""), *span) or answer
    return ShortAnswer(answer if certainty >= MIN_GUESS_CONFIDENCE else "", certainty, read.number)


def choose_answer(
    question: str, contexts: Sequence[str], reader: Reader, begins: Sequence[int] = ()
) -> tuple[AnswerCandidate | None, Evidence]:
    """Return the likeliest answer by a reader and its evidence; that of the multilingual reader consists of likelihoods only.

    begins: the offset of the text in each context, after its title.
    """
    readings = read_contexts(question, contexts, reader)
    candidates = [*find_spans(question, readings, contexts, begins or [0] * len(contexts)), *find_yes_no(readings)]
    if reader is MULTILINGUAL:
        candidates = [replace(candidate, answer=multilingual.strip_particle(candidate.answer)) for candidate in candidates]
    best, (place, rival) = choose_likeliest(candidates)
    if reader is MULTILINGUAL:
        return best, Evidence(place, rival)
    return best, Evidence(place, rival, len(question.split()), single_fact_probability(question))


def single_fact_probability(question: str) -> float:
    """Return the probability that a question asks for a single fact; 0 if all its likely forms are splits."""
    ways = find_splits(question)
    return next((way.probability for way in ways if way.how == "single"), 0.0 if ways else 1.0)


def find_spans(
    question: str, readings: Sequence[PassageReading], contexts: Sequence[str], begins: Sequence[int]
) -> Iterator[AnswerCandidate]:
    """Yield the spans of all passages with their joint probability; spans do not cross a title, bracket, line, cell or field.

    If a question names a row of a table or a record, the probabilities of all spans in the table are assigned to the cell asked for.
    """
    for number, (reading, context, begin) in enumerate(zip(readings, contexts, begins, strict=True), 1):
        there = find_cells(context, begin)
        cell = find_asked_cell(question, there) if there else None
        in_cells = 0.0
        for spot in reading.text_spans:
            if cell is not None and any(table_cell.start <= spot.start < table_cell.end for table_cell in there):
                in_cells += spot.probability
                continue
            end = segment_end(context, spot.start, spot.end)
            text = context[spot.start : end].strip(" ,;")
            if fold(text) and not spot.start < begin < end and text.count("(") == text.count(")"):
                yield AnswerCandidate(text, reading.span * spot.probability, number, spot.start, end)
        if cell is not None and in_cells and not is_empty_value(cell.text):
            yield AnswerCandidate(cell.text, reading.span * in_cells, number, cell.start, cell.end)


def segment_end(context: str, start: int, end: int) -> int:
    """Return the end of the line, cell or field in which a span starts, or of the span if that is earlier.

    A sentence that continues in the next line (after a full line, or in lower case) is one segment.
    """
    while start < end and context[start].isspace():
        start += 1
    if border := _SEGMENT_END.search(context, start, end):
        end = border.start()
    for line_break in re.finditer("\n", context[start:end]):
        at = start + line_break.start()
        line, after = context[context.rfind("\n", 0, at) + 1 : at], context[at + 1 :].lstrip()[:1]
        if len(line) < _MIN_WRAPPED_CHARS and not after.islower():
            return at
    return end


def find_yes_no(readings: Sequence[PassageReading]) -> list[AnswerCandidate]:
    """Return yes and no for each passage in which their joint probability reaches _MIN_YES_NO; lower values are not calibrated."""
    return [
        AnswerCandidate(answer, value, number)
        for number, reading in enumerate(readings, 1)
        for answer, value in (("Yes", reading.yes), ("No", reading.no))
        if reading.yes + reading.no >= _MIN_YES_NO
    ]


def choose_likeliest(candidates: Sequence[AnswerCandidate]) -> tuple[AnswerCandidate | None, tuple[float, float]]:
    """Return the likeliest answer, with its likelihood and that of the likeliest other answer.

    Overlapping spans count as the same answer, and their probabilities are added.
    """
    if not candidates:
        return None, (0.0, 0.0)
    best = max(candidates, key=lambda item: item.probability)
    overlapping = [
        candidate.passage == best.passage and candidate.start < best.end and best.start < candidate.end for candidate in candidates
    ]
    place = sum(candidate.probability for candidate, overlaps in zip(candidates, overlapping, strict=True) if overlaps or candidate is best)
    elsewhere = (candidate for candidate, overlaps in zip(candidates, overlapping, strict=True) if not overlaps)
    others = (candidate.probability for candidate in elsewhere if fold(candidate.answer) != fold(best.answer))
    return best, (min(1.0, place), max(others, default=0.0))


_LINE: Final = re.compile(r"[^\n]*(?:\n|$)")
_HEADER_RULE: Final = re.compile(":?-+:?")
"""The line below the header of a Markdown table, in each column."""
_CELL_SEPARATOR: Final = re.compile(r"(?:(?<![ \t])(?:[ \t]++(?=\|)| *+(?=\t)))?(?:\||\t)[ \t]*+")
_GAP: Final = re.compile(r"(?<=\S) {2,}+(?=\S)")
_MAX_GAP_CELL_CHARS: Final = 40
_FIELD: Final = re.compile(
    r"[ \t]*+(?P<field>[^\n:=| \t](?:[^\n:=|]{0,78}[^\n:=| \t])?)[ \t]*+[:=][ \t]++(?P<value>\S(?:[^\n]*[^\n \t])?)[ \t]*+"
)
_EMPTY_VALUES: Final = frozenset(("", "-", "–", "n/a", "none", "not known", "unknown", "tbd", "vacant"))
_MIN_NAMED_SHARE: Final = 0.5
"""Least share of a cell's words in a question that names its row."""
_MIN_FIELD_SIMILARITY: Final = 0.3
_MIN_FIELD_LEAD: Final = 0.05
"""Least similarity of a field's name to the question, and least lead over the next field."""


class RecordCell(NamedTuple):
    """A value in a table or record: the offset of its row, the field's name, the value, and its character span."""

    row: int
    field: str
    text: str
    start: int
    end: int


TableRow = list[tuple[str, int, int]]


def find_cells(text: str, begin: int = 0) -> list[RecordCell]:
    """Return the values of all tables with a header, and of all records with at least two fields, from `begin` on."""
    cells: list[RecordCell] = []
    table: list[TableRow] = []
    record: list[tuple[str, str, int, int]] = []
    for line in _LINE.finditer(text, begin):
        row = _split_row(line[0].rstrip("\n"), line.start())
        if len(row) > 1 and all(_HEADER_RULE.fullmatch(cell) for cell, _, _ in row if cell):
            continue
        field = None if len(row) > 1 else _FIELD.fullmatch(line[0].rstrip("\n"))
        if table and len(row) != len(table[0]):
            head, *rows = table
            for data_row in rows:
                cells += [
                    RecordCell(data_row[0][1], name, *cell) for (name, _, _), cell in zip(head, data_row, strict=True) if name or cell[0]
                ]
            table = []
        if len(row) > 1:
            table.append(row)
        if record and (field is None or field["field"] in {name for name, *_ in record}):
            cells += [RecordCell(record[0][2], *entry) for entry in record if len(record) > 1]
            record = []
        if field is not None:
            start, end = field.span("value")
            record.append((field["field"], field["value"], line.start() + start, line.start() + end))
    return cells


def find_asked_cell(question: str, some: Sequence[RecordCell]) -> RecordCell | None:
    """Return the cell in the row that a question names, in the field most similar to the question; None if it is ambiguous."""
    words = content_stems(question)
    naming: dict[int, tuple[float, int, RecordCell]] = {}
    for cell in some:
        if shared := content_stems(cell.text) & words:
            share = len(shared) / len(content_stems(cell.text))
            naming[cell.row] = max(naming.get(cell.row, (0.0, 0, cell)), (share, len(shared), cell), key=lambda candidate: candidate[:2])
    best = max((candidate[:2] for candidate in naming.values()), default=(0.0, 0))
    named = [row for row, candidate in naming.items() if candidate[:2] == best]
    if best[0] < _MIN_NAMED_SHARE or len(named) != 1:
        return None
    by = naming[named[0]][2]
    row = [cell for cell in some if cell.row == by.row and cell != by]
    asked = " ".join(word for word in re.findall(r"[^\s?.,]+", question) if not content_stems(word) & content_stems(by.text)) or question
    likely = similarities(spell_months(asked), [spell_months(cell.field) for cell in row])
    order = sorted(range(len(row)), key=lambda number: -likely[number])
    if not order or likely[order[0]] < _MIN_FIELD_SIMILARITY or (len(order) > 1 and likely[order[0]] - likely[order[1]] < _MIN_FIELD_LEAD):
        return None
    return row[order[0]]


def is_empty_value(value: str) -> bool:
    """Return whether a cell means that there is no value."""
    return value.strip().casefold() in _EMPTY_VALUES


def _split_row(line: str, begin: int) -> TableRow:
    """Return the cells of a line, separated by bars, tabs or gaps: the first and last are empty if the line has borders."""
    is_marked = "|" in line or "\t" in line
    separator = _CELL_SEPARATOR if is_marked or _FIELD.fullmatch(line) else _GAP
    borders = [0, *(place for gap in separator.finditer(line) for place in gap.span()), len(line)]
    spans = list(zip(borders[::2], borders[1::2], strict=True))
    row = [(line[start:end].strip(), begin + start, begin + end) for start, end in spans]
    return row if is_marked or max(len(cell) for cell, _, _ in row) <= _MAX_GAP_CELL_CHARS else row[:1]
