"""Build and test a release; nothing is tagged or uploaded, the commands for that are printed at the end.

    make release          # tests first; RELEASE=--no-tests leaves them out, RELEASE=--cuda installs torch as PyPI has it

From a clean tree: wheel and source distribution into dist/, the wheel built again from the source distribution and compared, both checked,
then installed by requirements.lock into an environment of their own, where the README's commands are run. Beside them lie a list of what is
installed (CycloneDX) and SHA256SUMS.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from release.lock import CUDA_LOCK, LOCK, ROOT, read_lock

DIST: Final = ROOT / "dist"
TEST_ENVIRONMENT: Final = ROOT / "build" / "fresh"
QUESTION: Final = "In which city was the inventor of the ballpoint pen born?"
INITIALIZE_PARAMS: Final = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "release", "version": "1"}}
COMMANDS: Final = (
    ("ramify ask ... --tree", ("ask", QUESTION, "--tree", "--model", "extractive"), "Budapest"),
    ("ramify index", ("index", "papers", "notes.md", "--out", "my-index"), "2 documents"),
    ("ramify ask --index", ("ask", "Who founded Arda?", "--index", "my-index", "--html", "answer.html", "--model", "extractive"), "Berka"),
    ("ramify search", ("search", "founder of Arda", "--index", "my-index", "-k", "3"), "Berka"),
    ("ramify graph", ("graph", "prune"), "retrieve"),
    ("ramify settings", ("settings", "prune"), "tau"),
    ("ramify doctor", ("doctor",), "ramify"),
    ("ramify mcp", ("mcp",), "serverInfo"),
)
"""A description of each command, its arguments, and a word of the expected output."""


class ReleaseError(RuntimeError):
    """The release cannot be made; the message is the reason."""


def run_command(*command: object, cwd: Path = ROOT, input_text: str | None = None, **environment: str) -> str:
    """Run a command and return its output; ReleaseError with the end of the output if it fails."""
    given = {**os.environ, **environment}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, input=input_text or "", env=given, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    if done.returncode:
        raise ReleaseError(f"{' '.join(map(str, command))!r} failed ({done.returncode}):\n{done.stdout[-3000:]}")
    return done.stdout


def check_tree(version: str) -> None:
    """Raise ReleaseError if the tree has changes, the version is already tagged, or the changelog does not begin with it."""
    if changed := run_command("git", "status", "--porcelain"):
        raise ReleaseError(f"the tree is not clean: commit or remove\n{changed}")
    if run_command("git", "tag", "--list", f"v{version}"):
        raise ReleaseError(f"v{version} is tagged already: raise the version in pyproject.toml")
    first = next(line for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line.startswith("## "))
    if not first.startswith(f"## {version}"):
        raise ReleaseError(f"CHANGELOG.md begins with {first!r}, not with {version}")
    print(f"clean tree; {first.removeprefix('## ')}")


def relative_links(readme: str) -> list[str]:
    """Return the links and pictures of a README with relative paths, which do not work on PyPI."""
    return re.findall(r"\]\((?!https?:|mailto:|#)([^)\s]+)\)", readme)


def check_links(project: dict[str, Any]) -> None:
    """Warn, with a remedy, if the project's page on PyPI would have no repository address or dead links."""
    if not project.get("urls"):
        print('warning: pyproject.toml has no [project.urls]: give the address of the repository, Repository = "https://..."')
    if dead := relative_links((ROOT / project["readme"]).read_text(encoding="utf-8")):
        print(f"warning: {len(dead)} of the links and pictures of {project['readme']} are dead on PyPI, {dead[0]} the first:")
        print("  put the address before them, that of the tag's files; pictures need that of the raw files")


