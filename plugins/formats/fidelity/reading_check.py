"""Print how the reading of files compares with their raw texts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ramify.studio.console.streams import note, say
from ramify.tools.errors import UsageError
from ramify.tools.quoting import escape_invisible, one_line, pluralize

if TYPE_CHECKING:
    from ramify.formats.fidelity.comparing import Difference, ReadingCheck


def check_files(paths: Sequence[Path]) -> bool:
    """Print what is read of files and folders, and every difference without a remark; return whether there is none."""
    from ramify.formats.fidelity.comparing import check_reading
    from ramify.studio.console.building import skipped_lines
    from ramify.tools.documents.files import Skipped, existing_path, list_files
    from ramify.tools.documents.readers import NO_READER, find_reader

    if not paths:
        raise UsageError("--check-reading is without a PATH", "name files or folders to check")
    skipped: list[Skipped] = []
    checks = []
    for file in list_files([existing_path(path) for path in paths], skipped):
        if find_reader(file.path) is None:
            skipped.append((file.source, f"{NO_READER}this format"))
            continue
        check = check_reading(file.path)
        checks.append(check)
        differences = pluralize(len(check.missing) + len(check.new) + len(check.glued), "difference")
        found = f"{pluralize(check.documents, 'document')}, {pluralize(check.words, 'word')}, {differences}"
        say(f"{one_line(file.source)}: {found}")
        for line in _check_lines(check, file.path.name):
            say(f"  {line}")
    for line in skipped_lines(skipped):
        note(line)
    faulty = sum(not check.is_faithful for check in checks)
    say(f"{faulty:,} of {pluralize(len(checks), 'file')} with differences that no remark explains")
    return not faulty


def _check_lines(check: "ReadingCheck", source: str) -> Iterator[str]:
    """Yield the remarks on a file and its differences, numbers first."""
    yield from (one_line(f"skipped {name}: {reason}") for name, reason in check.skipped)
    yield from (one_line(remark if name == source else f"{name}: {remark}") for name, remark in check.remarks)
    for kind, differences in (("not read:", check.missing), ("not in the file:", check.new), ("joined or split:", check.glued)):
        for difference in sorted(differences, key=lambda one: not one.is_number):
            yield _difference_line(kind, difference)


def _difference_line(kind: str, difference: "Difference") -> str:
    noun = "number" if difference.is_number else "word"
    times = f" ({difference.times:,} times)" if difference.times > 1 else ""
    instead = f" / {difference.instead!r}" if difference.instead else ""
    place = f", {difference.place}" if difference.place else ""
    context = f": … {difference.context} …" if difference.context else ""
    return escape_invisible(one_line(f"{kind} {noun} {difference.word!r}{instead}{times}{place}{context}"))
