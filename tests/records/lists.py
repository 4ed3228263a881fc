"""Lists of strategies within files that are written by hand: the help of `--strategy`, and the README's table."""

import re
from pathlib import Path

from ramify.graphs import STRATEGIES

ROOT = Path(__file__).parents[2]
OPTIONS, README = "studio/console/options.py", "README.md"
_TABLE = re.compile(r"(?<=\| name \| what it does \| from \|\n\|---\|---\|---\|\n)(?:\|.*\|\n)+")


def options() -> str:
    """Return the file with the options of commands, which import no strategy to name them in their help."""
    *names, last = STRATEGIES
    text = f'STRATEGY_HELP = "{", ".join(names)} or {last}."'
    return re.sub(r"^STRATEGY_HELP = .*$", text, (ROOT / OPTIONS).read_text(encoding="utf-8"), flags=re.MULTILINE)


def readme() -> str:
    """Return the README with a row for each strategy: as written there, or else with its description."""
    page = (ROOT / README).read_text(encoding="utf-8")
    [table] = _TABLE.findall(page)
    rows = {row.split("`")[1]: row.split(" | ") for row in table.splitlines()}
    written = []
    for name, strategy in STRATEGIES.items():
        label, does, _ = rows.get(name, (f"| `{name}`", strategy.description, ""))
        written.append(f"{label} | {does} | {strategy.paper or 'baseline'} |\n")
    return _TABLE.sub(lambda match: "".join(written), page)
