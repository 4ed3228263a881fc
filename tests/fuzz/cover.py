"""Fuzz under coverage guidance, with atheris: `make fuzz MINUTES=n` gives each function its share of the time.

Starting each adds seconds.

An input that breaks one is kept in build/fuzz: mend what it shows, and move it to tests/fuzz/corpus/NAME.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORPUS, FOUND_FOLDER = ROOT / "tests" / "fuzz" / "corpus", ROOT / "build" / "fuzz"
MAX_INPUT_BYTES, MAX_SECONDS, MAX_MEMORY_MB = 20_000, 60, 4096
"""Of an input the bytes, and the seconds and the memory that it may take."""


def main(minutes: float, *names: str) -> int:
    """Fuzz each target in a process of its own; return 1 where one broke."""
    from tests.fuzz.targets import TARGETS

    chosen, broken = names or tuple(TARGETS), []
    FOUND_FOLDER.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        command = [sys.executable, "-m", "tests.fuzz.cover", "--", name, str(int(minutes * 60 / len(chosen)) or 1)]
        with (FOUND_FOLDER / f"{name}.log").open("w", encoding="utf-8") as log:
            code = subprocess.run(command, cwd=ROOT, stdout=log, stderr=log, check=False).returncode
        tried = re.findall(r"^#(\d+)", (FOUND_FOLDER / f"{name}.log").read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
        print(f"{name}: {'broke' if code else 'holds'} after {tried[-1] if tried else 0} inputs", flush=True)
        broken += [name] * (code != 0)
    print(f"{len(chosen) - len(broken)} of {len(chosen)} hold" + (f"; the others' inputs and logs are in {FOUND_FOLDER}" if broken else ""))
    return int(bool(broken))


def fuzz(name: str, seconds: str) -> None:
    """Fuzz one target, in this process, which that ends."""
    import atheris

    import tests.conftest  # noqa: F401  # sets the environment of the tests

    os.environ["RAMIFY_CACHE"] = tempfile.mkdtemp()
    with atheris.instrument_imports(include=["ramify"], enable_loader_override=False):
        from tests.fuzz.targets import TARGETS
    target = TARGETS[name]
    seeds = Path(tempfile.mkdtemp())
    for number, part in enumerate((*target.parts, b"".join(target.parts))):
        (seeds / str(number)).write_bytes(part[:MAX_INPUT_BYTES])
    words = ["".join(map("\\x{:02x}".format, part[:64])) for part in target.parts if part]
    (dictionary := Path(tempfile.mkdtemp()) / "words").write_text("".join(map('"{}"\n'.format, words)), encoding="ascii")
    options = {
        "max_total_time": seconds,
        "max_len": MAX_INPUT_BYTES,
        "timeout": MAX_SECONDS,
        "rss_limit_mb": MAX_MEMORY_MB,
        "dict": dictionary,
    }
    options |= {"report_slow_units": MAX_SECONDS}
    options |= {"artifact_prefix": f"{FOUND_FOLDER}/{name}-"}
    folders = [str(place) for place in (seeds, CORPUS / name) if place.is_dir()]
    atheris.Setup([sys.argv[0], *(f"-{key}={value}" for key, value in options.items()), *folders], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1] == "--":
        fuzz(*sys.argv[2:4])
    sys.exit(main(float(sys.argv[1]), *sys.argv[2:]))
