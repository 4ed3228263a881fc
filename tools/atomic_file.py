"""Write a file so that it is there whole or not at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from ramify.tools.errors import InputError
from ramify.tools.new_files import file_mode, remedy_for, sync


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
    """Give an empty file and the path that it is for; it is gone afterwards, unless it was put there."""
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
