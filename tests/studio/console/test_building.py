"""What is told of files that were left out of an index."""

from ramify.studio.console.building import skipped_lines
from ramify.tools.documents.readers import NO_READER


def test_short_of_verbose_what_no_reader_knows_is_summed_up_by_kind() -> None:
    skipped = [(f"{number}.png", f"{NO_READER}'.png'") for number in range(158)] + [("a.SVG", f"{NO_READER}'.SVG'"), ("x.txt", "empty")]
    assert list(skipped_lines(skipped)) == ["skipped x.txt: empty", "skipped 158 .png, 1 .svg: no reader for these"]
    assert len(list(skipped_lines(skipped, verbose=True))) == 160
    assert list(skipped_lines([(f"{number}.txt", "empty") for number in range(13)]))[-1] == "skipped 3 more; --verbose lists all"
