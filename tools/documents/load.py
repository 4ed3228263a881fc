"""Load files and folders, or the documents of a LangChain loader, as `Document`s: read in parallel, returned in order."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from ramify.tools.documents.files import DEFAULT_OCR, File, Ocr, OcrMode, ReadReport, Skipped, existing_path, list_files
from ramify.tools.documents.properties import RESERVED_FIELDS, replace_surrogates
from ramify.tools.documents.readers import find_reader, parse_file, parse_ocr, readable_formats
from ramify.tools.documents.worker_pool import LIMITS, Limits, ParseTask, WorkerPool, available_cores
from ramify.tools.errors import InputError

EDITION = "5"
"""Increment when the same file gives other documents than before: indexes then read their files again."""
_FILES_AHEAD = 4
"""Files submitted in advance per worker: enough to keep all busy, few enough for memory."""
_MAX_LOCAL_FILES = 8
_MAX_LOCAL_BYTES = 1 << 18
"""The first few small files of plain text are read in this process, so that no worker needs to be started."""


class DocumentStream(Iterator[Document]):
    """An iterator of documents; meanwhile `skipped` and `remarks` collect what was left out, guessed or incomplete.

    Each document has an id (a record's own, else made from its source) and the metadata `source` (the path within the folder given, or
    the file's name; of a record with `#id` or `#number`), `title`, `heading` of a section ("A > B"), `page` (from 1) or, of a
    document that crosses pages, `pages` as a list of `[offset, page]`, the file's own metadata, and the fields of a record.
    """

    def __init__(self, paths: Sequence[Path], clean: bool = True, ocr: Ocr = DEFAULT_OCR) -> None:
        self.skipped: list[Skipped] = []
        self.remarks: list[Skipped] = []
        self._paths = paths
        self._clean = clean
        self._ocr = ocr
        self._documents = self._read_all()

    def __next__(self) -> Document:
        return next(self._documents)

    def _read_all(self) -> Iterator[Document]:
        has_text = False
        for read in read_files(list_files(self._paths, self.skipped), clean=self._clean, ocr=self._ocr):
            for document in read.documents:
                has_text = True
                yield document
            self.skipped += read.skipped
            self.remarks += read.remarks
        if not has_text:
            raise nothing_readable_error(self._paths, self.skipped)


def load_files(*paths: str | Path, clean: bool = True, ocr: OcrMode = "auto", ocr_languages: str = "") -> DocumentStream:
    """Return an iterator of the documents of files and folders (recursively, sorted by name, without hidden ones).

    clean: merge short documents of a file, mark contents, indexes and legal notices with a `role`, and leave out running heads of a PDF.
    ocr: whether text in pictures is read (if Tesseract is installed), and `ocr_languages` in which languages, such as "eng+deu".
    InputError at once if a path does not exist, and at the end if nothing was readable.
    """
    return DocumentStream([existing_path(path) for path in paths], clean, parse_ocr(ocr, ocr_languages))


def nothing_readable_error(paths: Sequence[Path], skipped: Sequence[Skipped]) -> InputError:
    """Return the error that nothing could be read, with the first reasons."""
    formats = readable_formats()
    reasons = "; ".join(f"{name}: {reason.removesuffix(f' (readable: {formats})')}" for name, reason in skipped[:3]) or "no files"
    places = ", ".join(repr(str(path)) for path in paths)
    return InputError(f"nothing readable in {places} ({reasons})", f"give files of these kinds: {formats}")


class FileDocuments(NamedTuple):
    """A file, an iterable of its documents, what was skipped, and remarks.

    Both lists are complete when the iterable is exhausted.
    """

    file: File
    documents: Iterable[Document]
    skipped: list[Skipped]
    remarks: list[Skipped]


def read_files(
    files: Iterable[File], limits: Limits = LIMITS, workers: int | None = None, clean: bool = True, ocr: Ocr = DEFAULT_OCR
) -> Iterator[FileDocuments]:
    """Read files in worker processes and yield them in order; the documents of a file of records are streamed.

    A file that cannot be read has no documents, and the reason in `skipped`. clean, ocr: as in `load_files`. Documents of a file that
    were not consumed are lost when the next file is requested.
    """
    with closing(WorkerPool(workers or available_cores(), limits)) as pool:
        under_way: list[tuple[File, ParseTask | None]] = []
        coming = _submit_files(iter(files), pool, clean, ocr)
        while under_way := [*under_way, *islice(coming, _FILES_AHEAD * pool.size + 1 - len(under_way))]:
            file, task = under_way.pop(0)
            report, reader = ReadReport(ocr), find_reader(file.path)
            if task is None:
                yield FileDocuments(file, parse_file(file, report, clean), report.skipped, report.remarks)
                continue
            with closing(task):
                documents = task.documents(report)
                yield FileDocuments(file, documents if reader and reader.in_parts else list(documents), report.skipped, report.remarks)


def _submit_files(files: Iterator[File], pool: WorkerPool, clean: bool, ocr: Ocr) -> Iterator[tuple[File, ParseTask | None]]:
    """Submit files to the worker pool in order; yield each with its task, None for small files that are read in this process."""
    few = 0
    for file in files:
        reader = find_reader(file.path)
        if reader is None or (reader.plain and few < _MAX_LOCAL_FILES and _is_small(file.path)):
            few += reader is not None
            yield file, None
        else:
            yield file, pool.parse(file, clean, ocr)


def _is_small(path: Path) -> bool:
    """Return whether a file is small; compressed files count as large."""
    try:
        return path.suffix.lower() != ".gz" and path.stat().st_size <= _MAX_LOCAL_BYTES
    except OSError:
        return True


class LoaderFailure(Exception):
    """Carries the error of a loader past what handles errors of writing, such as an OSError."""


@contextmanager
def loader_errors_unchanged() -> Iterator[None]:
    """Raise the error of a loader in the place of its LoaderFailure."""
    try:
        yield
    except LoaderFailure as failure:
        error: Exception = failure.args[0]
        raise error from error.__cause__


def load_documents(loader: BaseLoader, skipped: list[Skipped]) -> Iterator[Document]:
    """Yield a loader's documents that have text, each with an id and a `source`; append those without text to `skipped`.

    Metadata is preserved; fields with reserved names (`path`, `pages`, …) are stored as `record_path`, …, and pages that a PDF loader
    counts from 0 are counted from 1. `source` is the loader's, with the folders of its `path`, else its class name. LoaderFailure if the
    loader fails.
    """
    for document in _failing_apart(loader):
        kept = {f"record_{name}" if name in RESERVED_FIELDS else str(name): value for name, value in document.metadata.items()}
        source = (
            replace_surrogates(_loader_source(str(kept.pop("record_source", "") or ""), kept.get("record_path"))) or type(loader).__name__
        )
        if not (text := replace_surrogates(document.page_content).strip()):
            skipped.append((source, "a document without text"))
            continue
        if "total_pages" in kept and isinstance(page := kept.get("page"), int):
            kept["page"] = page + 1
        yield Document(text, id=replace_surrogates(document.id or "") or source, metadata={**kept, "source": source})


def _failing_apart(loader: BaseLoader) -> Iterator[Document]:
    """Yield what a loader gives; LoaderFailure with its error if it raises one."""
    try:
        yield from loader.lazy_load()
    except Exception as error:
        raise LoaderFailure(error) from error


def _loader_source(source: str, path: object) -> str:
    """Return the path of a file that a loader names without its folders, else the source as it is."""
    path = str(path or "")
    return path if source and path.replace("\\", "/").endswith(f"/{source}") else source
