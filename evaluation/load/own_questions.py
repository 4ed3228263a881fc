"""Load questions about an index of your own: a file of them (jsonl, csv or xlsx), and the gold passages that the index has."""

import csv
import hashlib
import io
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ramify.evaluation.dataset import Dataset, ReadQuestion, about_golds, about_open, check_ids, digest
from ramify.evaluation.load import question_of
from ramify.evaluation.load.records import Record, read_records, read_text
from ramify.evaluation.metrics import held_facts
from ramify.tools.documents.files import UnreadableError, existing_path
from ramify.tools.documents.office import read_first_sheet
from ramify.tools.errors import InputError
from ramify.tools.index import Index
from ramify.tools.index.index import documents
from ramify.tools.index.manifest import file_sha256
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.searcher import opened

NEEDS_ANSWER = "needs_answer"
"""The field that marks a question whose answer a person has to write."""
_SEPARATORS = ",;\t"
_READ = 1000
"""Passages between two reports of progress."""


def load_own(index: str, file: Path, *, retrieval_only: bool = False, progress: Progress = silent) -> Dataset:
    """Return the questions of a file, with the documents of the index that their `source` and `quote` name. Blocking.

    UsageError or InputError, with the line, for a question without an answer, or a source or quote that the index does not have.
    """
    path, held = existing_path(file).resolve(), opened(index)
    records = read_questions(path)
    quotes = frozenset(quote for record in records for quote in _listed(record, "quote"))
    named = any(record.value.get(name) for record in records for name in ("source", "quote"))
    places = Places.of(held, quotes, progress) if named else Places({}, {})
    read = [ReadQuestion(record.place, question_of(_normalized(record, places), retrieval_only)) for record in records]
    check_ids(read)
    questions = tuple(question for _, question in read)
    origin = {
        "index": held.where,
        "kind": held.manifest.kind,
        "embedding": held.manifest.embedding,
        "index_sha256": hashlib.sha256(held.store.fingerprint()).hexdigest(),
        "questions_sha256": file_sha256(path),
    }
    return Dataset(
        name=path.name.partition(".")[0], questions=questions, documents=(), hits_by="source", origin=origin,
        caveats=(*about_golds(questions), *about_open(questions)), sha256=digest(questions, ()),
    )  # fmt: skip


def read_questions(file: Path) -> list[Record]:
    """Return the records of a file of questions, each with an id: its own, or the number of its line. InputError if it has none."""
    if file.suffix == ".csv":
        records = list(_csv_records(file))
    elif file.suffix == ".xlsx":
        records = list(_sheet_records(file))
    else:
        records = read_records(file)
    if not records:
        raise InputError(f"{str(file)!r} holds no questions", "give a file with a line for each, below the names of the columns")
    if not any("question" in record.value for record in records):
        there = ", ".join(map(str, records[0].value)) or "none"
        raise InputError(f"{str(file)!r} has no column 'question', but {there}", "name the columns question, answer, source, quote …")
    found = []
    for record in records:
        given = {str(name): value for name, value in record.value.items() if value not in (None, "")}
        number = record.place.split()[1]  # a place begins "line 3 of …"
        found.append(record._replace(value={"id": number, **given}))
    return found


def _csv_records(file: Path) -> Iterator[Record]:
    text = read_text(file)
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(_SEPARATORS, key=first.count))
    begins, columns = 1, list[str]()
    try:
        for row in reader:
            if not columns:
                columns = [name.strip() for name in row]
            elif any(cell.strip() for cell in row):
                yield Record(f"line {begins} of {str(file)!r}", dict(zip(columns, map(str.strip, row), strict=False)))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"line {begins} of {str(file)!r} is not CSV ({error})", "correct it, or take it out") from error


def _sheet_records(file: Path) -> Iterator[Record]:
    try:
        rows = read_first_sheet(file)
    except UnreadableError as error:
        raise InputError(f"{str(file)!r} cannot be read ({error})", "give a workbook whose first sheet has the questions") from error
    columns = {place: cell.strip() for place, cell in rows[0][1].items()} if rows else {}
    for number, row in rows[1:]:
        yield Record(f"line {number} of {str(file)!r}", {columns[place]: cell for place, cell in row.items() if place in columns})


