"""A message of a model taken apart: what is a sentence, which numbers it names, and that nothing else is changed."""

import pytest

from ramify.agents.message import Statement, put_behind, split_message


def marked(text: str, largest: int = 3) -> str:
    """Put `«numbers»` behind each sentence."""
    statements = split_message(text, largest)
    return put_behind(text, {one: f" «{','.join(map(str, one.numbers))}»" if one.text else "" for one in statements})


def said(text: str) -> list[str]:
    return [statement.text for statement in split_message(text, 3)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is red [1]. It is blue.[2] It is old [1, 3].", "It is red. «1» It is blue. «2» It is old. «1,3»"),
        ("It is red. [1][2] It is blue. [1-3]", "It is red. «1,2» It is blue. «1,2,3»"),
        ("It was in Budapest[2] and Vienna.", "It was in Budapest and Vienna. «2»"),
        ("It is red 【1】. It is blue ［2］.", "It is red. «1» It is blue. «2»"),
        ("It is red [passage 1].", "It is red. «1»"),
        ("It is red [7].", "It is red. «»"),
        ("[1] It is red.", " It is red. «1»"),
        ("It is red.\n[1]", "It is red. «1»\n"),
        ("[1].", ""),
    ],
)
def test_numbers_are_taken_out_and_given_to_their_sentence(text: str, expected: str) -> None:
    assert marked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "`a[1]` and `x[2]`",
        "a[1] is an item",
        "x[0] = 5",
        "the interval [0, 1] is closed",
        "see [1](http://x)",
        "[the manual][1]",
        "[1]: http://example.com/a",
        "http://example.com/a[1]?x=5",
        "between [404] and more",
        "two  spaces\tand a tab",
    ],
)
def test_what_is_no_number_of_a_quotation_stays(text: str) -> None:
    statements = split_message(text, 3)
    assert put_behind(text, dict.fromkeys(statements, "")) == text


def test_code_headings_and_rules_are_no_sentences() -> None:
    text = "# Title\n\nTitle\n=====\n\n```py\nx = a[1]\n~~~\n```\n\n~~~~\n```\nno end\n~~~~\n\n---\n\n</details>\n\nIt is red."
    assert said(text) == ["It is red."]
    assert marked(text) == f"{text} «»"


@pytest.mark.parametrize("text", ["```pip install x``` installs it.\nIt is red.", "```\nIt is red.", "Text\n```\nIt is red.\n~~~"])
def test_a_fence_that_is_none_hides_nothing(text: str) -> None:
    assert "It is red." in " ".join(said(text))


def test_a_table_stays_a_table() -> None:
    text = "| Pump | Weight |\n|---|--:|\n| P7 | 31 kg [1] |\n| P8 | 5 kg |\n\nIt is red."
    assert marked(text) == "| Pump | Weight |\n|---|--:|\n| P7 | 31 kg  «1»|\n| P8 | 5 kg  «»|\n\nIt is red. «»"


def test_items_and_wrapped_lines() -> None:
    text = (
        "1. The pump in the cellar of the house at the river\n   weighs 31 kg [1].\n2. It is red.\n   - It is old.\n\n"
        "> It is quoted, and as long as lines are where they are\n> wrapped.\n\nPump: P7\nWeight: 31 kg"
    )
    assert said(text) == [
        "The pump in the cellar of the house at the river weighs 31 kg.",
        "It is red.",
        "It is old.",
        "It is quoted, and as long as lines are where they are wrapped.",
        "Pump: P7",
        "Weight: 31 kg",
    ]
    assert marked(text).startswith(
        "1. The pump in the cellar of the house at the river\n   weighs 31 kg. «1»\n2. It is red. «»\n   - It is old. «»\n\n> It is"
    )


def test_emphasis_and_tags_hide_no_end() -> None:
    text = "**The pump weighs 31 kg.** *László* wrote snake_case. <b>It is red.</b><br>It is old."
    assert said(text) == ["The pump weighs 31 kg.", "László wrote snake_case.", "It is red.", "It is old."]
    assert marked(text).startswith("**The pump weighs 31 kg.** «» *László* wrote")


def test_other_scripts() -> None:
    assert said("펌프의 무게는 31kg입니다. 빨간색입니다 [1].") == ["펌프의 무게는 31kg입니다.", "빨간색입니다."]
    assert said("北京是首都。东京也是。") == ["北京是首都。", "东京也是。"]


def test_a_long_message_takes_no_long() -> None:
    text = "The pump weighs 31 kg [1]. " * 1000 + "\n" * 20000 + "- item\n" * 1000
    assert len(split_message(text, 3)) == 2000


def test_equal_sentences_are_distinguished_by_their_places() -> None:
    first, second = split_message("It is red [1]. It is red [2].", 3)
    assert (first.text, second.text) == ("It is red.", "It is red.")
    assert isinstance(first, Statement)
    assert first != second
