"""Count the functions and files of ramify that one warm question passes through: `python plugins/lab/benchmarks/path.py`."""

import sys
import threading
from collections import Counter
from types import FrameType
from typing import Any

import ramify.graphs as graphs

WARM = "In which city was the inventor of the ballpoint pen born?"
QUESTION = "In which country was the inventor of the ballpoint pen born?"


def main() -> None:
    """Ask one question to load everything, then count while another is asked."""
    graphs.ask(WARM)
    seen: Counter[tuple[str, str]] = Counter()

    def watch(frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        module = str(frame.f_globals.get("__name__", ""))
        generated = code.co_filename.startswith("<") or code.co_name.startswith("<")
        if event == "call" and module.startswith("ramify.") and not generated:
            seen[module, code.co_qualname] += 1

    threading.setprofile(watch)
    sys.setprofile(watch)
    graphs.ask(QUESTION)
    sys.setprofile(None)
    threading.setprofile(None)
    files = Counter(file for file, _ in seen)
    for file, functions in files.most_common():
        print(f"{functions:4}  {file}")
    print(f"{len(seen)} functions of {len(files)} files")


if __name__ == "__main__":
    main()
