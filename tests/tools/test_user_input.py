"""What people type: half a surrogate pair, paths that no file can have, and values longer than anybody reads."""

from pathlib import Path

import pytest

from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.index import Index
from ramify.tools.user_input import check_text, expand_path


def impossible(folder: Path) -> list[str]:
    """Paths that no file can have: too long in a part and in all, with a NUL, in a circle of links, of nobody, and in no encoding."""
    (folder / "loop").symlink_to("loop")
    within = [f"{folder}/{name}" for name in ("a" * 5000, "a/" * 3000, "nul\0", "loop", "loop/index")]
    return [*within, "~nobody-of-that-name/index", f"{folder}/half\ud800"]


def test_a_path_that_no_file_can_have_is_one_error(tmp_path: Path) -> None:
    for path in impossible(tmp_path):
        with pytest.raises(UsageError, match=r"is not a valid path \(.*\) — "):
            expand_path(path)
    assert expand_path(tmp_path / "nothing" / "here") == tmp_path / "nothing" / "here"
    assert expand_path("~") == Path.home()


def test_an_index_at_an_invalid_path_is_rejected_everywhere(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Warsaw lies on the Vistula.")
    for path in impossible(tmp_path):
        for act in (lambda path=path: Index.open(path), lambda path=path: Index.build([tmp_path / "a.txt"], path)):
            with pytest.raises(RamifyError, match=" — ") as told:
                act()
            assert len(str(told.value)) < 1000
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.txt", "loop"]


def test_a_rejected_long_value_is_truncated_in_the_message() -> None:
    told = UsageError(f"k={'1' * 100_000} and {[*range(9999)]} are \ud800 no numbers", "give numbers")
    assert len(str(told)) < 2000
    assert str(told).startswith("k=111")
    assert str(told).endswith("no numbers — give numbers")
    assert str(told).encode()
    assert str(UsageError("a " * 100, "b")) == "a " * 100 + " — b"


def test_half_a_surrogate_pair_is_no_text() -> None:
    assert check_text("Łódź 🚲") == "Łódź 🚲"
    with pytest.raises(UsageError, match=r"ud800.* is not valid UTF-8"):
        check_text("a \ud800")
