"""Identifiers: what in a question is one, which texts name it, and which name another of its form."""

import pytest

from ramify.tools.identifiers import find_identifiers, missing_identifiers, names_identifier, respell


@pytest.mark.parametrize(
    ("question", "identifier"),
    [
        ("What does fault F307 mean?", "F307"),
        ("What does fault F-307 mean?", "F-307"),
        ("What does fault f 307 mean?", "f 307"),
        ("What does Ｆ３０７ mean?", "F307"),
        ("Who placed order 31870045?", "31870045"),
        ("Who placed order no. 8812?", "8812"),
        ("What was mended in 3.10.2?", "3.10.2"),
        ("What was mended in version 3.10?", "3.10"),
        ("What was mended in v4.2?", "4.2"),
        ("What does § 7.3 say of the deposit?", "7.3"),
        ("What does clause 7.3 say?", "7.3"),
        ("What does regulation 14.12 apply to?", "14.12"),
        ("What is shown in table 3.2?", "3.2"),
        ("Who works in room 2.14?", "2.14"),
        ("How heavy is part 40-118-7?", "40-118-7"),
        ("How heavy is the RT-450/C?", "RT-450/C"),
        ("Who owns SN-00731-B?", "SN-00731-B"),
        ("Who opened HELP-4711?", "HELP-4711"),
        ("What is CVE-2023-44120?", "CVE-2023-44120"),
        ("What is the default of idle_timeout?", "idle_timeout"),
        ("What is kept in nightly.conf?", "nightly.conf"),
        ("Which host is 10.0.3.17?", "10.0.3.17"),
        ("What does 0x8004210b mean?", "0x8004210b"),
        ("Which book is 978-1-4028-9462-6?", "978-1-4028-9462-6"),
        ("What is DIN 931 about?", "DIN 931"),
        ("How long is the Heron 16?", "Heron 16"),
        ("Whose number is 555-0173?", "555-0173"),
        ("Who works in room 12A?", "12A"),
    ],
)
def test_codes_exact_numbers_versions_clauses_and_names_are_identifiers(question: str, identifier: str) -> None:
    assert [one.text for one in find_identifiers(question)] == [identifier]


@pytest.mark.parametrize(
    "question",
    [
        "What happened in 1972?",
        "Who directed Solaris (1972 film)?",
        "What was sold in the 1990s?",
        "When was the 16 bit version sold?",
        "Is there a 16-bit version?",
        "Who came 2nd on May 6 1945?",
        "Who was born on 12 August 1898?",
        "Which town had 2,297 inhabitants in the 2010 census?",
        "Which town has 20000 inhabitants?",
        "Who won the 2019-20 season?",
        "Who reigned from 1865 to 1868?",
        "What was signed on 2024-03-01?",
        "Which river is 10km long?",
        "Is 3.5 million enough?",
        "What was 3/4 of it spent on?",
        "What begins at 10:30?",
        "Which 3 cities are named?",
        "What is the well-known name of the U.S. army?",
    ],
)
def test_years_dates_quantities_and_ordinals_are_none(question: str) -> None:
    assert find_identifiers(question) == ()


@pytest.mark.parametrize(
    ("question", "named", "others"),
    [
        (
            "What is F307?",
            ["F307", "f-307:", "F 307.", "Ｆ３０７", "(F307)", "F307–F310", "error_F307_log"],
            ["F370", "F3070", "EF307", "307"],
        ),
        ("What is 3.10.2?", ["v3.10.2", "3.10.2.", "3_10_2"], ["3.10.20", "13.10.2", "3.1.02", "3.10.2.1", "3102"]),
        ("Who placed order 31870045?", ["31870045", "PO-31870045", "#31870045", "31 870 045"], ["31870054", "131870045", "318700451"]),
        ("How heavy is RT-450?", ["RT-450", "RT450", "rt 450", "the RT-450s RT-450"], ["RT-450-B", "RT-4500", "RT-45"]),
        ("What does § 7.3 say?", ["§ 7.3 Deposit", "7.3 Deposit", "see 7.3."], ["7.31", "17.3", "7.3.1"]),
        ("What is idle_timeout?", ["idle_timeout=5", "`IDLE_TIMEOUT`"], ["idle_timeouts", "pre_idle_timeout2"]),
    ],
)
def test_an_identifier_is_exact_whatever_its_typography(question: str, named: list[str], others: list[str]) -> None:
    (identifier,) = find_identifiers(question)
    assert [text for text in named if not names_identifier(text, identifier)] == []
    assert [text for text in others if names_identifier(text, identifier)] == []


def test_an_exact_identifier_that_no_text_names_is_missing() -> None:
    assert missing_identifiers("What does F309 mean?", ["F307: open", "F390: shut"]) == ["F309"]
    assert missing_identifiers("What does F307 mean?", ["F307: open", "F390: shut"]) == []
    assert missing_identifiers("Who flew the U-2?", ["A spy plane"]) == []  # short ones may be written otherwise


def test_a_question_is_read_with_the_spelling_of_the_texts() -> None:
    assert respell("What does f-307 mean?", ["F307", "open"]) == "What does F307 mean?"
