"""A hierarchy build killed by SIGKILL at any point: the next run gives the file of an undisturbed build."""

from pathlib import Path

import pytest

from plugins.kinds.tests.hierarchy.manual import build_groups, dump, open_groups
from ramify.tools.index import Index
from tests.faults import fault
from tests.tools.fakes import WordEncoder
from tests.tools.index.manual import build_index, change_records, records, write
from tests.tools.killing import killed_everywhere

MISSING = change_records(records(), {"p1-3": None, "p4-9": None})


def by_chapter(folder: Path) -> None:
    """Make the hierarchy that is killed."""
    build_groups(folder)


BY_CHAPTER = f"{__name__}:{by_chapter.__name__}"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return build_index(tmp_path / "index", MISSING)


@fault(
    "processes",
    "killed while a hierarchy is built",
    sees="the index without it, or with the old one",
    kept="the index; finished groups are not built again",
    code="killed",
)
def test_a_first_build(index: Path) -> None:
    copies = killed_everywhere(index, BY_CHAPTER)
    build_groups(index)
    grown = [build_groups(copy).rebuilt_trees for copy in copies]
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
    build_groups(index)
    before = dump(index)
    more = [*MISSING, *({**record, "id": f"more-{n}"} for n, record in enumerate(records(19)[16:19]))]
    Index.build([write(index.parent / "index-documents", more)], index, WordEncoder())
    copies = killed_everywhere(index, BY_CHAPTER)
    assert any(dump(copy) == before for copy in copies)
    for copy in copies:
        open_groups(copy)
        build_groups(copy, ("chapter",))
    build_groups(index)
    assert {dump(copy) for copy in copies} == {dump(index)} != {before}
