"""Read a run's folder; what is wrong with it is one clear line."""

import json
from collections.abc import Iterator
from pathlib import Path

from ramify.evaluation.degraded import SYSTEM
from ramify.evaluation.manifest import MANIFEST, read_manifest
from ramify.evaluation.report.run import Line, Run
from ramify.evaluation.rows import RESULTS, Row, key_of
from ramify.tools.errors import InputError
from ramify.tools.quoting import one_line

NEEDED = ("dataset", "strategy", "id", "question")
LISTS = ("variants", "strategies", "datasets")
GO_ON = "run `ramify eval` with --out and this folder again: it goes on where it stopped"
QUOTED = 60


def read_run(folder: Path) -> Run:
    """Read a run's folder; InputError where there is no run in it, or one that cannot be read."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(f"there is no {MANIFEST} in {str(folder)!r}", "name a folder that `ramify eval --out` has written")
    manifest = {"strategies": [], "datasets": [], **manifest}
    if wrong := [name for name in LISTS if not isinstance(manifest[name], list)]:
        raise InputError(f"{str(folder / MANIFEST)!r} has no list of {wrong[0]}", "it is no manifest of a run: name another folder")
    file = folder / RESULTS
    text = _text(file)
    lines = {line.row["key"]: line for line in _lines(file, text)}  # the last of each key counts
    if not lines:
        raise InputError(f"there are no results in {str(file)!r}", GO_ON)
    apart = {key: line for key, line in lines.items() if SYSTEM in line.row}
    others = tuple(line for key, line in lines.items() if key not in apart)
    return Run(folder, manifest, others, tuple(_torn(text)), tuple(apart.values()))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"there is no {file.name} in {str(file.parent)!r}", GO_ON) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {str(file)!r} ({error})", "look at the file, or run again with another --out") from error


def _lines(file: Path, text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n")[:-1], 1):  # what has no line end was being written when the run was killed
        if line.strip():
            yield Line(number, _row(f"line {number} of {str(file)!r}", line))


def _row(where: str, line: str) -> Row:
    remedy = "take the line out, or run again with another --out"
    try:
        row = json.loads(line, parse_constant=_refuse)
    except ValueError as error:
        raise InputError(f"{where} is no result ({error}): {one_line(line)[:QUOTED]!r}", remedy) from error
    missing = [name for name in NEEDED if not isinstance(row, dict) or not isinstance(row.get(name), str)]
    if missing:
        raise InputError(f"{where} is no result: it has no {', '.join(missing)}", remedy)
    variant = row.get("variant") or ""
    return {**row, "key": row.get("key") or key_of(row["dataset"], row["strategy"], variant, row["id"])}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no figure")


def _torn(text: str) -> Iterator[str]:
    if half := text.rpartition("\n")[2].strip():
        number = text.count("\n") + 1
        what = f"Line {number} of {RESULTS} was being written when the run ended, and is left out: {one_line(half)[:QUOTED]!r}"
        yield f"{what}. To complete it, {GO_ON}."
