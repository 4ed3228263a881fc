"""Read the files of a release, and write a data folder: documents and questions, each once."""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from ramify.lab.load.records import Record, malformed_field_error, parse_json, read_text_file
from ramify.tools.errors import InputError
from ramify.tools.new_files import write_atomically

T = TypeVar("T", str, bool, int)

_SHAPES: Final = {str: "text", bool: "true or false", int: "a whole number"}


def read_object(file: Path) -> Record:
    """Read a file that is one JSON object."""
    place = repr(str(file))
    value = parse_json(read_text_file(file), place)
    if not isinstance(value, dict):
        raise InputError(f"{place} is {value!r:.80}, not an object", "give the file as released")
    return Record(place, value)


def given(record: Record, field: str, kind: type[T]) -> T:
    """Give a field of one kind as it stands there; text has to say something."""
    value = record.value.get(field)
    if type(value) is kind and str(value).strip():  # in Python true is a whole number
        return value
    raise malformed_field_error(record, field, _SHAPES[kind])


def texts(record: Record, field: str) -> list[str]:
    """Give a field that lists texts."""
    value = record.value.get(field)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise malformed_field_error(record, field, "a list of texts")


def parts(record: Record, field: str) -> Iterator[Record]:
    """Give the records that a field lists."""
    value = record.value.get(field)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise malformed_field_error(record, field, "a list of records")
    for number, item in enumerate(value, 1):
        yield Record(f"{field} {number} of {record.place}", item)


CORPUS = "corpus.jsonl.gz"
QUESTIONS = "questions.jsonl.gz"

Line = dict[str, Any]


class Gathered:
    """What was read of a release, by id and in its order."""

    def __init__(self) -> None:
        self.documents: dict[str, Line] = {}
        self.questions: dict[str, Line] = {}

    def document(self, identity: str, title: str | None, text: str, **metadata: Any) -> str:
        """Take a document in and give its id; of two with one id the first stays."""
        self.documents.setdefault(identity, {"id": identity, "title": title, "text": text, "metadata": metadata})
        return identity

    def support(self, identity: str, facts: Sequence[str] = ()) -> Line:
        """Name a document as what an answer rests on, with the sentences of it where they are known."""
        document = self.documents.get(identity)
        fact: Line = {"fact": facts[0], "facts": [*facts]} if facts else {"fact": None}
        return {"doc_id": identity, "title": document["title"] if document else None, **fact}

    def ask(self, record: Record, identity: str, question: str, answer: str, kind: str, supporting: Sequence[Line], **more: Any) -> None:
        """Take a question in; InputError where another has its id."""
        line = {
            "id": identity,
            "question": question,
            "answer": answer,
            "answer_aliases": [],
            "type": kind,
            "supporting": [*supporting],
            "decomposition": None,
            "metadata": {},
            **more,
        }
        if self.questions.setdefault(identity, line) != line:
            raise InputError(f"{record.place} has the id {identity!r}, as another question has", "give each file once, and as released")


def fingerprint(text: str) -> str:
    """Make an id of a text.

    An id deals its document to training or to measuring. Made in another way, the shipped weights would be measured on what they learned.
    """
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]


def write(gathered: Gathered, folder: Path) -> None:
    """Write a data folder; its questions come last, so that a folder is not taken for whole before it is."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / QUESTIONS).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {str(folder)!r} ({error.strerror or error})", "name a folder you may write to") from error
    write_atomically(_packed(gathered.documents.values()), folder / CORPUS)
    write_atomically(_packed(gathered.questions.values()), folder / QUESTIONS)


def _packed(lines: Iterable[Line]) -> bytes:
    """Pack lines without the time, so that the same release gives the same bytes."""
    return gzip.compress("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode(), mtime=0)
