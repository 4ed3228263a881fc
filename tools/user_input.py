"""Validate user input: texts must be valid Unicode, paths must be possible on the file system."""

import os
from pathlib import Path

from ramify.tools.errors import InputError, UsageError


def check_text(text: str) -> str:
    """Return a text unchanged; raise UsageError if it contains a lone surrogate or undecodable bytes."""
    if not is_unicode(text):
        raise UsageError(f"{text!r} is not valid UTF-8", "check the encoding of the terminal, the script or the program")
    return text


def is_unicode(text: str) -> bool:
    """Return whether a text can be encoded as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def expand_path(path: str | Path) -> Path:
    """Return a path with ~ replaced by the home folder; the path need not exist.

    UsageError for an impossible path (too long, with a NUL, a cycle of links), InputError where a folder above it may not be read.
    """
    remedy = "give the path of a file or folder"
    try:
        expanded = Path(path).expanduser()
        os.stat(expanded)
    except (FileNotFoundError, NotADirectoryError):
        return expanded
    except PermissionError as error:
        raise InputError(f"{str(path)!r} cannot be accessed ({error.strerror})", "check the permissions of the folders above it") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{str(path)!r} is not a valid path ({getattr(error, 'strerror', None) or error})", remedy) from error
    return expanded
