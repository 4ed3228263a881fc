"""A file of questions that a person edits (jsonl or csv): what is there stays, further questions are added one by one.

Those that were asked and rated in `ramify serve` can be added: a right answer is the gold, a wrong one is for a person to write.
"""

import csv
import hashlib
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

from ramify.evaluation.load.own_questions import NEEDS_ANSWER, read_questions
from ramify.graphs.memory import SQLITE
from ramify.graphs.ratings import CONVERSATIONS, rated
from ramify.tools.english import same_question
from ramify.tools.errors import InputError, UsageError
from ramify.tools.new_files import check_writable, make_file, write_atomically, write_error_remedy
from ramify.tools.user_input import expand_path

FIELDS = ("id", "question", "answer", "type", "source", "quote", NEEDS_ANSWER, "made_by")
SUFFIXES = (".jsonl", ".csv")
Proposed = dict[str, Any]
"""A question as a line of the file has it."""


class QuestionFile:
    """The questions of a file; beside it lies what was tried, so that nothing is tried twice. One writer at a time."""

    def __init__(self, file: Path) -> None:
        """Read what is there; UsageError for another kind of file, InputError for one that cannot be read."""
        self.file = expand_path(file)
        if self.file.suffix not in SUFFIXES:
            raise UsageError(f"questions cannot be written to {str(file)!r}", f"name a file that ends in {' or '.join(SUFFIXES)}")
        check_writable(self.file)
        there = self.file.exists() and self.file.stat().st_size > 0
        self.rows: list[Proposed] = [record.value for record in read_questions(self.file)] if there else []
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

    def has(self, question: str) -> bool:
        """Return whether the file has a question already, in these or other words."""
        return any(same_question(question, str(row["question"])) for row in self.rows if "question" in row)

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
            raise InputError(what, write_error_remedy(error, "see that it can be written", resumable=True)) from error

    def add(self, question: Proposed) -> None:
        """Add a question, and write the file anew, since a person may have edited its end: it is there whole or as it was."""
        self.rows.append({name: question[name] for name in FIELDS if question.get(name) not in (None, "", [], ())})
        write_atomically(_csv(self.rows) if self.file.suffix == ".csv" else _jsonl(self.rows), self.file)


def _jsonl(rows: list[Proposed]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _csv(rows: list[Proposed]) -> str:
    columns = list(dict.fromkeys((*FIELDS, *(name for row in rows for name in row))))
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(columns)
    for row in rows:
        values = (row.get(name, "") for name in columns)
        table.writerow("\n".join(map(str, value)) if isinstance(value, list) else str(value) for value in values)
    return text.getvalue()


def add_rated(memory: str, file: QuestionFile) -> int:
    """Add the rated questions of a memory (an address, or a server's folder) that the file lacks; return their number. Blocking.

    InputError if there are no conversations.
    """
    folder = Path(memory).expanduser()
    where = f"{SQLITE}{folder / CONVERSATIONS}" if "://" not in memory and not memory.startswith(SQLITE) else memory
    if where.startswith(SQLITE) and not Path(where.removeprefix(SQLITE)).expanduser().is_file():
        raise InputError(f"there are no conversations in {memory!r}", "give the folder or address that `ramify serve` stores them in")
    before = len(file.rows)
    for one in rated(where):
        if file.has(one.question):
            continue
        id = f"chat-{hashlib.sha256(one.question.encode()).hexdigest()[:8]}"
        told = {"id": id, "question": one.question, "type": "chat", "made_by": f"rated {one.rating} in the conversation {one.thread}"}
        source = one.sources[0] if len(one.sources) == 1 else list(one.sources)
        file.add({**told, NEEDS_ANSWER: True} if one.rating == "down" else {**told, "answer": one.answer, "source": source})
    return len(file.rows) - before
