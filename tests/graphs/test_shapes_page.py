"""The shapes in docs/reference.md are true: every wiring answers every shape as it says."""

from tests.records import ROOT, shapes_section


def test_the_page_is_true() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert page.endswith("\n\n" + shapes_section.section()), "look at what has changed, then run `make records`"
