"""ramify doctor: check the installation."""

import typer

from ramify.studio.console.streams import err, out
from ramify.tools.quoting import one_line


def doctor_command() -> None:
    """Check everything ramify needs, with a remedy for whatever is missing. The exit code is 1 if a required component is broken."""
    from rich.table import Table
    from rich.text import Text

    from ramify.tools.checkup import run_checks

    styles = {"ok": "green", "note": "yellow", "broken": "bold red"}
    with err().status("checking …"):
        checks = list(run_checks())
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        text = Text(one_line(check.found))
        if check.remedy:
            text.append(f"\n{one_line(check.remedy)}", style="cyan")
        table.add_row(check.name, Text(check.state, style=styles[check.state]), text)
    out().print(table)
    broken = [check.name for check in checks if check.state == "broken"]
    out().print(f"broken: {', '.join(broken)}" if broken else "all required components found", style="bold")
    if broken:
        raise typer.Exit(1)
