"""KEY=VALUE, read."""

import pytest

from ramify.studio.console.options import merge_options, read_pairs, read_value
from ramify.tools.errors import UsageError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("0.5", 0.5),
        ("true", True),
        ("False", False),
        ("none", None),
        ("10m", "10m"),
        ('"8"', "8"),
        ("", ""),
        ('{"a": 1}', {"a": 1}),
    ],
)
def test_a_value_is_json_where_it_can_be(text: str, value: object) -> None:
    assert read_value(text) == value


def test_a_value_may_hold_an_equals_sign() -> None:
    assert read_pairs(["base_url=http://127.0.0.1/?a=b", " k = 3 "], "--set") == {"base_url": "http://127.0.0.1/?a=b", "k": 3}


def test_flags_and_pairs_are_joined() -> None:
    assert merge_options(["k=3"], model="auto", index=None) == {"k": 3, "model": "auto"}
    address = "http://127.0.0.1:9/v1"
    assert merge_options([], base_url=[address]) == merge_options([f"base_url={address}"]), "runs of both are one run"
    with pytest.raises(UsageError, match="base_url"):
        merge_options(["base_url=a"], base_url="b")
