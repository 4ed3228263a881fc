"""Look the pinned packages up in a database of known vulnerabilities: pip-audit, over PyPI's, else over OSV's.

    make audit

It fails where a package is vulnerable, and where a package was not looked up: no database reached, no package in the file.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

DATABASES: Final = ("pypi", "osv")
REMEDY: Final = "connect to the network, or run it where PyPI or OSV are reached; a mirror of PyPI has no vulnerabilities to tell"


def parse_report(report: Any) -> tuple[list[str], list[str], int]:
    """Return of pip-audit's report the vulnerabilities found, the packages that were not looked up, and how many were."""
    packages = report["dependencies"]
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    found = [
        f"{package['name']} {package['version']}: {one['id']}, mended in {', '.join(one['fix_versions']) or 'no version'}"
        for package in packages
        for one in package.get("vulns", ())
    ]
    return found, skipped, len(packages) - len(skipped)


def summarize_report(report: Any) -> tuple[int, str]:
    """Return the exit code and what to print of a report; None stands for a database that was not reached."""
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
    """Return pip-audit's report on the pinned packages of files; None where the database was not reached.

    Each file is audited by itself: beside one with hashes, pip-audit takes none without.
    """
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--format=json", "--progress-spinner=off", "-s", database]
    packages: list[Any] = []
    for file in files:
        done = subprocess.run([*command, "-r", str(file)], capture_output=True, text=True, check=False)
        try:
            packages += [package for package in json.loads(done.stdout)["dependencies"] if package not in packages]
        except ValueError:
            print(f"{database}: {(done.stderr.splitlines() or ['it said nothing'])[-1]}", file=sys.stderr)
            return None
    return {"dependencies": packages}


def main(files: Sequence[str]) -> int:
    """Audit files, by the first database that knows of any package."""
    report = None
    for database in DATABASES:
        report = audit([Path(file) for file in files], database)
        if report is not None and parse_report(report)[2]:
            break
    code, told = summarize_report(report)
    print(told, file=sys.stderr if code else sys.stdout)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
