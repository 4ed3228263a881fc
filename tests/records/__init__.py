"""All pages, lists and snapshots that are derived from the code: `make records` writes them, `test_records.py` compares them.

`reference_page` writes a page of the documentation, from three sections; `drawings` and `samples` say what is
drawn and rendered; `lists` has lists within other files.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ramify.prompts.answer import CONCLUDING_ANSWER
from ramify.prompts.decide import WAYS, decide_prompt
from ramify.prompts.decompose import DECOMPOSE_SEARCHED
from ramify.studio.server.langgraph_json import configuration_text
from tests.records import lists, reference_page
from tests.records.drawings import DRAWN, draw, file_name
from tests.records.samples import PROMPTS, rendered

ROOT = Path(__file__).parents[2]
SNAPSHOTS = ROOT / "tests" / "snapshots"
RECORDS: dict[str, Callable[[], str]] = {
    "docs/reference.md": reference_page.page,
    "langgraph.json": configuration_text,
    lists.OPTIONS: lists.options,
    lists.STRATEGIES_PAGE: lists.strategies,
    **{f"tests/snapshots/drawings/{file_name(*drawn)}": partial(draw, *drawn) for drawn in DRAWN},
    **{f"{folder}/{prompt.name}.txt": partial(rendered, prompt) for folder, prompts in PROMPTS.items() for prompt in prompts},
    "tests/snapshots/prompts/decompose_searched.txt": partial(rendered, DECOMPOSE_SEARCHED),
    "tests/snapshots/prompts/answer_concluding.txt": partial(rendered, CONCLUDING_ANSWER),
    "tests/snapshots/prompts/decide_concluding.txt": partial(rendered, decide_prompt(WAYS, concludes=True)),
}
"""Functions that return the content of a file. In docs/reference.md they keep the shapes, for which all strategies answer all of them."""
