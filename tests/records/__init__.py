"""All pages, lists and snapshots that are derived from the code: `make records` writes them, `test_records.py` compares them.

`prompts_page`, `settings_page` and `shapes_page` write pages of the documentation; `drawings` and `samples` say what is
drawn and rendered; `lists` has lists within other files.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ramify.studio.server.langgraph_json import configuration_text
from tests.records import lists, prompts_page, settings_page
from tests.records.drawings import DRAWN, draw, file_name
from tests.records.samples import SNAPSHOT_PROMPTS, rendered

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
    **{f"tests/snapshots/prompts/{name}.txt": partial(rendered, prompt) for name, prompt in SNAPSHOT_PROMPTS.items()},
}
"""Functions that return the content of a file. docs/shapes.md, for which all strategies answer all shapes, is not among them."""
if find_spec("ramify.lab") is not None:
    lab = import_module("ramify.lab.prompts")
    RECORDS |= {
        f"plugins/lab/tests/snapshots/{name.lower()}.txt": partial(rendered, getattr(lab, name)) for name in lab.__all__ if name.isupper()
    }