def _listed(record: Record, field: str, separator: str = "\n") -> list[str]:
    """Return the values of a field: a list, or a text that has them parted by a separator."""
    value = record.value.get(field) or []
    parts = value if isinstance(value, list) else str(value).split(separator)
    return [text for part in parts if (text := str(part).strip())]


class Places(NamedTuple):
    """Where the documents of an index are: the sources that each name stands for, and those whose passages have each quote."""

    named: dict[str, dict[str, None]]
    quoted: dict[str, dict[str, None]]

    @classmethod
    def of(cls, index: Index, quotes: Collection[str], progress: Progress = silent) -> "Places":
        """Read all passages of an index. A document is named by its source, its title or the path of its file. Blocking."""
        found, ids = cls({}, {}), index.ids()
        also: dict[str, str] = {}
        for number, passage in enumerate(documents(index, ids), 1):
            metadata = passage.metadata
            source = str(metadata.get("source", passage.id))
            for name in dict.fromkeys((source, str(metadata.get("title") or ""), str(metadata.get("path") or ""))):
                found.named.setdefault(name, {})[source] = None
            also |= {str(twin[name]): source for twin in metadata.get("also", ()) for name in ("source", "path") if name in twin}
            for quote in held_facts(passage.page_content, quotes):
                found.quoted.setdefault(quote, {})[source] = None
            if number % _READ == 0:
                progress(number, len(ids), "passages for questions")
        for name, source in also.items():  # of texts that stand in several files, one is searched
            found.named.setdefault(name, {source: None})
        return found

    def sources(self, place: str, name: str) -> dict[str, None]:
        """Return the sources of the documents of a name; InputError if there is none."""
        if not name or name not in self.named:
            what = f"{place} names the source {name!r}, which is no document of the index"
            raise InputError(what, "give its path or title as `ramify search` shows it")
        return self.named[name]

    def support(self, place: str, name: str, quote: str) -> dict[str, Any]:
        """Return the gold document of a source (any, if empty) and a quote (none, if empty); InputError if there is none."""
        sources = self.sources(place, name) if name else self.quoted.get(quote, {})
        if quote and not (sources := {source: None for source in sources if source in self.quoted.get(quote, {})}):
            what = f"{place} quotes {quote!r}, which is in no passage of {repr(name) if name else 'the index'}"
            raise InputError(what, "copy a sentence from a passage as `ramify search` shows it")
        if len(sources) > 1 and not quote:
            what = f"{place} names the source {name!r}, which is the title of {len(sources):,} documents"
            raise InputError(what, f"give the path of one, such as {next(iter(sources))!r}")
        return {"doc_id": next(iter(sources)), "title": name, "facts": [quote] if quote else []}


def _normalized(record: Record, places: Places) -> Record:
    """Return a record in the form of a data set's folder; InputError if it needs an answer, or its gold is not in the index."""
    if record.value.get(NEEDS_ANSWER) and not record.value.get("answer"):
        raise InputError(f"{record.place} needs an answer", "write the right one into it, or take the line out")
    sources, quotes = _listed(record, "source"), _listed(record, "quote")
    if len(sources) == 1:
        sources *= max(1, len(quotes))
    if sources and quotes and len(sources) != len(quotes):
        what = f"{record.place} has {len(sources)} sources and {len(quotes)} quotes"
        raise InputError(what, "give a source for each quote, in the same order")
    pairs = zip(sources or [""] * len(quotes), quotes or [""] * len(sources), strict=True)
    return record._replace(
        value={
            **{name: record.value[name] for name in ("id", "question", "answer", "type") if name in record.value},
            "answer_aliases": _listed(record, "aliases", ";"),
            "supporting": [places.support(record.place, name, quote) for name, quote in pairs],
        }
    )
