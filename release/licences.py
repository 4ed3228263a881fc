"""Write docs/licences.md: the licence of each package that ramify installs, from the packages' metadata.

    make licences

It fails if a licence is not among those accepted here: review it, then add it, or remove the package.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Final

from packaging.requirements import Requirement

from release.lock import CUDA_LOCK, LOCK, ROOT, normalize_name, read_lock

PAGE: Final = ROOT / "docs" / "licences.md"
HEAD: Final = """# Licences of the dependencies

Made by `make licences` from what the packages say of themselves; it fails on a licence that `release/licences.py` does not accept.
Ramify itself is under Apache-2.0, its weights under CC BY-SA 4.0.

Nothing that a plain install or `ramify-rag[serve]` needs is under the GPL, or under a licence that is not open source, but what torch from
PyPI brings on Linux: NVIDIA's libraries. `langgraph-api` and `langgraph-runtime-inmem` (extra `studio`) are under the Elastic License 2.0,
which does not allow to offer them to others as a service; psycopg (extra `postgres`) is under the LGPL. `BSD` stands where a package does
not say with how many clauses.
"""
NVIDIA: Final = "LicenseRef-NVIDIA"
ACCEPTED: Final = {
    *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CNRI-Python", "Elastic-2.0", "HPND", "ISC"),
    *("LGPL-3.0-only", "LGPL-3.0-or-later", "LLVM-exception", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Python-2.0"),
    *("Unlicense", "Zlib", NVIDIA),
}
EXTRAS: Final = ("eval", "gguf", "mcp", "milvus", "notebook", "openai", "postgres", "ray", "serve", "sqlite", "studio", "watch")
"""Extras for users. The packages of `inspect` and `umap` are not installed in the test environment."""
KNOWN_LICENCES: Final = {
    "colorama": "BSD-3-Clause",
    "forbiddenfruit": "GPL-3.0-or-later OR MIT",
    "httpx2-jsfetch": "BSD-3-Clause",
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",
    "pystemmer": "MIT AND BSD-3-Clause",
    "pywin32": "PSF-2.0",
    "sqlite-vec": "MIT OR Apache-2.0",
    "triton": "MIT",
    "uvloop": "MIT OR Apache-2.0",
}
"""Licences of packages that state two in words, or are not installed on Linux without CUDA."""
SPDX_NAMES: Final = {
    **dict.fromkeys(("apache 2.0", "apache 2.0 license", "apache license, version 2.0", "apache software license"), "Apache-2.0"),
    **dict.fromkeys(("bsd 3-clause license", "3-clause bsd license"), "BSD-3-Clause"),
    "bsd license": "BSD",
    **dict.fromkeys(("isc license", "isc license (iscl)"), "ISC"),
    **dict.fromkeys(("mit license", "the mit license"), "MIT"),
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    **dict.fromkeys(("psfl", "python software foundation license"), "PSF-2.0"),
}
"""SPDX identifiers of the names that packages use; "BSD" if the number of clauses is not stated."""


def find_licence(package: Distribution) -> str:
    """Return the licence in a package's metadata as an SPDX expression, the stated text if it is unknown, or ""."""
    known = package.metadata
    name = normalize_name(known["Name"])
    stated = [text for field in ("License-Expression", "License") for text in known.get_all(field) or ()]
    stated += [line.rpartition("::")[2].strip() for line in known.get_all("Classifier") or () if line.startswith("License ::")]
    for one in (KNOWN_LICENCES.get(name, ""), *stated):
        first = " ".join(one.splitlines()[0].split()) if one.strip() else ""
        if is_accepted(found := SPDX_NAMES.get(first.lower(), first)):
            return found
    return next((one.splitlines()[0] for one in stated if one.strip()), "")


def is_accepted(expression: str) -> bool:
    """Return whether an SPDX expression can be met with accepted licences only; for both AND and OR use `KNOWN_LICENCES`."""
    one_of = re.split(r"\s+OR\s+", expression)
    all_of = re.split(r"\s+(?:AND|WITH)\s+", expression)
    if len(one_of) > 1:
        return len(all_of) == 1 and any(part in ACCEPTED for part in one_of)
    return all(part in ACCEPTED for part in all_of)


def required_packages(extras: Iterable[str]) -> Iterator[str]:
    """Yield the names of the installed packages that ramify with these extras requires, directly or indirectly."""
    left, seen = [("ramify-rag", frozenset(extras))], set()
    while left:
        name, wanted = left.pop()
        try:
            requires = distribution(name).requires or ()
        except PackageNotFoundError:
            continue
        for text in requires:
            one = Requirement(text)
            key = (normalize_name(one.name), frozenset(one.extras))
            if key not in seen and any(one.marker is None or one.marker.evaluate({"extra": extra}) for extra in (*wanted, "")):
                seen.add(key)
                left.append(key)
    yield from sorted({name for name, _ in seen})


def licence_rows(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return packages with their licences; those that are neither installed nor in `KNOWN_LICENCES` are skipped."""
    found = []
    for name in names:
        try:
            found.append((name, find_licence(distribution(name))))
        except PackageNotFoundError:
            if name in KNOWN_LICENCES or name.startswith(("cuda-", "nvidia-")):
                found.append((name, KNOWN_LICENCES.get(name, NVIDIA)))
    return found


def markdown_table(found: Iterable[tuple[str, str]]) -> str:
    """Return a Markdown table of packages and licences."""
    return "| package | licence |\n|---|---|\n" + "".join(f"| {name} | {licence} |\n" for name, licence in found)


def main() -> int:
    """Write the page; return 1 if a licence is not accepted."""
    locked, cuda = licence_rows(read_lock(LOCK)), licence_rows(read_lock(CUDA_LOCK))
    others = licence_rows(name for name in required_packages(EXTRAS) if name not in read_lock(LOCK) and name not in read_lock(CUDA_LOCK))
    parts = [HEAD, f"## `ramify-rag[serve]`\n\nWhat requirements.lock names.\n\n{markdown_table(locked)}"]
    parts += [
        "## CUDA\n\nWhat torch of PyPI brings besides on Linux (requirements-cuda.lock); the CPU build needs none of it.\n\n"
        + markdown_table(cuda)
    ]
    parts += [f"## Other extras\n\n{', '.join(f'`{extra}`' for extra in EXTRAS if extra != 'serve')}.\n\n{markdown_table(others)}"]
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    refused = [f"{name}: {licence or 'none stated'}" for name, licence in (*locked, *cuda, *others) if not is_accepted(licence)]
    if refused:
        print(f"error: licences that are not accepted: {'; '.join(refused)} — review them, then add them to {__file__}", file=sys.stderr)
    return int(bool(refused))


if __name__ == "__main__":
    sys.exit(main())
