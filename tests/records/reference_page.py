"""docs/reference.md: the settings, the prompts and the shapes of questions."""

from pathlib import Path
from typing import Final

from tests.records import prompts_section, settings_section, shapes_section

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference.md"
HEAD: Final = """# Reference

All [settings](#settings) of each strategy, the [prompts](#prompts) with their tokens, and the model calls of each
[shape of question](#shapes-of-questions). `make records` writes this page from the code.

"""


def page(shapes: str | None = None) -> str:
    """Write the page; without the shapes, which take long to ask, with those that are on it."""
    written = PAGE.read_text(encoding="utf-8").partition(SHAPES)
    return HEAD + settings_section.section() + "\n" + prompts_section.section() + "\n" + (shapes or "".join(written[1:]))


SHAPES: Final = shapes_section.HEAD.splitlines()[0]
