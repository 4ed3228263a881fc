"""The work of a reader grows as its file does."""

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import pytest
from langchain_core.documents import Document

from ramify.tools.documents._tidy import tidy_documents
from ramify.tools.documents.files import File, ReadReport
from ramify.tools.documents.readers import parse_file
from tests.counted_work import growth

SAID = "The inspector found a hairline crack near the third rivet of the left spar today."

KINDS: dict[str, Callable[[int], str | bytes]] = {
    "lines.txt": lambda size: f"{SAID}\n" * size,
    "contents.txt": lambda size: "".join(f"Chapter {number} ........ {number}\n" for number in range(size)),
    "sections.md": lambda size: "".join(f"# Part {number}\n{SAID}\n" for number in range(size)),
    "short-sections.md": lambda size: "".join(f"# Part {number}\nA short text.\n" for number in range(size)),
    "after-a-long-one.md": lambda size: f"# All\n{SAID * 20}\n" + "".join(f"## Part {number}\nA short text.\n" for number in range(size)),
    "rows.csv": lambda size: "name,text\n" + "a,some words\n" * size,
    "columns.csv": lambda size: ",".join(f"name{number}" for number in range(size)) + "\n" + "a,b\n" * size,
    "records.jsonl": lambda size: f'{{"text": "{SAID}"}}\n' * size,
    "records.json": lambda size: "[" + f'{{"text": "{SAID}"}},' * size + "{}]",
    "quotes.csv": lambda size: "name,text\n" + 'a,"some words\n' * size,
}


@pytest.mark.parametrize("name", KINDS)
def test_the_work_grows_as_the_file_does(name: str, tmp_path: Path) -> None:
    assert growth_of(tmp_path / name, KINDS[name]) < 5.5


def growth_of(path: Path, write: Callable[[int], str | bytes]) -> float:
    """Return how the work of reading a file grows with its size."""

    def read(size: int) -> None:
        content = write(size)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        assert list(parse_file(File(path, path.name, path.parent), ReadReport(), clean=True))

    return growth(read, 100)


def test_the_work_grows_as_the_pages_of_a_document_do() -> None:
    notice = f"Copyright 2020 by Acme. All rights reserved. {'Licensed under the terms of the licence without modification. ' * 6}"

    def read(size: int) -> None:
        sheets = [notice if number % 2 else SAID * 60 for number in range(size)]
        pages = [[offset, number] for number, offset in enumerate(accumulate(map(len, sheets[:-1]), initial=0), start=1)]
        document = Document("".join(sheets), id="d", metadata={"source": "d", "title": "t", "pages": pages})
        assert len(tidy_documents([document])) == size

    assert growth(read, 100) < 5.5
