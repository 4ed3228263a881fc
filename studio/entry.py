"""Entry point of `ramify`, which handles Ctrl-C and a lack of memory also while the command line is being imported."""

import errno
import os
import re
import signal

_OUT_OF_MEMORY = re.compile(
    "failed to map segment|cannot allocate memory|can't allocate memory|not enough memory|bad_alloc|unable to allocate|start new thread|"
    "error return without exception set|without setting an exception",
    re.IGNORECASE,
)
"""Messages of the loader, of torch, of NumPy, and of extensions that do not say more."""


def main() -> None:
    """Import the command line and run it; where memory runs out, exit with one line."""
    try:
        _run()
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        os.write(2, "error: there is not enough memory — close other programs, or raise the limit (`ulimit -v`)\n".encode())
        os._exit(1)  # what ends in order may need memory


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one that it comes from, is that there is no memory left."""
    while error is not None:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM or _OUT_OF_MEMORY.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


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
