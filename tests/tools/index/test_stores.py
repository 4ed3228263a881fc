"""An index in a folder is a store like any other."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ramify.tools.index import Index
from ramify.tools.index.folder import write_lock
from tests.tools.fakes import WordEncoder
from tests.tools.index.store_contract import Location, StoreContract


class TestFolder(StoreContract):
    @pytest.fixture
    def where(self, tmp_path: Path) -> Location:
        return tmp_path / "index"

    def check_half_written(self, where: Location) -> None:
        notice = Index.open(where, WordEncoder()).notice()
        assert notice is not None
        assert "stopped at" in notice
        assert "index the same documents again" in notice

    def held_by_another(self, where: Location) -> AbstractContextManager[None]:
        return write_lock(Path(where))
