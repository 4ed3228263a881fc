"""Entry point of `ramify`, which handles Ctrl-C also while the command line is being imported."""

import os
import signal


def main() -> None:
    """Import the command line and run it."""
    handles_interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not so if a shell runs it in the background
    if handles_interrupts:
        signal.signal(signal.SIGINT, _exit_interrupted)  # an exception could be caught by the importing code
    from ramify.studio.cli import main as run

    if handles_interrupts:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _exit_interrupted(*_: object) -> None:
    """Exit the process, in which nothing has been started yet."""
    os.write(2, b"error: interrupted\n")
    os._exit(130)
