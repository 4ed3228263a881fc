"""All pages, lists and snapshots that are derived from the code: `make records` writes them, `test_records.py` compares them.

`prompts_page`, `settings_page` and `shapes_page` write pages of the documentation; `drawings` and `samples` say what is
drawn and rendered; `lists` has lists within other files.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ramify.prompts.decompose import DECOMPOSE_SEARCHED
from ramify.studio.server.langgraph_json import configuration_text
from tests.records import lists, prompts_page, settings_page
from tests.records.drawings import DRAWN, draw, file_name
from tests.records.samples import PROMPTS, rendered

ROOT = Path(__file__).parents[2]
SNAPSHOTS = ROOT / "tests" / "snapshots"
RECORDS: dict[str, Callable[[], str]] = {
    "docs/prompts.md": prompts_page.page,
    "docs/settings.md": settings_page.page,
    "langgraph.json": configuration_text,
    lists.OPTIONS: lists.options,
    lists.README: lists.readme,
    lists.STRATEGIES_PAGE: lists.strategies,
    **{f"tests/snapshots/drawings/{file_name(*drawn)}": partial(draw, *drawn) for drawn in DRAWN},
    **{f"{folder}/{prompt.name}.txt": partial(rendered, prompt) for folder, prompts in PROMPTS.items() for prompt in prompts},
    "tests/snapshots/prompts/decompose_searched.txt": partial(rendered, DECOMPOSE_SEARCHED),
}
"""Functions that return the content of a file. docs/shapes.md, for which all strategies answer all shapes, is not among them."""
