"""Large files are compared with their checksums once: after that, the same file of the same size and times is taken to be as it was."""

import json
from contextlib import suppress
from pathlib import Path

from ramify.tools.index.hnsw import LARGE
from ramify.tools.index.manifest import Manifest

CHECKED = ".checked"


def damage(manifest: Manifest, folder: Path) -> str | None:
    """Say what is wrong with the files of an index, None where nothing is."""
    now = _now(manifest, folder)
    if now is not None and now == _noted(folder):
        return None
    found = manifest.damage(folder)
    if found is None and now is not None and now == _now(manifest, folder):
        note_checked(manifest, folder)
    return found


def note_checked(manifest: Manifest, folder: Path) -> None:
    """Remember that the files are those of the manifest; in a folder that cannot be written to they are compared each time."""
    now = _now(manifest, folder)
    if now is None:
        return
    with suppress(OSError):
        draft = folder / f"{CHECKED}.part"
        draft.write_text(json.dumps(now), encoding="utf-8")
        draft.replace(folder / CHECKED)


def _now(manifest: Manifest, folder: Path) -> dict[str, list[int | str]] | None:
    """Describe the files; None where they are small, and compared at no cost, or missing."""
    try:
        states = {name: (folder / name).stat() for name in sorted(manifest.sha256)}
    except OSError:
        return None
    if sum(state.st_size for state in states.values()) < LARGE:
        return None
    # Copies keep size and time of change, but not the number of the file and the time that it came to be there.
    return {
        name: [manifest.sha256[name], state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino] for name, state in states.items()
    }


def _noted(folder: Path) -> object:
    try:
        return json.loads((folder / CHECKED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
