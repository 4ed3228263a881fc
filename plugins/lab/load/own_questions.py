"""Load questions about your own index from a file (jsonl, csv or xlsx), and find their gold passages in the index."""

import csv
import hashlib
import io
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ramify.formats.sheets.xlsx import read_first_sheet
from ramify.lab.dataset import Dataset, ReadQuestion, check_ids, inputs_digest, missing_gold_caveats, open_question_caveats
from ramify.lab.load import parse_question
from ramify.lab.load.records import Record, read_records, read_text_file
from ramify.lab.metrics import contained_facts
from ramify.tools.documents.files import UnreadableError, existing_path
from ramify.tools.errors import InputError
from ramify.tools.index import Index
from ramify.tools.index.index import iterate_passages
from ramify.tools.index.manifest import file_sha256
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.search.searcher import open_index, require_finished

NEEDS_ANSWER = "needs_answer"
"""The field that marks a question whose answer has to be written by a person."""
_CSV_SEPARATORS = ",;\t"
_PROGRESS_INTERVAL = 1000
"""Number of passages between two progress reports."""


def load_own_questions(index: str, file: Path, *, retrieval_only: bool = False, progress: Progress = ignore_progress) -> Dataset:
    """Return the questions of a file, with the documents of the index that their `source` and `quote` name. Blocking.

    UsageError or InputError, with the line, for a question without an answer, or a source or quote that is not in the index.
    """
    require_finished(index)
    path, opened_index = existing_path(file).resolve(), open_index(index)
    records = read_questions(path)
    quotes = frozenset(quote for record in records for quote in _field_values(record, "quote"))
    has_golds = any(record.value.get(name) for record in records for name in ("source", "quote"))
    lookup = SourceLookup.of(opened_index, quotes, progress) if has_golds else SourceLookup({}, {})
    read = [ReadQuestion(record.place, parse_question(_normalize_record(record, lookup), retrieval_only)) for record in records]
    check_ids(read)
    questions = tuple(question for _, question in read)
    origin = {
        "index": opened_index.where,
        "kind": opened_index.manifest.kind,
        "embedding": opened_index.manifest.embedding,
        "index_sha256": hashlib.sha256(opened_index.store.fingerprint()).hexdigest(),
        "questions_sha256": file_sha256(path),
    }
    return Dataset(
        name=path.name.partition(".")[0], questions=questions, documents=(), hits_by="source", origin=origin,
        caveats=(*missing_gold_caveats(questions), *open_question_caveats(questions)), sha256=inputs_digest(questions, ()),
    )  # fmt: skip


def read_questions(file: Path) -> list[Record]:
    """Return the records of a file of questions, each with an id (its own, or its line number). InputError if there are no questions."""
    if file.suffix == ".csv":
        records = list(_csv_records(file))
    elif file.suffix == ".xlsx":
        records = list(_sheet_records(file))
    else:
        records = read_records(file)
    if not records:
        raise InputError(f"{str(file)!r} holds no questions", "give a file with a header line and one line per question")
    if not any("question" in record.value for record in records):
        columns = ", ".join(map(str, records[0].value)) or "none"
        raise InputError(f"{str(file)!r} has no column 'question', but {columns}", "name the columns question, answer, source, quote …")
    numbered = []
    for record in records:
        values = {str(name): value for name, value in record.value.items() if value not in (None, "")}
        number = record.place.split()[1]  # a place begins "line 3 of …"
        numbered.append(record._replace(value={"id": number, **values}))
    return numbered


def _csv_records(file: Path) -> Iterator[Record]:
    text = read_text_file(file)
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(_CSV_SEPARATORS, key=first.count))
    begins, columns = 1, list[str]()
    try:
        for row in reader:
            if not columns:
                columns = [name.strip() for name in row]
            elif any(cell.strip() for cell in row):
                yield Record(f"line {begins} of {str(file)!r}", dict(zip(columns, map(str.strip, row), strict=False)))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"line {begins} of {str(file)!r} is not valid CSV ({error})", "correct the line, or remove it") from error


