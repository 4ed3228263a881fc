"""Shells complete commands and options: by the protocol between the script that is installed and `ramify`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.studio.test_cli import HEAVY

COMPLETED = f"""
import atexit, sys
from ramify.studio.cli import main
atexit.register(lambda: print("heavy:", *[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr))
main()
"""


def completed(shell: str, words: str, **more: str) -> str:
    """Give what `ramify` answers a shell in which these words were typed."""
    of_shell = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))} if shell == "bash" else {"_TYPER_COMPLETE_ARGS": words}
    environment = {**os.environ, **of_shell, **more, "_RAMIFY_COMPLETE": f"complete_{shell}"}
    done = subprocess.run([sys.executable, "-c", COMPLETED], capture_output=True, text=True, env=environment, check=False)
    assert done.stderr == "heavy:\n"
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(shell: str) -> None:
    get = {"_TYPER_COMPLETE_FISH_ACTION": "get-args"} if shell == "fish" else {}
    commands, options = completed(shell, "ramify se", **get), completed(shell, "ramify ask --st", **get)
    assert "search" in commands
    assert "settings" in commands
    assert "eval" not in commands
    assert "--strategy" in options
    assert "--index" not in options


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_is_installed_for_the_shell_that_asks(tmp_path: Path) -> None:
    ramify = Path(sys.executable).with_name("ramify")
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{ramify.parent}:{os.environ['PATH']}"}
    script = """
        ramify --install-completion || exit 1
        source ~/.bashrc
        COMP_WORDS=(ramify ask --st) COMP_CWORD=2
        $(complete -p ramify | sed 's/.*-F \\([^ ]*\\).*/\\1/') ramify && echo "${COMPREPLY[@]}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.splitlines()[-1] == "--strategy --style", done
