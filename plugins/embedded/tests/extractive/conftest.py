"""What the tests here share."""

import pytest

from tests.tools.extractive.test_extractive import FACTS, SPLITS
from tests.tools.fake_reader import give_mind


@pytest.fixture
def mind(monkeypatch: pytest.MonkeyPatch) -> None:
    give_mind(monkeypatch, SPLITS, FACTS)
