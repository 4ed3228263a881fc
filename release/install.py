"""Install packages with uv, which is much faster than pip, with pip's settings, which uv does not read.

    .venv/bin/python -m release.install -e '.[test]'

The versions are those of constraints.txt.
"""

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


def main() -> None:
    """Install the packages in the arguments."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    command = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable, "--quiet", "-c", "constraints.txt", *sys.argv[1:]]
    sys.exit(subprocess.run(command, env={**os.environ, **uv_settings(listed, os.environ)}, check=False).returncode)


if __name__ == "__main__":
    main()
