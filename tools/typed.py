"""What people type, checked before anything is done with it: texts that are text, and paths that a file can have."""

import os
from pathlib import Path

from ramify.tools.errors import InputError, UsageError


def readable(text: str) -> str:
    """Return a text as it is; UsageError where it is not valid Unicode, as half a surrogate pair or undecodable bytes are not."""
    if not is_unicode(text):
        raise UsageError(f"{text!r} is not valid UTF-8", "check the encoding of the terminal, the script or the program")
    return text


def is_unicode(text: str) -> bool:
    """Return whether a text can be encoded."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def usable(path: str | Path) -> Path:
    """Return a path, ~ replaced by the home folder, whether or not something is there.

    UsageError for one that nothing can have: too long, with a NUL, a circle of links. InputError where nobody may look.
    """
    remedy = "give the path of a file or folder"
    try:
        found = Path(path).expanduser()
        os.stat(found)
    except (FileNotFoundError, NotADirectoryError):
        return found
    except PermissionError as error:
        raise InputError(
            f"{str(path)!r} cannot be looked at ({error.strerror})", "check the permissions of the folders above it"
        ) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{str(path)!r} is no path ({getattr(error, 'strerror', None) or error})", remedy) from error
    return found