def build_distributions() -> tuple[Path, Path]:
    """Build both distributions, compare them with their sources, and return their paths."""
    shutil.rmtree(DIST, ignore_errors=True)
    epoch = run_command("git", "log", "-1", "--format=%ct").strip()
    build = (sys.executable, "-m", "build", "--no-isolation", "--outdir")
    run_command(*build, DIST, SOURCE_DATE_EPOCH=epoch)  # the wheel from the source distribution
    (wheel,), (source,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    with TemporaryDirectory(prefix="ramify-") as folder:
        run_command(*build, folder, "--wheel", SOURCE_DATE_EPOCH=epoch)
        (again,) = Path(folder).glob("*.whl")
        if different := _contents(wheel).items() ^ _contents(again).items():
            raise ReleaseError(f"the source distribution builds another wheel: {sorted(name for name, _ in different)[:5]}")
    with tarfile.open(source) as held:
        names = {name.partition("/")[2] for name in held.getnames()}
    if missing := sorted(set(run_command("git", "ls-files", "-z").rstrip("\0").split("\0")) - names):
        raise ReleaseError(f"the source distribution lacks {missing[:5]}: add them to MANIFEST.in")
    run_command(sys.executable, "-m", "twine", "check", "--strict", wheel, source)
    print("the source distribution contains every file of the repository and builds the same wheel; twine check passed")
    return wheel, source


def _contents(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as held:
        return {name: hashlib.sha256(held.read(name)).hexdigest() for name in held.namelist()}


def install_release(wheel: Path, cuda: bool) -> Path:
    """Install a wheel with the locked packages into a new environment; return the folder of its commands."""
    run_command(sys.executable, "-m", "venv", "--clear", TEST_ENVIRONMENT)
    pip = (TEST_ENVIRONMENT / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    locks = ("-r", LOCK, "-r", CUDA_LOCK) if cuda else ("-r", LOCK)
    if not cuda:  # the CPU build, if the index has one
        run_command(*pip, "--no-deps", f"torch=={read_lock(LOCK)['torch'][0]}")
    run_command(*pip, "--require-hashes", *locks)
    run_command(*pip, "--no-deps", wheel)
    print(run_command(TEST_ENVIRONMENT / "bin" / "python", "-m", "pip", "check").strip())
    return TEST_ENVIRONMENT / "bin"


def try_commands(commands: Path) -> None:
    """Run the README's commands in an empty folder; ReleaseError if one fails or its output is unexpected."""
    with TemporaryDirectory(prefix="ramify-") as name:
        folder = Path(name)
        (folder / "papers").mkdir()
        (folder / "papers" / "arda.txt").write_text("Arda is a company. It was founded by Ida Berka in Brno in 1921.", encoding="utf-8")
        (folder / "notes.md").write_text("# Brno\n\nBrno lies on the river Svitava.", encoding="utf-8")
        for description, arguments, word in COMMANDS:
            request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE_PARAMS}) + "\n"
            printed = run_command(
                commands / "ramify", *arguments, cwd=folder, input_text=request, RAMIFY_CACHE=str(folder / "cache"), COLUMNS="200"
            )
            if word not in printed:
                raise ReleaseError(f"`{description}` does not print {word!r}:\n{printed[-3000:]}")
            print(f"{description}: {word}")


def write_checksums(version: str, wheel: Path, source: Path) -> None:
    """Write the list of installed packages, and SHA256SUMS; print sizes, sums and the remaining commands."""
    bill = DIST / f"ramify_rag-{version}.cdx.json"
    run_command(
        sys.executable,
        "-m",
        "cyclonedx_py",
        "environment",
        TEST_ENVIRONMENT / "bin" / "python",
        "--output-reproducible",
        "--output-file",
        bill,
    )
    files = (wheel, source, bill)
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (DIST / "SHA256SUMS").write_text(sums, encoding="ascii")
    for file in files:
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
    print(f"{sums}\nNow, by a person:\n  git tag --sign v{version} --message 'ramify {version}' && git push origin v{version}")
    print(f"  {Path(sys.executable).parent.relative_to(ROOT)}/twine upload dist/{wheel.name} dist/{source.name}")
    print(f"  and put {bill.name} and SHA256SUMS beside the release's notes")


def main() -> None:
    """Build the release and print the next steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--no-tests", action="store_true", help="leave out make check and make test-all")
    parser.add_argument("--cuda", action="store_true", help="install NVIDIA's libraries, too, which torch of PyPI needs on Linux")
    options = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = project["version"]
    try:
        check_tree(version)
        check_links(project)
        print("tests left out" if options.no_tests else run_command("make", "check", "test-all").splitlines()[-1])
        wheel, source = build_distributions()
        try_commands(install_release(wheel, options.cuda))
        write_checksums(version, wheel, source)
    except ReleaseError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
