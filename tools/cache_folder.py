"""Where ramify keeps what it can make again."""

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Return where ramify keeps what it can make again: RAMIFY_CACHE, else the platform's cache folder."""
    if given := os.environ.get("RAMIFY_CACHE"):
        return Path(given).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ramify"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local"))) / "ramify" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ramify"