def _sheet_records(file: Path) -> Iterator[Record]:
    try:
        rows = read_first_sheet(file)
    except UnreadableError as error:
        raise InputError(f"{str(file)!r} cannot be read ({error})", "give a workbook whose first sheet has the questions") from error
    columns = {place: cell.strip() for place, cell in rows[0][1].items()} if rows else {}
    for number, row in rows[1:]:
        yield Record(f"line {number} of {str(file)!r}", {columns[place]: cell for place, cell in row.items() if place in columns})


def _field_values(record: Record, field: str, separator: str = "\n") -> list[str]:
    """Return the values of a field: a list, or a text split at a separator."""
    value = record.value.get(field) or []
    parts = value if isinstance(value, list) else str(value).split(separator)
    return [text for part in parts if (text := str(part).strip())]


class SourceLookup(NamedTuple):
    """Sources of an index by document name, and by the quotes that their passages contain."""

    by_name: dict[str, dict[str, None]]
    by_quote: dict[str, dict[str, None]]

    @classmethod
    def of(cls, index: Index, quotes: Collection[str], progress: Progress = ignore_progress) -> "SourceLookup":
        """Read all passages of an index. A document is identified by its source, title or file path. Blocking."""
        lookup, ids = cls({}, {}), index.ids()
        duplicates: dict[str, str] = {}
        for number, passage in enumerate(iterate_passages(index, ids), 1):
            metadata = passage.metadata
            source = passage.source
            for name in dict.fromkeys((source, str(metadata.get("title") or ""), str(metadata.get("path") or ""))):
                lookup.by_name.setdefault(name, {})[source] = None
            duplicates |= {
                str(duplicate[name]): source for duplicate in metadata.get("also", ()) for name in ("source", "path") if name in duplicate
            }
            for quote in contained_facts(passage.text, quotes):
                lookup.by_quote.setdefault(quote, {})[source] = None
            if number % _PROGRESS_INTERVAL == 0:
                progress(number, len(ids), "passages for questions")
        for name, source in duplicates.items():  # only one of several files with the same text is indexed
            lookup.by_name.setdefault(name, {source: None})
        return lookup

    def find_sources(self, place: str, name: str) -> dict[str, None]:
        """Return the sources of the documents with a name; InputError if there is none."""
        if not name or name not in self.by_name:
            what = f"{place} names the source {name!r}, which is not a document of the index"
            raise InputError(what, "give its path or title as `ramify search` shows it")
        return self.by_name[name]

    def find_support(self, place: str, name: str, quote: str) -> dict[str, Any]:
        """Return the gold document for a source and a quote, one of which may be empty; InputError if there is none."""
        sources = self.find_sources(place, name) if name else self.by_quote.get(quote, {})
        if quote and not (sources := {source: None for source in sources if source in self.by_quote.get(quote, {})}):
            what = f"{place} quotes {quote!r}, which is not in any passage of {repr(name) if name else 'the index'}"
            raise InputError(what, "copy a sentence from a passage as `ramify search` shows it")
        if len(sources) > 1 and not quote:
            what = f"{place} names the source {name!r}, which is the title of {len(sources):,} documents"
            raise InputError(what, f"give the path of one, such as {next(iter(sources))!r}")
        return {"doc_id": next(iter(sources)), "title": name, "facts": [quote] if quote else []}


def _normalize_record(record: Record, lookup: SourceLookup) -> Record:
    """Return a record in the format of a data set folder; InputError if it lacks an answer, or its gold is not in the index."""
    if record.value.get(NEEDS_ANSWER) and not record.value.get("answer"):
        raise InputError(f"{record.place} needs an answer", "write the right answer into the line, or remove the line")
    source_names, quotes = _field_values(record, "source"), _field_values(record, "quote")
    if len(source_names) == 1:
        source_names *= max(1, len(quotes))
    if source_names and quotes and len(source_names) != len(quotes):
        what = f"{record.place} has {len(source_names)} sources and {len(quotes)} quotes"
        raise InputError(what, "give a source for each quote, in the same order")
    pairs = zip(source_names or [""] * len(quotes), quotes or [""] * len(source_names), strict=True)
    return record._replace(
        value={
            **{name: record.value[name] for name in ("id", "question", "answer", "type") if name in record.value},
            "answer_aliases": _field_values(record, "aliases", ";"),
            "supporting": [lookup.find_support(record.place, name, quote) for name, quote in pairs],
        }
    )
