"""Install packages with uv, which takes seconds where pip takes minutes, from the sources in pip's settings, which uv does not read.

    .venv/bin/python -m release.install '.[test]'

The versions are those of constraints.txt. A requirement that begins with a dot is this project, installed in editable mode. If uv fails,
pip installs.
"""

import argparse
import ast
import os
import subprocess
import sys
from collections.abc import Mapping

FROM_PIP = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "constraint": "UV_CONSTRAINT",
    "cert": "SSL_CERT_FILE",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",  # as an environment variable: PIP_DEFAULT_TIMEOUT
}
"""Settings of pip and the corresponding environment variables of uv; pip separates values by spaces."""


def uv_settings(listed: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables for uv from `pip config list`, unless set in `environ`; PIP_… takes precedence over pip's files."""
    found: dict[str, str] = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        section, _, key = name.rpartition(".")
        if (variable := FROM_PIP.get(key)) and variable not in environ and (variable not in found or section == ":env:"):
            values = ast.literal_eval(value).split()
            found[variable] = ("," if variable == "UV_FIND_LINKS" else " ").join(values)
    if "UV_INDEX" in found:
        found.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")  # the best version of all indexes, like pip
    return found


def main() -> int:
    """Install what the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("requirements", nargs="+")
    parser.add_argument("--strict", action="store_true", help="link the files that are there now, which type checkers follow")
    given = parser.parse_args()
    wanted = [part for one in given.requirements for part in (("-e", one) if one.startswith(".") else (one,))]
    strict = ["--config-settings=editable_mode=strict"] if given.strict else []
    common = ["install", "--quiet", "-c", "constraints.txt", *strict, *wanted]
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    uv = [sys.executable, "-m", "uv", "pip", *common, "--python", sys.executable, "--reinstall-package", "ramify-rag"]
    if subprocess.run(uv, env={**os.environ, **uv_settings(listed, os.environ)}, check=False).returncode == 0:
        return 0
    print("uv could not install it: pip does, which takes minutes", file=sys.stderr)
    return subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *common], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
