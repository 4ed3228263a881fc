"""Entry point of `ramify`: handles Ctrl-C also while the command line is being imported."""

import os
import signal


def main() -> None:
    """Import the command line and run it."""
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not in what a shell runs in the background
    if heard:
        signal.signal(signal.SIGINT, _leave)  # an exception might be swallowed by whatever is importing
    from ramify.studio.cli import main as run

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _leave(*_: object) -> None:
    """End the process; nothing has been started yet."""
    os.write(2, b"error: interrupted\n")
    os._exit(130)
