"""What reads questions, answers and documents word by word takes any text: marks without letters, odd digits, other scripts, signs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.tools.anaphora import is_complete, is_fragment, only_extends, referring_words
from ramify.tools.identifiers import find_identifiers, is_about, missing_identifiers, names_identifier, respell
from ramify.tools.models.loose_json import close_brackets, decode_string, to_json
from ramify.tools.names import contains_name, missing_names, names_in
from ramify.tools.no_answer import is_unknown
from ramify.tools.versions import document_version

PIECES = [
    "", " ", "\n", "- ", "1. ", "| ", "\u0301", "\u0640", "\u200d", "\u00ad", "\u202e", "\ufeff",
    "\ufffd", "\x00", "É", "ß", "ŉ", "ŀ", "ﬁ", "İ", "ǆ", "²", "½", "Ⅷ", "①", "٣", "१२", "１９", "E-021",
    "v1.2.3", "2024-13-45", "31 Feb 2020", "0.", ".5", "1,000", "-", "–", "'s", "’s", "'", '"', "`",
    "Who", "he", "its", "and", "what about", "not", "never", "Yes", "No", "Ada Holt", "the",
    "version", "§", "№", "#", "서울", "에서", "東京", "の", "Ελλάς", "Москве", "القاهرة", "{", "}", "[", "]",
    ",", ":", "\\", "//", "None", "true", "?", "!", "(", ")", "…", "😀", "👩‍👩‍👧",
]  # fmt: skip
"""What texts are made of."""
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map(" ".join) | st.lists(
    st.sampled_from(PIECES), max_size=12
).map("".join)


@given(texts, texts)
def test_names(text: str, name: str) -> None:
    assert contains_name(text, name) in (True, False)
    assert set(names_in(text, [name])) <= {name}
    assert missing_names([name], [text]) in ([name], [])


@pytest.mark.parametrize("mark", ["\u0301", "\u0640", "\u0e31"])
def test_a_mark_without_a_letter_hides_no_name(mark: str) -> None:
    assert contains_name(f"It was {mark} Ada Holt who built it.", "Ada Holt")


@given(texts, texts)
def test_identifiers(question: str, text: str) -> None:
    identifiers = find_identifiers(question)
    assert {names_identifier(text, one) for one in identifiers} <= {True, False}
    assert set(missing_identifiers(question, [text])) <= {one.text for one in identifiers}
    assert is_about(identifiers, text) in (True, False, None)
    assert isinstance(respell(question, [text]), str)


@given(texts, texts)
def test_versions(name: str, text: str) -> None:
    assert isinstance(document_version({"date": text}, name), str)


@given(texts, texts)
def test_follow_ups(question: str, earlier: str) -> None:
    referring_words(question)
    for told in (is_fragment(question), is_complete(question), only_extends(question, earlier)):
        assert told in (True, False)


@given(texts)
def test_replies(reply: str) -> None:
    assert is_unknown(reply) in (True, False)
    for form in (to_json(reply), close_brackets(to_json(reply)), decode_string(reply)):
        assert isinstance(form, str)
