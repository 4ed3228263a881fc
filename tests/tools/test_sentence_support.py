"""Whether what a sentence cites says it."""

import pytest

from ramify.tools.sentence_support import missing_facts, supported

BRIDGE = "Hollin Bridge: Hollin Bridge was designed by Edda Rask and opened in May 1852 for 12,500 crowns."


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("Hollin Bridge was designed by Edda Rask.", []),
        ("It cost 12500 crowns.", []),
        ("It opened in 1853.", ["1853"]),
        ("Hollin Bridge was designed by Ivo Brandt.", ["Ivo Brandt"]),
        ("Bridges open.", []),
        ("홀린 다리는 1852년에 열렸다.", []),
        ("홀린 다리는 1853년에 열렸다.", ["1853"]),
    ],
)
def test_names_and_numbers_must_stand_there(sentence: str, missing: list[str]) -> None:
    assert missing_facts(sentence, [BRIDGE]) == missing


@pytest.mark.parametrize(
    ("sentence", "holds"),
    [
        ("Hollin Bridge was designed by Edda Rask.", True),
        ("Hollin Bridge opened in 1852.", True),
        ("Hollin Bridge opened in 1904.", False),
        ("Trout and eels are caught by the children of the mill.", False),
    ],
)
def test_what_a_passage_says_is_supported(sentence: str, holds: bool) -> None:
    assert supported(sentence, [BRIDGE]) is holds


def test_without_a_passage_nothing_is() -> None:
    assert not supported("Hollin Bridge opened.", [])
