"""Entry point of `ramify`, which handles Ctrl-C and a lack of memory also while the command line is being imported."""

import os
import signal

from ramify.studio.console.out_of_memory import is_out_of_memory


def main() -> None:
    """Import the command line and run it; where memory runs out, exit with one line."""
    try:
        _run()
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        os.write(2, "error: there is not enough memory — close other programs, or raise the limit (`ulimit -v`)\n".encode())
        os._exit(1)  # what ends in order may need memory


def _run() -> None:
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
