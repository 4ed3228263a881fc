"""Create files and folders: permissions, atomic replacement, flushing to disk, and the cache folder.

A new folder is private (0700), unless it is to be shared (0755). A new file gets the read and write permissions of its folder; SQLite's
journals get those of the database.
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

_PRIVATE_FOLDER, _SHARED_FOLDER, _SHARED_FILE = 0o700, 0o755, 0o644
_DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DISK_FULL_SQLITE_ERRORS = ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")
_FOLDER_SYNC_ERRNOS = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EBADF)
"""Errors of fsync on a folder that are ignored: the file system does not support it, or the folder may not be listed."""


def make_folder(folder: Path) -> None:
    """Create a private folder and its missing parents; existing folders are not changed.

    InputError if it cannot be created.
    """
    try:
        for path in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
            path.mkdir(_PRIVATE_FOLDER, exist_ok=True)
            sync(path.parent)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        what = f"the folder {str(folder)!r} cannot be created ({error.strerror or error})"
        raise InputError(what, write_error_remedy(error, "name a folder where you may write")) from error


def file_mode(folder: Path) -> int:
    """Return the permissions of a new file in a folder: those of the folder, never writable by others."""
    return stat.S_IMODE(folder.stat().st_mode) & 0o664


def make_file(path: Path, mode: int | None = None) -> Path:
    """Create an empty file, with the permissions of `file_mode` unless `mode` is given; an existing file is not changed."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        path.chmod(file_mode(path.parent) if mode is None else mode)
    return path


def make_readable_by_all(paths: Iterable[Path]) -> None:
    """Make existing files readable and existing folders listable by everybody; InputError if they belong to another user."""
    for path in paths:
        try:
            if path.exists():
                path.chmod(stat.S_IMODE(path.stat().st_mode) | (_SHARED_FOLDER if path.is_dir() else _SHARED_FILE))
        except OSError as error:
            what = f"{str(path)!r} cannot be shared ({error.strerror or error})"
            raise InputError(what, "leave --shared out, or let its owner share it") from error


@contextmanager
def create_files(*paths: Path) -> Iterator[None]:
    """Create files for writing; delete them if the block fails."""
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
    """Flush files and directory entries to disk (fsync)."""
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
            if not (folder and error.errno in _FOLDER_SYNC_ERRNOS):
                raise


def write_error_remedy(error: Exception, otherwise: str, resumable: bool = False) -> str:
    """Return the remedy for a failed write: make room on a full disk, or move away a folder in the place of a file.

    resumable: whether the command resumes from what was written before.
    """
    if isinstance(error, IsADirectoryError):
        return f"move the folder {str(error.filename2 or error.filename)!r} away and run the command again"
    room = f"make room on its disk and run the command again{': it resumes where it stopped' if resumable else ''}"
    return room if is_disk_full(error) else otherwise


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether an error, or one that caused it, is that of a full disk."""
    while error is not None:
        if getattr(error, "errno", None) in _DISK_FULL_ERRNOS or getattr(error, "sqlite_errorname", "") in _DISK_FULL_SQLITE_ERRORS:
            return True
        error = error.__cause__
    return False


def write_atomically(content: str | bytes, path: Path, mode: int | None = None) -> None:
    """Write a file atomically, text as UTF-8: a temporary file replaces it. InputError if it cannot be written.

    Of a symbolic link the target is replaced. mode: the file's permissions; by default those of its folder, less the umask.
    """
    with _temporary_file(path, mode) as (draft, target):
        draft.write_bytes(content.encode(errors="replace") if isinstance(content, str) else content)
        sync(draft)
        draft.replace(target)


def check_writable(path: Path) -> None:
    """Raise InputError if a file cannot be written, before the work whose result it is for."""
    with _temporary_file(path):
        pass


@contextmanager
def _temporary_file(path: Path, mode: int | None = None) -> Iterator[tuple[Path, Path]]:
    """Yield an empty temporary file and the path that it is to replace; it is removed afterwards unless it was moved."""
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if os.path.lexists(target) and not target.is_file():
            raise OSError(errno.EINVAL, "it is not a regular file")
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
        raise InputError(what, write_error_remedy(error, "name a file in an existing folder that you may write to")) from error


def cache_folder() -> Path:
    """Return the cache folder: RAMIFY_CACHE, else the platform's."""
    if given := os.environ.get("RAMIFY_CACHE"):
        return Path(given).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ramify"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local"))) / "ramify" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ramify"
