"""Tables of contents and back-of-book indexes, known by the page numbers their lines end with."""

import re
from itertools import pairwise

_LEADER = re.compile(r"^\s*(?P<term>\S.*?)\s*(?:\.[ \t]?){3,}[ \t]*(?P<page>\d{1,4}|[ivxlc]{1,6})(?:[,\s–-]+\d{1,4})*\s*$")
_DOTS = re.compile(r"\.[ \t]?\.[ \t]?\.")
_ENTRY_END = re.compile(r"(?<!\.)(?<!\.[ \t])(?:\.[ \t]?){3,}+[ \t]*+\d{1,4}(?:[ \t]?[,–-][ \t]?\d{1,4})*[ \t](?=\S)")
_PAGE_END = re.compile(r"(,\s\d{1,4}(?:[–-]\d{1,4})?)\s(?=[^\d\s])")
_COMMA = re.compile(r"^\s*(?P<term>[^\W\d_].{0,80}?),\s*(?P<page>\d{1,4})(?:[–-]\d+)?(?:,\s*\d{1,4}(?:[–-]\d+)?)*,?\s*$")
_NUMBERS = re.compile(r"^[\d\s,–-]+$")
_LINE = 300
"""Longer lines are no entries."""
_KEY = 6
_LEAST = 5
_LEAST_INDEX = 15
_HALF = 0.5
_RISING = 0.9
_SORTED = 0.75
_STRAY = 2
"""Lines between two entries that may belong to them: a long title goes on."""

Span = tuple[int, int, str]
"""Where a listing begins and ends, and its role."""


def page_listing(text: str) -> str | None:
    """Return the role of a page that is a list of page numbers: "contents" where they rise, "index" where the terms are sorted."""
    lines = [line.strip() for line in _entries_apart(text).splitlines() if line.strip()]
    led = [match for line in lines if (match := _led(line))]
    if len(led) >= _LEAST and len(led) >= _HALF * len(lines):
        return _kind(led)
    lines = [line.strip() for line in _PAGE_END.sub(r"\1\n", text).splitlines() if line.strip()]
    listed = [match for line in lines if len(line) <= _LINE and (match := _COMMA.match(line))]
    rest = sum(1 for line in lines if len(line) <= _LINE and _NUMBERS.match(line))
    if len(listed) >= _LEAST_INDEX and len(listed) + rest >= _HALF * len(lines) and _sorted(listed):
        return "index"
    return None


def contents_spans(text: str) -> list[Span]:
    """Find runs of lines with dotted leaders in a longer text."""
    spans: list[Span] = []
    run: list[tuple[int, int, re.Match[str]]] = []
    stray = start = 0
    for line in [*_entries_apart(text).splitlines(keepends=True), ""]:
        match = _led(line.strip())
        stray = 0 if match else stray + bool(line.strip())
        if run and (stray > _STRAY or not line):
            kind = _kind([entry for _, _, entry in run]) if len(run) >= _LEAST else None
            spans += [(run[0][0], run[-1][1], kind)] if kind else []
            run = []
        if match:
            run.append((start, start + len(line), match))
        start += len(line)
    return spans


def _entries_apart(text: str) -> str:
    """Put entries that were joined into a paragraph on lines of their own; every letter stays at its place."""
    return _ENTRY_END.sub(lambda match: match[0][:-1] + "\n", text)


def _led(line: str) -> re.Match[str] | None:
    """Match a line whose page number a row of dots leads to."""
    return _LEADER.match(line) if len(line) <= _LINE and _DOTS.search(line) and line[-1:].isalnum() else None


def _kind(entries: list[re.Match[str]]) -> str | None:
    pages = [int(entry["page"]) for entry in entries if entry["page"].isdigit()]
    rising = sum(one <= another for one, another in pairwise(pages))
    if rising >= _RISING * (len(pages) - 1) and len(pages) >= _HALF * len(entries):
        return "contents"
    return "index" if len(entries) >= _LEAST_INDEX and _sorted(entries) else None


def _sorted(entries: list[re.Match[str]]) -> bool:
    keys = [re.sub(r"[^\w\s]", "", entry["term"]).casefold()[:_KEY] for entry in entries]
    return sum(one <= another for one, another in pairwise(keys)) >= _SORTED * (len(keys) - 1)
