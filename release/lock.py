"""Write requirements.lock: the packages of `ramify-rag[serve]` in the versions of constraints.txt, with hashes.

    make lock

For every platform, and Python from 3.11 on. What torch needs besides on Linux, NVIDIA's libraries, is in requirements-cuda.lock, so that
the CPU build of torch can be had without. uv reads both from the package index; nothing is installed.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK, CUDA_LOCK = ROOT / "requirements.lock", ROOT / "requirements-cuda.lock"
_CUDA = ("cuda-", "nvidia-", "triton")
_UV = ("pip", "compile", "pyproject.toml", "--extra", "serve", "-c", "constraints.txt", "--universal", "--python-version", "3.11",
       "--generate-hashes", "--no-annotate", "--no-header", "--quiet")  # fmt: skip


def split_pins(text: str) -> list[str]:
    """Return the entries of a lock, each with version, platforms and hashes."""
    return [pin for pin in re.split(r"\n(?=\S)", text.rstrip()) if "==" in pin]


def read_lock(file: Path) -> dict[str, tuple[str, int]]:
    """Return the packages of a lock by normalized name: version and number of hashes."""
    found = [(re.split(r"==|[ \\]+", pin, maxsplit=2), pin.count("--hash=sha256:")) for pin in split_pins(file.read_text(encoding="utf-8"))]
    return {normalize_name(name): (version, hashes) for (name, version, *_), hashes in found}


def normalize_name(name: str) -> str:
    """Return the normalized name of a package (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> None:
    """Write both files."""
    done = subprocess.run([sys.executable, "-m", "uv", *_UV], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found = split_pins(done.stdout)
    cuda = [pin for pin in found if pin.startswith(_CUDA)]
    install = f"pip install --require-hashes -r {LOCK.name}"
    head = "# Made by `make lock`; docs/install.md says how to install with it.\n"
    LOCK.write_text(f"{head}# {install}\n" + "\n".join(pin for pin in found if pin not in cuda) + "\n", encoding="utf-8")
    CUDA_LOCK.write_text(f"{head}# {install} -r {CUDA_LOCK.name}\n" + "\n".join(cuda) + "\n", encoding="utf-8")
    for file in (LOCK, CUDA_LOCK):
        held = read_lock(file)
        print(f"{file.name}: {len(held)} packages, {sum(hashes for _, hashes in held.values())} hashes")


if __name__ == "__main__":
    main()
