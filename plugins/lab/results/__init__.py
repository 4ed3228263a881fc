"""Read a run from its folder: the manifest, and the lines in groups.

`measures` aggregates lines and pairs them by question, `calibration` finds thresholds, and `export` makes training data.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ramify.lab._degraded import SYSTEM_FIELD
from ramify.lab._manifest import RUN_MANIFEST, read_run_manifest
from ramify.lab._variants import is_kind_variant
from ramify.lab.task import RESULTS, Row, row_key
from ramify.tools.errors import InputError
from ramify.tools.quoting import one_line

__all__ = ["ResultLine", "Run", "read_run"]


REQUIRED_FIELDS = ("dataset", "strategy", "id", "question")
MANIFEST_LISTS = ("variants", "strategies", "datasets")
RESUME_REMEDY = "run `ramify eval` with --out and this folder again: it resumes where it stopped"
MAX_QUOTED_CHARS = 60
_HOPS = re.compile(r"(\d+)[ -]?hop", re.IGNORECASE)
GroupKey = tuple[str, str, str]
"""Data set, strategy and variant of a group of lines."""


@dataclass(frozen=True)
class ResultLine:
    """A line of results.jsonl: its number, and its parsed row."""

    number: int
    row: Row
    file: str = RESULTS
    """Path of its file; relative to the common folder if there are several runs."""

    @property
    def group(self) -> GroupKey:
        """Return its data set, strategy and variant."""
        return self.row["dataset"], self.row["strategy"], self.row.get("variant") or ""

    @property
    def type(self) -> str:
        """Return the type of the question; empty if it has none."""
        return str(self.row.get("type") or "")

    @property
    def hops(self) -> int:
        """Return the number of hops, from the type (MuSiQue's `2hop`) or the number of gold documents; 0 if unknown."""
        match = _HOPS.match(self.type)
        return int(match[1]) if match else len(set(self.row.get("gold_documents") or ()))

    @property
    def has_retrieval_scores(self) -> bool:
        """Return whether it has retrieval scores."""
        return bool(self.row.get("retrieval"))

    @property
    def failed(self) -> bool:
        """Return whether the question failed."""
        return self.row.get("error") is not None

    @property
    def search_only(self) -> bool:
        """Return whether the question was only searched, without a model."""
        return not self.failed and not self.has_gold and not self.row.get("answer")

    @property
    def has_gold(self) -> bool:
        """Return whether there is a gold answer."""
        return self.row.get("em") is not None

    @property
    def right(self) -> bool:
        """Return whether the answer is an exact match with a gold after normalisation."""
        return not self.failed and (self.row.get("em") or 0) >= 1

    @property
    def outcome(self) -> str:
        """Return the outcome: "failed", "searched", "right", "abstained", "wrong", or "answered" if there is no gold answer."""
        if self.failed or self.search_only:
            return "failed" if self.failed else "searched"
        if self.right:
            return "right"
        return "abstained" if self.row.get("abstained") else "wrong" if self.has_gold else "answered"


@dataclass(frozen=True)
class Run:
    """A run read from its folder."""

    folder: Path
    manifest: dict[str, Any]
    lines: tuple[ResultLine, ...]
    warnings: tuple[str, ...] = ()
    degraded: tuple[ResultLine, ...] = ()
    """The lines of searches on degraded metadata, which are too many to be among the others."""

    @cached_property
    def groups(self) -> dict[GroupKey, list[ResultLine]]:
        """Return the lines by data set, strategy and variant, in the manifest's order, each in the order of its questions."""
        lines_by_group: dict[GroupKey, list[ResultLine]] = {}
        for line in self.lines:
            lines_by_group.setdefault(line.group, []).append(line)
        return {
            group: sorted(lines_by_group[group], key=lambda line: str(line.row["id"]))
            for group in sorted(lines_by_group, key=self._group_sort_key)
        }

    def _group_sort_key(self, group: GroupKey) -> tuple[Any, ...]:
        """Return the sort key of a group: its position in the manifest, unknown ones last."""
        dataset, strategy, variant = group
        variants = [(entry.get("strategy"), entry.get("variant") or "") for entry in self.manifest["variants"]]
        names = [entry.get("name") for entry in self.manifest["datasets"]]
        positions: tuple[tuple[list[Any], Any], ...] = (
            (names, dataset),
            (self.manifest["strategies"], strategy),
            (variants, (strategy, variant)),
        )
        return tuple((values.index(value) if value in values else len(values), str(value)) for values, value in positions)

    @property
    def datasets(self) -> list[str]:
        """Return the data sets that have lines."""
        return list(dict.fromkeys(dataset for dataset, _, _ in self.groups))

    @property
    def datasets_with_gold(self) -> list[str]:
        """Return the data sets that have gold answers."""
        return [dataset for dataset in self.datasets if any(line.has_gold for lines in self.of(dataset).values() for line in lines)]

    def of(self, dataset: str) -> dict[str, list[ResultLine]]:
        """Return the answered lines of a data set by strategy, without variants."""
        return {group[1]: lines for group, lines in self.answered.items() if group[0] == dataset and not group[2]}

    @cached_property
    def answered(self) -> dict[GroupKey, list[ResultLine]]:
        """Return the groups with answered lines."""
        return {group: lines for group, lines in self.groups.items() if not all(line.search_only for line in lines)}

    def unchanged_lines(self, dataset: str) -> dict[GroupKey, list[ResultLine]]:
        """Return the answered groups of unchanged strategies on each kind of index, without sweeps and ablations."""
        return {key: lines for key, lines in self.answered.items() if key[0] == dataset and (not key[2] or is_kind_variant(key[2]))}

    @cached_property
    def search_only_groups(self) -> dict[GroupKey, list[ResultLine]]:
        """Return the groups that were only searched."""
        return {group: lines for group, lines in self.groups.items() if group not in self.answered}

    def dataset_entry(self, dataset: str) -> dict[str, Any]:
        """Return the manifest's entry of a data set; empty if there is none."""
        return next((entry for entry in self.manifest["datasets"] if entry.get("name") == dataset), {})

    def counts_facts(self, dataset: str) -> bool:
        """Return whether retrieval in the data set is scored by gold sentences, as in MultiHop-RAG."""
        return bool(self.dataset_entry(dataset).get("hits_by") == "fact")


def read_run(folder: Path) -> Run:
    """Return the run of a folder; InputError if there is none, or it is invalid."""
    manifest = read_run_manifest(folder)
    if manifest is None:
        raise InputError(f"there is no {RUN_MANIFEST} in {str(folder)!r}", "name a folder written by `ramify eval --out`")
    manifest = {"strategies": [], "datasets": [], **manifest}
    if invalid := [name for name in MANIFEST_LISTS if not isinstance(manifest[name], list)]:
        what = f"{str(folder / RUN_MANIFEST)!r} is not a valid manifest of a run: it has no list {invalid[0]!r}"
        raise InputError(what, "name another folder")
    file = folder / RESULTS
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"there is no {file.name} in {str(folder)!r}", RESUME_REMEDY) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {str(file)!r} ({error})", "check the file, or run again with another --out") from error
    lines = {line.row["key"]: line for line in _parse_lines(file, text)}  # the last of each key counts
    if not lines:
        raise InputError(f"there are no results in {str(file)!r}", RESUME_REMEDY)
    degraded = {key: line for key, line in lines.items() if SYSTEM_FIELD in line.row}
    others = tuple(line for key, line in lines.items() if key not in degraded)
    warnings = []
    if incomplete := text.rpartition("\n")[2].strip():  # incomplete because the run was killed
        what = f"Line {text.count(chr(10)) + 1} of {RESULTS} was being written when the run ended, and is left out"
        warnings.append(f"{what}: {one_line(incomplete)[:MAX_QUOTED_CHARS]!r}. To complete it, {RESUME_REMEDY}.")
    return Run(folder, manifest, others, tuple(warnings), tuple(degraded.values()))


def _parse_lines(file: Path, text: str) -> Iterator[ResultLine]:
    remedy = "remove the line, or run again with another --out"
    for number, line in enumerate(text.split("\n")[:-1], 1):
        if not line.strip():
            continue
        where = f"line {number} of {str(file)!r}"
        try:
            row = json.loads(line, parse_constant=_reject_constant)
        except ValueError as error:
            raise InputError(f"{where} is not a valid result ({error}): {one_line(line)[:MAX_QUOTED_CHARS]!r}", remedy) from error
        missing = [name for name in REQUIRED_FIELDS if not isinstance(row, dict) or not isinstance(row.get(name), str)]
        if missing:
            raise InputError(f"{where} is not a valid result: it has no {', '.join(missing)}", remedy)
        yield ResultLine(
            number, {**row, "key": row.get("key") or row_key(row["dataset"], row["strategy"], row.get("variant") or "", row["id"])}
        )


def _reject_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")
