"""docs/prompts.py, as the tests use it."""

import runpy
from pathlib import Path
from typing import Any

PAGE: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "prompts.py"))
longest = PAGE["longest"]
