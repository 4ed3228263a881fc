"""What the tests here share."""

import pytest

from plugins.embedded.tests.extractive.test_extractive import FACTS, SPLITS
from tests.tools.fake_reader import give_mind


@pytest.fixture
def mind(monkeypatch: pytest.MonkeyPatch) -> None:
    give_mind(monkeypatch, SPLITS, FACTS)
