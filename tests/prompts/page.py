"""docs/prompts.py, as the tests use it."""

import runpy
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "prompts.md"
SCRIPT: dict[str, Any] = runpy.run_path(str(PAGE.with_suffix(".py")))
cost, longest, page = SCRIPT["cost"], SCRIPT["longest"], SCRIPT["page"]
NARROWED = [("decompose", "entities"), ("answer", "decompose", "unknown"), ("decompose",)]
"""The ways that are left in the ablations."""
