"""Lists and drawings of strategies within files that are written by hand: the help of `--strategy`, docs/strategies.md."""

import re
from pathlib import Path

from ramify.graphs import STRATEGIES
from tests.records.drawings import draw

ROOT = Path(__file__).parents[2]
OPTIONS, STRATEGIES_PAGE = "studio/console/options.py", "docs/strategies.md"
_TABLE = re.compile(r"(?<=\| name \| what it does \| from \|\n\|---\|---\|---\|\n)(?:\|.*\|\n)+")
_MERMAID = re.compile(r"```mermaid\n.*?```", re.DOTALL)


def options() -> str:
    """Return the file with the options of commands, which import no strategy to name them in their help."""
    *names, last = STRATEGIES
    text = f'STRATEGY_HELP = "{", ".join(names)} or {last}."'
    return re.sub(r"^STRATEGY_HELP = .*$", text, (ROOT / OPTIONS).read_text(encoding="utf-8"), flags=re.MULTILINE)


def strategies() -> str:
    """Return the page of strategies, with a row for each and the drawings of those that head its columns."""
    page = _with_rows((ROOT / STRATEGIES_PAGE).read_text(encoding="utf-8"))
    heads = [name.partition(" --preset ") for name in re.findall(r"<th>(.*?)</th>", page)]
    drawings = [f"```mermaid\n{draw(name, {'preset': preset} if preset else {})}```" for name, _, preset in heads]
    blocks = _MERMAID.findall(page)
    kept = [old if old.split() == new.split() else new for old, new in zip(blocks, drawings, strict=True)]
    return _MERMAID.sub(lambda match: kept.pop(0), page)


def _with_rows(page: str) -> str:
    """Return a page with a row for each strategy in its table: as written there, or else with its description."""
    [table] = _TABLE.findall(page)
    rows = {row.split("`")[1]: row.split(" | ") for row in table.splitlines()}
    written = []
    for name, strategy in STRATEGIES.items():
        label, does, _ = rows.get(name, (f"| `{name}`", strategy.description, ""))
        written.append(f"{label} | {does} | {strategy.paper or ('baseline' if 'baseline' in strategy.description else '–')} |\n")
    return _TABLE.sub(lambda match: "".join(written), page)
