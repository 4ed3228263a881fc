"""An index in a folder is a store like any other."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ramify.tools.index.folder import write_lock
from tests.tools.index.store_contract import Location, StoreContract


class TestFolder(StoreContract):
    @pytest.fixture
    def where(self, tmp_path: Path) -> Location:
        return tmp_path / "index"

    def held_by_another(self, where: Location) -> AbstractContextManager[None]:
        return write_lock(Path(where))
