"""A file of questions for editing by a person (jsonl or csv): existing questions are kept, further ones are appended.

Questions rated in `ramify serve` can be added: an answer rated as right becomes the gold, for a wrong one a person writes it.
"""

import csv
import hashlib
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

from ramify.graphs.memory import SQLITE
from ramify.graphs.ratings import CONVERSATIONS, rated_answers
from ramify.lab.load.own_questions import NEEDS_ANSWER, read_questions
from ramify.tools.english import same_question
from ramify.tools.errors import InputError, UsageError
from ramify.tools.new_files import check_writable, make_file, write_atomically, write_error_remedy
from ramify.tools.user_input import expand_path

QUESTION_FIELDS = ("id", "question", "answer", "type", "source", "quote", NEEDS_ANSWER, "made_by")
QUESTION_FILE_SUFFIXES = (".jsonl", ".csv")
ProposedQuestion = dict[str, Any]
"""A question as a row of the file."""


class QuestionFile:
    """The questions of a file; another one (`.tried`) records outcomes, so that nothing is tried twice. Not safe for concurrent writers."""

    def __init__(self, file: Path) -> None:
        """Read an existing file; UsageError for another file type, InputError if it cannot be read."""
        self.file = expand_path(file)
        if self.file.suffix not in QUESTION_FILE_SUFFIXES:
            raise UsageError(
                f"questions cannot be written to {str(file)!r}", f"name a file that ends in {' or '.join(QUESTION_FILE_SUFFIXES)}"
            )
        check_writable(self.file)
        has_content = self.file.exists() and self.file.stat().st_size > 0
        self.rows: list[ProposedQuestion] = [record.value for record in read_questions(self.file)] if has_content else []
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

    def contains(self, question: str) -> bool:
        """Return whether the file contains a question, possibly paraphrased."""
        return any(same_question(question, str(row["question"])) for row in self.rows if "question" in row)

    def was_tried(self, key: str) -> bool:
        """Return whether an outcome is recorded for a key."""
        return key in self._tried

    def record_outcome(self, key: str, outcome: str) -> None:
        """Record an outcome; it is written after a line break, so that an incomplete line of a killed run stays separate."""
        self._tried[key] = outcome
        try:
            with make_file(self._tried_file).open("a", encoding="utf-8", errors="replace") as lines:
                lines.write(f"\n{key}\t{outcome}")
        except OSError as error:
            what = f"cannot write to {str(self._tried_file)!r} ({error.strerror or error})"
            raise InputError(what, write_error_remedy(error, "make it writable", resumable=True)) from error

    def add(self, question: ProposedQuestion) -> None:
        """Add a question and rewrite the file atomically."""
        self.rows.append({name: question[name] for name in QUESTION_FIELDS if question.get(name) not in (None, "", [], ())})
        write_atomically(_csv(self.rows) if self.file.suffix == ".csv" else _jsonl(self.rows), self.file)


def _jsonl(rows: list[ProposedQuestion]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _csv(rows: list[ProposedQuestion]) -> str:
    columns = list(dict.fromkeys((*QUESTION_FIELDS, *(name for row in rows for name in row))))
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(columns)
    for row in rows:
        values = (row.get(name, "") for name in columns)
        table.writerow("\n".join(map(str, value)) if isinstance(value, list) else str(value) for value in values)
    return text.getvalue()


def add_rated_questions(memory: str, file: QuestionFile) -> int:
    """Add the rated questions of a memory (an address, or a server's folder) that the file lacks; return their number. Blocking.

    InputError if there are no conversations.
    """
    folder = Path(memory).expanduser()
    where = f"{SQLITE}{folder / CONVERSATIONS}" if "://" not in memory and not memory.startswith(SQLITE) else memory
    if where.startswith(SQLITE) and not Path(where.removeprefix(SQLITE)).expanduser().is_file():
        raise InputError(f"there are no conversations in {memory!r}", "give the folder or address that `ramify serve` stores them in")
    before = len(file.rows)
    for rated in rated_answers(where):
        if file.contains(rated.question):
            continue
        id = f"chat-{hashlib.sha256(rated.question.encode()).hexdigest()[:8]}"
        fields = {
            "id": id,
            "question": rated.question,
            "type": "chat",
            "made_by": f"rated {rated.rating} in the conversation {rated.thread}",
        }
        source = rated.sources[0] if len(rated.sources) == 1 else list(rated.sources)
        file.add({**fields, NEEDS_ANSWER: True} if rated.rating == "down" else {**fields, "answer": rated.answer, "source": source})
    return len(file.rows) - before
