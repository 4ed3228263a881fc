"""Whether what a sentence cites says it."""

import pytest

from ramify.embedded.checks.support import is_supported, missing_facts

BRIDGE = "Hollin Bridge: Hollin Bridge was designed by Edda Rask and opened in May 1852 for 12,500 crowns."


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("Hollin Bridge was designed by Edda Rask.", []),
        ("It cost 12500 crowns.", []),
        ("It opened in 1853.", ["1853"]),
        ("Hollin Bridge was designed by Ivo Brandt.", ["Ivo Brandt"]),
        ("Bridges open.", []),
        ("It opened in 1,852.", []),
        ("Die Brücke wurde von Edda Rask entworfen.", []),
        ("Die Brücke wurde 1853 eröffnet und von Edda Rask entworfen.", ["1853"]),
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
def test_a_stated_claim_is_supported(sentence: str, holds: bool) -> None:
    assert is_supported(sentence, [BRIDGE]) is holds


@pytest.mark.parametrize("written", ["1852-03-03", "3.3.1852", "1852.03.03", "March 3, 1852"])
def test_a_date_is_the_same_however_it_is_written(written: str) -> None:
    assert missing_facts("It opened on 3 March 1852.", [f"Opened: {written}"]) == []
    assert missing_facts("It opened on 4 March 1852.", [f"Opened: {written}"]) == ["4 March 1852"]


def test_without_a_passage_nothing_is() -> None:
    assert not is_supported("Hollin Bridge opened.", [])
