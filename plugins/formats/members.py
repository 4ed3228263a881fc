"""Files within files: the members of archives and the attachments of mails, read in memory within limits."""

import io
import os
import re
import stat
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    _Path = Path
else:
    _Path = PurePosixPath  # the methods that access a disk would only mislead

_SEPARATORS = re.compile(r"[/\\]+")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]+")
_MAX_NAME_CHARS = 200


class MemberPath(_Path):
    """The path of a file within another one, which readers open like any other; `load` returns its content."""

    load: Callable[[], bytes]

    @classmethod
    def make(cls, name: str, load: Callable[[], bytes]) -> "MemberPath":
        """Return the path of a member by its name, which is made printable."""
        path = cls(printable_member_name(name))
        path.load = load
        return path

    @cached_property
    def content(self) -> bytes:
        """The content, loaded when it is first needed."""
        return self.load()

    def open(self, *_: Any, **__: Any) -> io.BytesIO:  # type: ignore[override]  # always binary
        """Open the content."""
        return io.BytesIO(self.content)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return a regular file of the content's size."""
        return os.stat_result((stat.S_IFREG, 0, 0, 1, 0, 0, len(self.content), 0, 0, 0))


def printable_member_name(name: str) -> str:
    """Return a name without control characters, its last part shortened if it is too long."""
    *folders, last = _SEPARATORS.split(_UNPRINTABLE.sub("_", name))
    stem, suffix = os.path.splitext(last)
    return "/".join([*folders, f"{stem[: _MAX_NAME_CHARS - len(suffix)]}{suffix}" if len(last) > _MAX_NAME_CHARS else last])


def distinct_name(name: str, uses: Counter[str]) -> str:
    """Return a file's name, with a number if it is used already: "notes (2).txt"; count its use."""
    uses[name] += 1
    if uses[name] == 1:
        return name
    path = PurePosixPath(name)
    return distinct_name(str(path.with_name(f"{path.stem} ({uses[name]}){path.suffix}")), uses)


def escapes(name: str) -> bool:
    """Return whether a name would lead out of the folder in which it is unpacked."""
    return name.startswith(("/", "\\")) or bool(re.match(r"[A-Za-z]:", name)) or ".." in _SEPARATORS.split(name)
