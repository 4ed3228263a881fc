"""A run as read from its folder: the manifest, and the lines in groups.

`measures` of them, and lines paired by question; `calibration`; `export` makes training material of them.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ramify.evaluation.degraded import SYSTEM
from ramify.evaluation.manifest import MANIFEST, read_manifest
from ramify.evaluation.task import RESULTS, Row, key_of
from ramify.evaluation.variants import is_named
from ramify.tools.errors import InputError
from ramify.tools.quoting import one_line

__all__ = ["ResultLine", "Run", "read_run"]


NEEDED = ("dataset", "strategy", "id", "question")
LISTS = ("variants", "strategies", "datasets")
GO_ON = "run `ramify eval` with --out and this folder again: it goes on where it stopped"
QUOTED = 60
_HOPS = re.compile(r"(\d+)[ -]?hop", re.IGNORECASE)
Key = tuple[str, str, str]
"""Of a group of lines: data set, strategy and variant."""


@dataclass(frozen=True)
class ResultLine:
    """A line of results.jsonl, with its number."""

    number: int
    row: Row
    file: str = RESULTS
    """Where it stands: below the folder of several runs, with that of its own."""

    @property
    def group(self) -> Key:
        """Return its data set, strategy and variant."""
        return self.row["dataset"], self.row["strategy"], self.row.get("variant") or ""

    @property
    def type(self) -> str:
        """Return the type of the question; empty if it has none."""
        return str(self.row.get("type") or "")

    @property
    def hops(self) -> int:
        """Return the number of hops: what the type says (MuSiQue's `2hop`), else the gold documents; 0 if neither is known."""
        told = _HOPS.match(self.type)
        return int(told[1]) if told else len(set(self.row.get("gold_documents") or ()))

    @property
    def ranked(self) -> bool:
        """Return whether it has retrieval scores."""
        return bool(self.row.get("retrieval"))

    @property
    def failed(self) -> bool:
        """Return whether the question failed."""
        return self.row.get("error") is not None

    @property
    def searched(self) -> bool:
        """Return whether passages were only searched for, without asking a model."""
        return not self.failed and not self.scored and not self.row.get("answer")

    @property
    def scored(self) -> bool:
        """Return whether there is a gold answer."""
        return self.row.get("em") is not None

    @property
    def right(self) -> bool:
        """Return whether the answer matches a gold exactly after normalisation."""
        return not self.failed and (self.row.get("em") or 0) >= 1

    @property
    def outcome(self) -> str:
        """Return the outcome: "failed", "searched", "right", "abstained", "wrong", or "answered" if there is no gold answer."""
        if self.failed or self.searched:
            return "failed" if self.failed else "searched"
        if self.right:
            return "right"
        return "abstained" if self.row.get("abstained") else "wrong" if self.scored else "answered"


@dataclass(frozen=True)
class Run:
    """A run, read."""

    folder: Path
    manifest: dict[str, Any]
    lines: tuple[ResultLine, ...]
    warnings: tuple[str, ...] = ()
    degraded: tuple[ResultLine, ...] = ()
    """Those of searching where metadata are degraded, which are too many to stand among the others."""

    @cached_property
    def groups(self) -> dict[Key, list[ResultLine]]:
        """Return the lines by data set, strategy and variant, in the manifest's order, each in the order of its questions."""
        found: dict[Key, list[ResultLine]] = {}
        for line in self.lines:
            found.setdefault(line.group, []).append(line)
        return {group: sorted(found[group], key=lambda line: str(line.row["id"])) for group in sorted(found, key=self._place)}

    def _place(self, group: Key) -> tuple[Any, ...]:
        """Return the sort key of a group: its place in the manifest, unknown ones last."""
        dataset, strategy, variant = group
        variants = [(one.get("strategy"), one.get("variant") or "") for one in self.manifest["variants"]]
        names = [one.get("name") for one in self.manifest["datasets"]]
        listed: tuple[tuple[list[Any], Any], ...] = (
            (names, dataset),
            (self.manifest["strategies"], strategy),
            (variants, (strategy, variant)),
        )
        return tuple((values.index(value) if value in values else len(values), str(value)) for values, value in listed)

    @property
    def datasets(self) -> list[str]:
        """Return the data sets that have lines."""
        return list(dict.fromkeys(dataset for dataset, _, _ in self.groups))

    @property
    def scored(self) -> list[str]:
        """Return the data sets that have gold answers."""
        return [dataset for dataset in self.datasets if any(line.scored for lines in self.of(dataset).values() for line in lines)]

    def of(self, dataset: str) -> dict[str, list[ResultLine]]:
        """Return the answers to a data set by strategy, at the run's own settings."""
        return {group[1]: lines for group, lines in self.answered.items() if group[0] == dataset and not group[2]}

    @cached_property
    def answered(self) -> dict[Key, list[ResultLine]]:
        """Return the groups with answers."""
        return {group: lines for group, lines in self.groups.items() if not all(line.searched for line in lines)}

    def unchanged(self, dataset: str) -> dict[Key, list[ResultLine]]:
        """Return the answers of unchanged strategies, on each kind of index: without sweeps and ablations."""
        return {key: lines for key, lines in self.answered.items() if key[0] == dataset and (not key[2] or is_named(key[2]))}

    @cached_property
    def searched(self) -> dict[Key, list[ResultLine]]:
        """Return the groups without answers, only searched for."""
        return {group: lines for group, lines in self.groups.items() if group not in self.answered}

    def described(self, dataset: str) -> dict[str, Any]:
        """Return the manifest's entry of a data set; empty if there is none."""
        return next((one for one in self.manifest["datasets"] if one.get("name") == dataset), {})

    def by_facts(self, dataset: str) -> bool:
        """Return whether the data set counts retrieved facts, as MultiHop-RAG does."""
        return bool(self.described(dataset).get("hits_by") == "fact")


def read_run(folder: Path) -> Run:
    """Return the run of a folder; InputError if there is none, or it cannot be read."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(f"there is no {MANIFEST} in {str(folder)!r}", "name a folder that `ramify eval --out` has written")
    manifest = {"strategies": [], "datasets": [], **manifest}
    if wrong := [name for name in LISTS if not isinstance(manifest[name], list)]:
        raise InputError(f"{str(folder / MANIFEST)!r} has no list of {wrong[0]}", "it is no manifest of a run: name another folder")
    file = folder / RESULTS
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"there is no {file.name} in {str(folder)!r}", GO_ON) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {str(file)!r} ({error})", "look at the file, or run again with another --out") from error
    lines = {line.row["key"]: line for line in _lines(file, text)}  # the last of each key counts
    if not lines:
        raise InputError(f"there are no results in {str(file)!r}", GO_ON)
    apart = {key: line for key, line in lines.items() if SYSTEM in line.row}
    others = tuple(line for key, line in lines.items() if key not in apart)
    torn = []
    if half := text.rpartition("\n")[2].strip():  # was being written when the run was killed
        what = f"Line {text.count(chr(10)) + 1} of {RESULTS} was being written when the run ended, and is left out"
        torn.append(f"{what}: {one_line(half)[:QUOTED]!r}. To complete it, {GO_ON}.")
    return Run(folder, manifest, others, tuple(torn), tuple(apart.values()))


def _lines(file: Path, text: str) -> Iterator[ResultLine]:
    remedy = "take the line out, or run again with another --out"
    for number, line in enumerate(text.split("\n")[:-1], 1):
        if not line.strip():
            continue
        where = f"line {number} of {str(file)!r}"
        try:
            row = json.loads(line, parse_constant=_refuse)
        except ValueError as error:
            raise InputError(f"{where} is no result ({error}): {one_line(line)[:QUOTED]!r}", remedy) from error
        missing = [name for name in NEEDED if not isinstance(row, dict) or not isinstance(row.get(name), str)]
        if missing:
            raise InputError(f"{where} is no result: it has no {', '.join(missing)}", remedy)
        yield ResultLine(
            number, {**row, "key": row.get("key") or key_of(row["dataset"], row["strategy"], row.get("variant") or "", row["id"])}
        )


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no figure")
