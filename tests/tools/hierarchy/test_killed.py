"""A build of a hierarchy killed by SIGKILL wherever it is: run again, it gives the very file of a build that nobody disturbed."""

from pathlib import Path

import pytest

from ramify.tools.hierarchy.hierarchy_file import HIERARCHY
from ramify.tools.index import Index
from ramify.tools.index.manifest import MANIFEST
from tests.faults import fault
from tests.tools.fakes import WordEncoder
from tests.tools.hierarchy.manual import changed, dump, grouped, indexed, records, write
from tests.tools.killing import killed_everywhere

MISSING = changed(records(), {"p1-3": None, "p4-9": None})


def by_chapter(folder: Path) -> None:
    """Make the hierarchy that is killed."""
    grouped(folder)


BY_CHAPTER = f"{__name__}:{by_chapter.__name__}"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return indexed(tmp_path / "index", MISSING)


@fault(
    "processes",
    "killed while a hierarchy is built",
    sees="the index without it, or with the old one",
    kept="the index; finished groups are not built again",
    code="killed",
)
def test_a_first_build(index: Path) -> None:
    copies = killed_everywhere(index, BY_CHAPTER, HIERARCHY, MANIFEST)
    grouped(index)
    grown = [grouped(copy).grown for copy in copies]
    assert {dump(copy) for copy in copies} == {dump(index)}
    assert 0 in grown, "what was grown before the end is not grown again"


@fault(
    "processes",
    "killed while a hierarchy is built",
    sees="the index without it, or with the old one",
    kept="the index; finished groups are not built again",
    code="killed",
)
def test_an_update(index: Path) -> None:
    grouped(index)
    before = dump(index)
    more = [*MISSING, *({**one, "id": f"more-{n}"} for n, one in enumerate(records(19)[16:19]))]
    Index.build([write(index.parent / "index-documents", more)], index, WordEncoder())
    copies = killed_everywhere(index, BY_CHAPTER, HIERARCHY, MANIFEST)
    assert any(dump(copy) == before for copy in copies)
    Index.build([index.parent / "index-documents"], copies[-1], WordEncoder())  # as `ramify index` does: its manifest was not in place
    for copy in copies:
        grouped(copy, ("chapter",))
    grouped(index)
    assert {dump(copy) for copy in copies} == {dump(index)} != {before}
