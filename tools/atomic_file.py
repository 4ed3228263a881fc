"""Write a file so that it is there whole or not at all."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from ramify.tools.errors import InputError
from ramify.tools.new_files import remedy_for, sync


def write_whole(content: str | bytes, path: Path, mode: int | None = None) -> None:
    """Write a file by way of another beside it, text as UTF-8; InputError where it cannot be written.

    mode: its rights; by default those that programs give, as the umask says.
    """
    draft: Path | None = None
    try:
        with NamedTemporaryFile("wb", dir=path.parent, prefix=".ramify-", delete=False) as file:
            draft = Path(file.name)
            file.write(content.encode(errors="replace") if isinstance(content, str) else content)
        if mode is None:
            mask = os.umask(0)  # it can only be read by setting it
            os.umask(mask)
            mode = 0o666 & ~mask
        draft.chmod(mode)
        sync(draft)
        draft.replace(path)
    except (OSError, ValueError) as error:
        what = f"cannot write {str(path)!r} ({getattr(error, 'strerror', None) or error})"
        raise InputError(what, remedy_for(error, "name a file in a folder that is there and that you may write to")) from error
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)
