"""Write a file so that it is there whole or not at all."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from ramify.tools.errors import InputError


def write_whole(content: str | bytes, path: Path) -> None:
    """Write a file by way of another beside it, text as UTF-8; InputError where it cannot be written."""
    try:
        with NamedTemporaryFile("wb", dir=path.parent, prefix=".ramify-", delete=False) as file:
            file.write(content.encode() if isinstance(content, str) else content)
        mask = os.umask(0)  # it can only be read by setting it
        os.umask(mask)
        os.chmod(file.name, 0o666 & ~mask)
        Path(file.name).replace(path)
    except OSError as error:
        what = f"cannot write {str(path)!r} ({error.strerror or error})"
        raise InputError(what, "name a file in a folder that is there, that you may write to and that has room") from error
