"""Files and folders that are written: their permissions, atomic replacement, flushing to disk, and the cache folder.

A new folder is its owner's alone (0700), unless it is to be shared (0755). A new file may be read and written by those who may read and
write its folder; SQLite gives its further files, the journals, the rights of the file they belong to.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from ramify.tools.errors import InputError

_PRIVATE, _SHARED_FOLDER, _SHARED_FILE = 0o700, 0o755, 0o644
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SQLITE_FULL = ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")
_NO_FOLDERS = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EBADF)
"""What is said of a folder that is not written on demand: by its file system, or as it may not be listed."""


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for its owner alone; one that is there stays as it is.

    InputError where it cannot be made.
    """
    try:
        for place in reversed([place for place in (folder, *folder.parents) if not place.exists()]):
            place.mkdir(_PRIVATE, exist_ok=True)
            sync(place.parent)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        what = f"the folder {str(folder)!r} cannot be made ({error.strerror or error})"
        raise InputError(what, remedy_for(error, "name a folder where you may write")) from error


def file_mode(folder: Path) -> int:
    """Return the rights of a new file in a folder: those of the folder; to write it is never everybody's."""
    return stat.S_IMODE(folder.stat().st_mode) & 0o664


def make_file(path: Path, mode: int | None = None) -> Path:
    """Make an empty file with the rights that new files in its folder have, or others; one that is there stays as it is."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        path.chmod(file_mode(path.parent) if mode is None else mode)
    return path


def share(paths: Iterable[Path]) -> None:
    """Let everybody read files, and list folders, that are there; InputError where the owner is another."""
    for path in paths:
        try:
            if path.exists():
                path.chmod(stat.S_IMODE(path.stat().st_mode) | (_SHARED_FOLDER if path.is_dir() else _SHARED_FILE))
        except OSError as error:
            what = f"{str(path)!r} cannot be shared ({error.strerror or error})"
            raise InputError(what, "leave --shared out, or let its owner share it") from error


@contextmanager
def upcoming(*paths: Path) -> Iterator[None]:
    """Make files to be written anew; where the block fails they are taken away: half a file is of no use, and needs room."""
    try:
        for path in paths:
            path.unlink(missing_ok=True)
            make_file(path)
        yield
    except BaseException:
        for path in paths:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        raise


def sync(*paths: Path) -> None:
    """Have files, and the names in folders, written to the disk itself, so that a loss of power does not lose them."""
    for path in paths:
        folder = path.is_dir()
        if folder and os.name == "nt":  # a folder cannot be opened there
            continue
        try:
            handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            if not (folder and error.errno in _NO_FOLDERS):
                raise


def remedy_for(error: Exception, otherwise: str, kept: bool = False) -> str:
    """Return the remedy for a failed write: make room on a full disk, or move away a folder in the place of a file.

    kept: whether what was written before is kept and resumed.
    """
    if isinstance(error, IsADirectoryError):
        return f"move the folder {str(error.filename2 or error.filename)!r} away and run the command again"
    full = getattr(error, "errno", None) in _FULL or getattr(error, "sqlite_errorname", "") in _SQLITE_FULL
    room = f"make room on its disk and run the command again{': what is done so far is kept' if kept else ''}"
    return room if full else otherwise


def write_whole(content: str | bytes, path: Path, mode: int | None = None) -> None:
    """Write a file by way of another beside it, text as UTF-8; InputError where it cannot be written.

    A link stays, and what it leads to is replaced. mode: the file's rights; by default those of its folder, as far as the umask lets.
    """
    with _draft_of(path, mode) as (draft, target):
        draft.write_bytes(content.encode(errors="replace") if isinstance(content, str) else content)
        sync(draft)
        draft.replace(target)


def check_place(path: Path) -> None:
    """Raise InputError where a file could not be written, so that it is known before the work whose result it is to hold."""
    with _draft_of(path):
        pass


@contextmanager
def _draft_of(path: Path, mode: int | None = None) -> Iterator[tuple[Path, Path]]:
    """Yield an empty file and the path it is for; the file is removed afterwards unless it was moved there."""
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if os.path.lexists(target) and not target.is_file():
            raise OSError(errno.EINVAL, "it is no regular file")
        draft = target.parent / f".ramify-{token_hex(8)}"
        rights = file_mode(target.parent) if mode is None else mode
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, rights))  # less what the umask takes
        try:
            if mode is not None:
                draft.chmod(mode)
            yield draft, target
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        what = f"cannot write {str(path)!r} ({getattr(error, 'strerror', None) or error})"
        raise InputError(what, remedy_for(error, "name a file in a folder that is there and that you may write to")) from error


def cache_folder() -> Path:
    """Return where ramify keeps what it can make again: RAMIFY_CACHE, else the platform's cache folder."""
    if given := os.environ.get("RAMIFY_CACHE"):
        return Path(given).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ramify"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local"))) / "ramify" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ramify"
