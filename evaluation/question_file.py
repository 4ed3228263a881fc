"""A file of questions that a person edits (jsonl or csv): what is there stays, further questions are added one by one."""

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

from ramify.evaluation.load.own_questions import NEEDS_ANSWER, read_questions
from ramify.tools.errors import InputError, UsageError
from ramify.tools.new_files import check_place, make_file, remedy_for, write_whole
from ramify.tools.typed import usable

FIELDS = ("id", "question", "answer", "type", "source", "quote", NEEDS_ANSWER, "made_by")
SUFFIXES = (".jsonl", ".csv")
Proposed = dict[str, Any]
"""A question as a line of the file has it."""


class QuestionFile:
    """The questions of a file; beside it lies what was tried, so that nothing is tried twice. One writer at a time."""

    def __init__(self, file: Path) -> None:
        """Read what is there; UsageError for another kind of file, InputError for one that cannot be read."""
        self.file = usable(file)
        if self.file.suffix not in SUFFIXES:
            raise UsageError(f"questions cannot be written to {str(file)!r}", f"name a file that ends in {' or '.join(SUFFIXES)}")
        check_place(self.file)
        self.rows: list[Proposed] = [record.value for record in read_questions(self.file)] if _has_content(self.file) else []
        self._tried_file = self.file.with_name(f"{self.file.name}.tried")
        lines = self._tried_file.read_text(encoding="utf-8", errors="replace").splitlines() if self._tried_file.exists() else []
        self._tried = dict(line.split("\t", 1) for line in lines if "\t" in line)

    @property
    def counts(self) -> Counter[str]:
        """Return the number of questions of each type."""
        return Counter(str(row.get("type") or "") for row in self.rows)

    @property
    def ids(self) -> set[str]:
        """Return the ids of its questions."""
        return {str(row["id"]) for row in self.rows}

    def tried(self, key: str) -> bool:
        """Return whether something was tried, with whatever outcome."""
        return key in self._tried

    def note(self, key: str, outcome: str) -> None:
        """Remember an outcome, on a further line: one that a killed run left half is ended by it, and is none."""
        self._tried[key] = outcome
        try:
            with make_file(self._tried_file).open("a", encoding="utf-8", errors="replace") as lines:
                lines.write(f"\n{key}\t{outcome}")
        except OSError as error:
            what = f"cannot write to {str(self._tried_file)!r} ({error.strerror or error})"
            raise InputError(what, remedy_for(error, "see that it can be written", kept=True)) from error

    def add(self, question: Proposed) -> None:
        """Add a question, and write the file anew, since a person may have edited its end: it is there whole or as it was."""
        self.rows.append({name: question[name] for name in FIELDS if question.get(name) not in (None, "", [], ())})
        write = _csv if self.file.suffix == ".csv" else _jsonl
        write_whole(write(self.rows), self.file)


def _has_content(file: Path) -> bool:
    return file.exists() and file.stat().st_size > 0


def _jsonl(rows: list[Proposed]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _csv(rows: list[Proposed]) -> str:
    columns = list(dict.fromkeys((*FIELDS, *(name for row in rows for name in row))))
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(columns)
    table.writerows([_cell(row.get(name, "")) for name in columns] for row in rows)
    return text.getvalue()


def _cell(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)
