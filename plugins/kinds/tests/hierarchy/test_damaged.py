"""A damaged hierarchy: one clear error, repaired by building again."""

import shutil
from pathlib import Path

import pytest

from plugins.kinds.tests.hierarchy.manual import build_groups, build_index_with_groups, dump, open_groups
from ramify.kinds.hierarchy.hierarchy_file import HIERARCHY
from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from tests.faults import fault
from tests.tools.damage import damaged
from tests.tools.fakes import WordEncoder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build_index_with_groups(folder := tmp_path_factory.mktemp("manual") / "index")
    return folder


@fault(
    "index",
    "groups of a hierarchy missing, cut, changed or overwritten",
    sees="one error that names the command to repair it",
    kept="all passages, and the same groups after that command",
    code=1,
)
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "flipped", "rubbish", "changed"])
def test_is_one_clear_error_and_repaired_by_building_again(built: Path, tmp_path: Path, damage: str) -> None:
    documents = shutil.copytree(built.parent / "index-documents", tmp_path / "index-documents")
    folder = shutil.copytree(built, tmp_path / "index")
    content = dump(folder)
    (folder / HIERARCHY).unlink()
    if damage != "missing":
        (folder / HIERARCHY).write_bytes(damaged(content, content[100:110], b"0123456789")[damage])
    with pytest.raises(IndexingError, match=rf"{HIERARCHY} is (missing|damaged).* — run `ramify index PATH… --out .*` again"):
        open_groups(folder)
    Index.build([documents], folder, WordEncoder())
    build_groups(folder)
    assert len(open_groups(folder)) == len(open_groups(built))
    assert dump(folder) == content
