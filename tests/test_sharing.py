"""How tests are dealt out: what shares a server stays together, what runs the small model too, all else goes where there is room."""

from pathlib import Path

from tests.sharing import REAL_FILES, SHARED_FILES, SLOW_TESTS, group_of_test


def test_the_files_and_tests_that_are_named_are_there() -> None:
    root = Path(__file__).parent.parent
    for file, _, test in (name.partition("::") for name in (*SHARED_FILES, *REAL_FILES, *SLOW_TESTS)):
        assert f"def {test}(" in (root / file).read_text(encoding="utf-8") if test else (root / file).is_file(), (file, test)


def test_a_test_is_a_group_of_its_own_unless_it_shares_something() -> None:
    assert group_of_test("tests/studio/server/guard/test_pages.py::TestPages::test_one[a]") == group_of_test(
        "tests/studio/server/guard/test_bounds.py::test_other"
    )
    assert group_of_test("tests/tools/test_smollm2.py::test_one") == group_of_test("tests/graphs/test_tor_smollm2.py::test_other")
    assert group_of_test("tests/tools/test_scrub.py::test_one[a]") != group_of_test("tests/tools/test_scrub.py::test_one[b]")
