"""Duplicates after updates equal those of a new index, and only files with shared text are compared."""

import random
import sqlite3
from pathlib import Path

import pytest

from ramify.tools.index import Index, near_duplicates
from ramify.tools.index.folder import index_file
from ramify.tools.index.manifest import PASSAGES
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_duplicates import PARTS, page, prose, text

ENDINGS = ("html", "txt", "md")


def duplicates_in(folder: Path) -> list[tuple[str, str | None]]:
    """Which passages are hidden, and behind which."""
    with sqlite3.connect(index_file(folder, PASSAGES)) as database:
        return database.execute("SELECT id, twin_of FROM passages WHERE hidden = 'twin' ORDER BY id").fetchall()


def write(path: Path, parts: dict[str, str]) -> None:
    path.write_text(page(parts) if path.suffix == ".html" else text(parts), encoding="utf-8")


@pytest.mark.parametrize("seed", range(1))
def test_are_those_of_a_new_index(tmp_path: Path, seed: int) -> None:
    drawn = random.Random(seed)
    manuals = tmp_path / "manuals"
    manuals.mkdir()
    pool = {f"Part {number}": prose(number, 6) for number in range(6)}
    met = set()
    for step in range(6):
        for _ in range(6 if step == 0 else 2):
            path = manuals / f"{drawn.choice('abcd')}.{drawn.choice(ENDINGS)}"
            if path.exists() and drawn.random() < 0.3 and step:
                path.unlink()
            else:
                write(path, {name: pool[name] for name in sorted(drawn.sample(sorted(pool), drawn.randint(2, 5)))})
        Index.build([manuals], tmp_path / "index", WordEncoder())
        Index.build([manuals], tmp_path / f"new {step}", WordEncoder())
        found = duplicates_in(tmp_path / "index")
        assert found == duplicates_in(tmp_path / f"new {step}")
        met.add(tuple(found))
    assert len(met) > 3, "twins changed"


def test_only_files_that_share_something_are_compared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30, 40):
        (folder / f"apart{number}.txt").write_text(
            f"{number} " * 3 + " ".join(f"w{number}x{word}" for word in range(300)), encoding="utf-8"
        )
    index = folder.parent / "index"
    Index.build([folder], index, WordEncoder())
    before = duplicates_in(index)
    assert before
    compared: list[str] = []
    twins_in = near_duplicates._DuplicateSearch._duplicates_in

    def counting(self: near_duplicates._DuplicateSearch, number: int) -> dict[str, str]:
        compared.append(self._files[number][0].id.partition("#")[0].partition("~")[0])
        return twins_in(self, number)

    monkeypatch.setattr(near_duplicates._DuplicateSearch, "_duplicates_in", counting)
    write(folder / "pump.html", dict(list(PARTS.items())[1:]))
    Index.build([folder], index, WordEncoder())
    assert set(compared) == {"pump.html", "pump.txt", "other.txt"}
    assert len(duplicates_in(index)) < len(before)
