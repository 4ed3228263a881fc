"""Check the pinned packages for known vulnerabilities with pip-audit, in PyPI's database, else in OSV's.

    make audit

It fails if a package is vulnerable, or if a package was not checked: no database was reached, or the file has no package.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

DATABASES: Final = ("pypi", "osv")
REMEDY: Final = "connect to the network, or run it where PyPI or OSV can be reached; a mirror of PyPI has no data on vulnerabilities"


def parse_report(report: Any) -> tuple[list[str], list[str], int]:
    """Return the vulnerabilities in pip-audit's report, the packages that were skipped, and the number of packages checked."""
    packages = report["dependencies"]
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    found = [
        f"{package['name']} {package['version']}: {one['id']}, fixed in {', '.join(one['fix_versions']) or 'no version'}"
        for package in packages
        for one in package.get("vulns", ())
    ]
    return found, skipped, len(packages) - len(skipped)


def summarize_report(report: Any) -> tuple[int, str]:
    """Return the exit code and the text to print for a report; None means that no database was reached."""
    if report is None:
        return 1, f"error: nothing was audited: no database of vulnerabilities was reached — {REMEDY}"
    found, skipped, audited = parse_report(report)
    if not audited:
        return 1, f"error: nothing was audited, of {len(skipped)} packages — {REMEDY}"
    lines = [*found, f"{audited} packages looked up, {len(found)} vulnerabilities"]
    if skipped:
        lines.append(f"error: not looked up: {', '.join(skipped)} — {REMEDY}")
    return int(bool(found or skipped)), "\n".join(lines)


def audit(files: Sequence[Path], database: str) -> Any:
    """Return pip-audit's report on the pinned packages of files; None if the database was not reached.

    Files are audited one by one, since pip-audit does not accept files with and without hashes together.
    """
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--format=json", "--progress-spinner=off", "-s", database]
    packages: list[Any] = []
    for file in files:
        done = subprocess.run([*command, "-r", str(file)], capture_output=True, text=True, check=False)
        try:
            packages += [package for package in json.loads(done.stdout)["dependencies"] if package not in packages]
        except ValueError:
            print(f"{database}: {(done.stderr.splitlines() or ['no output'])[-1]}", file=sys.stderr)
            return None
    return {"dependencies": packages}


def main(files: Sequence[str]) -> int:
    """Audit files with the first database that returns results."""
    report = None
    for database in DATABASES:
        report = audit([Path(file) for file in files], database)
        if report is not None and parse_report(report)[2]:
            break
    code, text = summarize_report(report)
    print(text, file=sys.stderr if code else sys.stdout)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
