"""The line that `ramify index` ends with."""

from ramify.studio.index_command import left_out


def test_the_line_counts_what_is_left_out_of_search() -> None:
    assert left_out({"contents": 310, "twin": 894}) == ", 1,204 left out of search (310 contents, 894 repeated)"
    assert left_out({}) == ""
