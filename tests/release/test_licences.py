"""docs/licences.md: it lists each locked package with the licence that it states, and no licence that is not accepted."""

import re

import pytest

from release import licences
from release.lock import CUDA_LOCK, LOCK, read_lock

LISTED = dict(re.findall(r"^\| ([a-z0-9-]+) \| (.+) \|$", licences.PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def test_every_locked_package_is_listed_with_its_licence() -> None:
    locked = [*read_lock(LOCK), *read_lock(CUDA_LOCK)]
    assert [name for name in locked if name not in LISTED] == []
    stated = dict(licences.licence_rows(read_lock(LOCK)))
    assert {name: licence for name, licence in stated.items() if LISTED[name] != licence} == {}


def test_every_licence_that_is_listed_is_accepted() -> None:
    assert [name for name, licence in LISTED.items() if name != "package" and not licences.is_accepted(licence)] == []


@pytest.mark.parametrize(
    ("expression", "accepted"),
    [
        ("MIT", True),
        ("MIT AND BSD-3-Clause", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-3.0-or-later OR MIT", True),
        ("GPL-3.0-or-later", False),
        ("MIT AND GPL-2.0-only", False),
        ("GPL-2.0-only AND (MIT OR ISC)", False),
        ("UNKNOWN", False),
        ("", False),
    ],
)
def test_a_licence_is_accepted_only_by_name(expression: str, accepted: bool) -> None:
    assert licences.is_accepted(expression) is accepted
