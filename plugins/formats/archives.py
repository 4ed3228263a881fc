"""Read archives: a ZIP of documents like a folder, a mailbox like a folder of mails."""

import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from operator import itemgetter
from pathlib import Path, PurePosixPath
from stat import S_ISLNK
from zipfile import BadZipFile, ZipFile, ZipInfo

from langchain_core.documents import Document

from ramify.formats.members import MemberPath, distinct_name, escapes
from ramify.tools.documents.files import ReadReport, Unpacking, UnreadableError
from ramify.tools.documents.readers import FormatReader
from ramify.tools.documents.text import MAX_BYTES, read_unpacked

_ENCRYPTED = 0x1
_NAMES_ARE_UTF8 = 0x800
_MAX_COMPRESSION_RATIO = 200
"""Largest compression ratio of a member, checked above some MB."""
_UNCHECKED_BYTES = 1 << 25
_MAIL_START = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]+\n")
_QUOTED_START = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_zip(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read the files in an archive, each by its own reader, sorted by name, without hidden ones."""
    with io.BytesIO(read_unpacked(path)) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        try:
            archive = ZipFile(file)
        except (BadZipFile, NotImplementedError, ValueError) as error:
            raise UnreadableError(f"not a readable archive: {error}") from error
        with archive:
            uses = Counter[str]()
            files = [member for member in archive.infolist() if not member.is_dir()]
            members = [(distinct_name(_member_name(member), uses), member) for member in files]
            for name, member in sorted(members, key=itemgetter(0)):
                if escapes(name):
                    report.skip(f"{source}/{name}", "its name leads out of the archive")
                elif S_ISLNK(member.external_attr >> 16):
                    report.skip(f"{source}/{name}", "a link")
                elif not any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts):
                    yield from report.read_member(MemberPath.make(name, partial(_load, archive, member, report.unpacking)))


def _member_name(member: ZipInfo) -> str:
    """Return a member's name; one without a mark of its encoding is read as UTF-8 if it can be."""
    name = member.filename
    if not member.flag_bits & _NAMES_ARE_UTF8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/") if not escapes(name) else name


def _load(archive: ZipFile, member: ZipInfo, unpacking: Unpacking) -> bytes:
    """Return a member's content; UnreadableError if it is encrypted, damaged or too large."""
    if member.flag_bits & _ENCRYPTED:
        raise UnreadableError("protected by a password")
    if member.file_size > min(MAX_BYTES, max(_MAX_COMPRESSION_RATIO * member.compress_size, _UNCHECKED_BYTES)):
        raise UnreadableError(f"would unpack {member.compress_size:,} bytes to {member.file_size:,}, more than the limit")
    unpacking.take(member.file_size)
    try:
        return archive.read(member)
    except (BadZipFile, NotImplementedError, RuntimeError, ValueError) as error:
        raise UnreadableError(f"cannot be unpacked: {error}") from error


def read_mbox(path: Path, source: str, report: ReadReport) -> Iterator[Document]:
    """Read the mails of a mailbox, each with its attachments."""
    content = read_unpacked(path)
    starts = [*_MAIL_START.finditer(content)]
    if not starts:
        raise UnreadableError("not a mailbox: no line begins with 'From '")
    ends = [*(start.start() for start in starts[1:]), len(content)]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True), start=1):
        mail = partial(_QUOTED_START.sub, rb"\1", content[start.end() : end])
        yield from report.read_member(MemberPath.make(f"{number}.eml", mail))


ZIP_READER = FormatReader(read_zip, in_parts=True, contains_files=True)
MAILBOX_READER = FormatReader(read_mbox, {"lxml.html": "lxml"}, in_parts=True, contains_files=True)
