"""Raised and lowered text: a raised digit never extends the number before it."""

import pytest

from ramify.formats.raised import lowered, raised


@pytest.mark.parametrize(
    ("before", "mark", "after", "line"),
    [
        ("In 1911", "1", " the", "In 1911[1] the"),
        ("lifts 10", "5", " newtons", "lifts 10^5 newtons"),
        ("2", "64", " grains", "2^64 grains"),
        ("5 × 10", "−3", " mol", "5 × 10^−3 mol"),
        ("costs 250", "2", " crowns", "costs 250[2] crowns"),
        ("1,000", "3", " days", "1,000[3] days"),
        ("see note", "4", ".", "see note[4]."),
        ("dredged.", "1", " Then", "dredged.[1] Then"),
        ("it", "1,2", " and", "it[1,2] and"),
        ("3", "rd", " grade", "3rd grade"),
        ("1", "er", " mai", "1er mai"),
        ("Acme", "TM", " pumps", "AcmeTM pumps"),
        ("Acme", "®", " pumps", "Acme® pumps"),
        ("1911", "*", " it", "1911* it"),
        ("12 m", "2", " of", "12 m^2 of"),
        ("20 kg/m", "3", ",", "20 kg/m^3,"),
        ("3 m", "2", "/s", "3 m^2/s"),
        ("built in", "2", " years", "built in[2] years"),
        ("E = mc", "2", "", "E = mc^2"),
        ("x", "n+1", "", "x^(n+1)"),
        ("2", "n", " leaves", "2^n leaves"),
        ("(a+b)", "2", " =", "(a+b)^2 ="),
        ("(1911)", "2", " it", "(1911)[2] it"),
        ("Ca", "2+", " ions", "Ca2+ ions"),
        ("SO4", "2-", " ions", "SO4^2- ions"),
        ("rate of 4.5", "a", " per cent", "rate of 4.5[a] per cent"),
        ("1", "a", " and 1b", "1a and 1b"),
        ("of ", "14", "C dating", "of 14C dating"),
        ("1", "1", "/2 cups", "1 1/2 cups"),
        ("10", "5", "3", "10^5 3"),
        ("", "1", "The crane", "[1] The crane"),
    ],
)
def test_a_raised_text_does_not_extend_what_stands_before_it(before: str, mark: str, after: str, line: str) -> None:
    assert before + raised(before, mark, False, after) + after == line


@pytest.mark.parametrize("mark", ["1", "a", "12"])
def test_the_mark_of_a_note_stands_in_brackets(mark: str) -> None:
    assert raised("1911", mark, True) == f"[{mark}]"
    assert raised("1911", f"[{mark}]", True) == f"[{mark}]"


@pytest.mark.parametrize(
    ("before", "mark", "after", "line"),
    [("H", "2", "O", "H2O"), ("Ca(OH)", "2", "", "Ca(OH)2"), ("x1", "2", "", "x1_2"), ("V", "max", "", "Vmax"), ("x", "1", "2", "x1 2")],
)
def test_a_lowered_digit_does_not_extend_a_number(before: str, mark: str, after: str, line: str) -> None:
    assert before + lowered(before, mark, after) + after == line
