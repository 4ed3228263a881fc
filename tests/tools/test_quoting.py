"""What is written out of a text that is shown, and what stays as it is."""

import pytest

from ramify.tools.quoting import collapse_whitespace, escape_invisible, one_line

PERSIAN = "می\u200cخواهم"
HINDI = "क्\u200dष"
WRITTEN = {
    "Persian": PERSIAN,
    "Hindi": HINDI,
    "Bengali": "র\u200d\u09cdয",
    "Arabic": "العربية",
    "Hebrew": "עברית שָׁלוֹם",
    "Korean": "한국어",
    "German with a soft hyphen": "Daten\xadschutz",
    "emoji": "\U0001f469\u200d\U0001f680 \U0001f469\U0001f3fd\u200d\U0001f680 \u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3",
    "a line of a table": "a\tb\r\nc",
}
INVISIBLE = (
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    0x200E,
    0x200F,
    0x61C,
    0x200B,
    0x2060,
    0xFEFF,
    0xE0041,
    *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x2800, 0x3164, 0xFFA0),
    0,
    0x1B,
    0x7F,
    0x80,
    0x9B,
)


@pytest.mark.parametrize("language", WRITTEN)
def test_writing_that_needs_a_joiner_stays(language: str) -> None:
    assert escape_invisible(WRITTEN[language]) == WRITTEN[language]


@pytest.mark.parametrize("number", INVISIBLE, ids=hex)
def test_a_character_that_cannot_be_seen_is_written_out(number: int) -> None:
    assert escape_invisible(f"a{chr(number)}b") == f"a⟨U+{number:04X}⟩b"


@pytest.mark.parametrize(
    "text", ["a\u200c b", "\u200da", "1\u200d2", "a\u200d\u200db", "\U0001f600\ufe0f\ufe0f", " \ufe0f", "a \xad b", "\ud83d"]
)
def test_a_joiner_that_joins_nothing_is_written_out(text: str) -> None:
    assert "⟨U+" in escape_invisible(text)
    assert escape_invisible(escape_invisible(text)) == escape_invisible(text)


def test_what_is_shown_on_a_line_hides_nothing_and_what_is_stored_gains_nothing() -> None:
    text = f"{PERSIAN}\n\u202ex\x9by\x85z"
    assert one_line(text) == f"{PERSIAN} ⟨U+202E⟩x⟨U+009B⟩y z"
    assert collapse_whitespace(text) == f"{PERSIAN} \u202ex y z"
