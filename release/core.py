"""Install the core alone, without the folder `plugins/`, to run its tests there: no plug-in may be needed.

    .venv/bin/python -m release.core

Copies the repository's files without `plugins/` to build/core, takes the plug-ins out of its pyproject.toml, and installs it into
build/core/.venv, which sees the packages of this environment, but not the ramify installed there.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final

from release.lock import ROOT

CORE: Final = ROOT / "build" / "core"
PLUGINS: Final = "plugins/"


def without_plugins(project: str) -> str:
    """Return the text of pyproject.toml without the packages, entry points and files of the plug-ins."""
    folders = dict(re.findall(rf'^"(ramify\.\w+)" = "({PLUGINS}\w+)"$', project, re.MULTILINE))
    project = re.sub(r'^\[project\.entry-points\."ramify\.\w+"\]\n(?:[^\[\n].*\n)*\n?', "", project, flags=re.MULTILINE)
    project = re.sub(rf', "{PLUGINS}[^"]*"', "", project)
    own = [line for line in project.splitlines() if not any(re.match(rf'\s*"{re.escape(name)}[".]', line) for name in folders)]
    return "\n".join(own) + "\n"


def copy_core() -> None:
    """Copy the repository's files, with changes that are not committed, without the plug-ins."""
    shutil.rmtree(CORE, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if not name.startswith(PLUGINS) and (ROOT / name).is_file():
            (CORE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, CORE / name)
    (CORE / "pyproject.toml").write_text(without_plugins((ROOT / "pyproject.toml").read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    """Copy and install the core."""
    copy_core()
    environment = CORE / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    packages = environment / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    # A line of a .pth file adds a folder without its own .pth files, one of which is that of the editable installation.
    (packages / "outer.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        environment / "bin" / "python",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--ignore-installed", "."], cwd=CORE, check=True)


if __name__ == "__main__":
    main()
