"""docs/shapes.md is true: every wiring answers every shape as it says."""

from tests.records import ROOT, shapes_page


def test_the_page_is_true() -> None:
    page = (ROOT / "docs" / "shapes.md").read_text(encoding="utf-8")
    assert page == shapes_page.page(), "look at what has changed, then run `make records`"
