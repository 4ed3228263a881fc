"""The folders of collections that users create: their records, creation, deletion and uploaded documents.

A folder gets its name when it is complete, and loses it before anything in it is deleted, so that an interruption leaves no half
collection under a name that another user could get. What an interruption leaves is deleted at the next start (`sweep`).
"""

import logging
import os
import re
import shutil
from pathlib import Path
from secrets import token_hex

from pydantic import BaseModel, ValidationError

from ramify.tools.errors import InputError, RamifyError, UsageError
from ramify.tools.new_files import make_folder, sync, write_atomically, write_error_remedy
from ramify.tools.quoting import truncate_line

INDEX_FOLDER = "index"
MAX_QUOTED_CHARS = 80
_DOCUMENTS_FOLDER, _UPLOADS_FOLDER, RECORD_FILE = "documents", "uploads", "collection.json"
_NEW_PREFIX, _DELETED_PREFIX = ".new-", ".deleted-"
"""Beginnings of folders that are being created or deleted; the name of a collection does not begin with a dot."""
_FILE_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f/\\]+")
_MAX_FILE_NAME_BYTES = 200
_LOG = logging.getLogger("ramify.serve")


class CollectionRecord(BaseModel):
    """The stored record of a collection: the folder of its documents, or None if they are uploaded, and the user who created it."""

    folder: Path | None
    user: str


def read_record(path: Path) -> CollectionRecord:
    """Return the record in the folder of a collection; InputError if it is not valid."""
    try:
        return CollectionRecord.model_validate_json((path / RECORD_FILE).read_bytes())
    except (OSError, ValidationError) as error:
        remedy = f"restore it, or remove {str(path)!r} with the documents and index in it"
        raise InputError(f"{str(path / RECORD_FILE)!r} is not a valid record of a collection", remedy) from error


def create_folder(path: Path, record: CollectionRecord) -> None:
    """Create the folder of a collection with its record; UsageError if it exists, InputError if it cannot be written."""
    draft = path.with_name(f"{_NEW_PREFIX}{token_hex(8)}")
    try:
        make_folder(draft / _DOCUMENTS_FOLDER)
        write_atomically(record.model_dump_json(), draft / RECORD_FILE)
        if os.path.lexists(path):
            raise UsageError(f"there is already a folder of the name {path.name!r}", "choose another name")
        draft.rename(path)
    except BaseException:
        remove_folder(draft)
        raise
    sync(path.parent)


def move_to_trash(path: Path) -> Path:
    """Take its name from the folder of a collection, and return where it is to be deleted; otherwise the next start deletes it."""
    trash = path.with_name(f"{_DELETED_PREFIX}{token_hex(8)}")
    path.rename(trash)
    sync(path.parent)
    return trash


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, as far as that is possible."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        _LOG.warning("%r cannot be deleted completely — remove it", str(folder))


def sweep(root: Path) -> None:
    """Delete folders whose creation or deletion was interrupted, and report those without a record, which are not served."""
    for path in sorted(root.iterdir()) if root.is_dir() else []:
        if path.name.startswith((_NEW_PREFIX, _DELETED_PREFIX)):
            remove_folder(path)
        elif path.is_dir() and not os.path.lexists(path / RECORD_FILE):
            _LOG.warning("%r is not served: it has no %s — restore that file, or remove the folder", str(path), RECORD_FILE)


class Uploads:
    """The uploaded documents of a collection; a document is received in parts, and appears when it is complete."""

    def __init__(self, collection: Path) -> None:
        self.documents = collection / _DOCUMENTS_FOLDER
        """The folder of the complete documents."""
        self._incomplete = collection / _UPLOADS_FOLDER

    def sizes(self) -> dict[str, int]:
        """Return the bytes on disk of each document, complete or not."""
        sizes: dict[str, int] = {}
        for path in (*_files(self.documents), *_files(self._incomplete)):
            sizes[path.name] = sizes.get(path.name, 0) + path.stat().st_size
        return sizes

    def complete(self) -> set[str]:
        """Return the names of the complete documents."""
        return {path.name for path in _files(self.documents)}

    def incomplete(self) -> list[str]:
        """Return the names of the documents that were not received completely."""
        return sorted(path.name for path in _files(self._incomplete))

    def append(self, file: str, offset: int, content: bytes, size: int | None) -> int:
        """Append a part to a document, and return the bytes received; the document appears when it has `size` bytes.

        Without `size`, each part completes it. UsageError if the part does not follow those received; RamifyError if it cannot be written:
        then nothing of the document is kept.
        """
        part, document = self._incomplete / file, self.documents / file
        is_continued = size is None and not part.exists() and document.exists()  # a later part without a size
        received = 0 if not offset else _size(document if is_continued else part)
        if offset != received:
            raise UsageError(
                f"the part at {offset} of {file!r} does not follow the {received} bytes received", "send the file again from 0"
            )
        end = offset + len(content)
        if size is not None and end > size:
            raise UsageError(f"{file!r} has {end} bytes so far, more than its size, {size}", "send the file again from 0, with its size")
        try:
            self._incomplete.mkdir(exist_ok=True)
            self.documents.mkdir(exist_ok=True)
            if offset and is_continued:
                document.replace(part)
            with part.open("ab" if offset else "wb") as file_object:
                file_object.write(content)
            if size is None or end == size:
                sync(part)
                part.replace(document)
                sync(self.documents)
        except OSError as error:
            if not self.documents.parent.exists():
                raise UsageError("the collection was deleted meanwhile", "create it again") from error
            part.unlink(missing_ok=True)
            remedy = write_error_remedy(error, "send it again, or ask the operator of the server")
            raise RamifyError(f"{file!r} cannot be stored ({error.strerror or error})", remedy) from error
        return end

    def delete(self, file: str) -> bool:
        """Delete a document; return whether there was one."""
        paths = [path for path in (self.documents / file, self._incomplete / file) if path.is_file()]
        for path in paths:
            path.unlink()
        return bool(paths)


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def check_file_name(name: str) -> str:
    """Return a file name that cannot lead out of its folder; raise UsageError for any other."""
    if (
        not _FILE_NAME.fullmatch(name)
        or name.startswith(".")
        or len(name.encode(errors="replace")) > _MAX_FILE_NAME_BYTES
        or not name.isprintable()
    ):
        raise UsageError(
            f"{truncate_line(repr(name), MAX_QUOTED_CHARS)} is not a valid document name", "give the name of a file without its folder"
        )
    return name
