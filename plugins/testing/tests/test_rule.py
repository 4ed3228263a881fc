"""The rule by which a question is not asked again."""

from pathlib import Path

import pytest

from plugins.testing.benchmarks.random_edits import check_edits


@pytest.mark.parametrize("strategy", ["prune"])
def test_no_answer_that_random_edits_change_is_skipped(strategy: str, tmp_path: Path) -> None:
    counts = check_edits(tmp_path, edits=5, seed=1, strategy=strategy)
    assert counts.skipped == 0
    assert counts.changed, "the edits test nothing"
    assert counts.unchanged, "the rule spares nothing"
