"""Where a Ray cluster is: on this machine alone, wherever Ray finds one, or at an address at which something answers."""

import os
import re
import socket
from importlib.util import find_spec

from ramify.tools.errors import RamifyError, UsageError

LOCAL = "local"
"""A cluster of this machine's cores, started for the work and ended with it."""
AUTO = "auto"
"""The cluster that runs on this machine, or that RAY_ADDRESS names."""
CLIENT = "ray://"
PATIENCE_S = 5.0
_PLACE = re.compile(r"(?:ray://)?(?P<host>\[[0-9a-fA-F:]+\]|[\w.-]+):(?P<port>\d{1,5})")
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
"""What a client of Ray's protocol says first; a server answers it with a frame of settings."""
_SETTINGS = 4


def check_address(address: str) -> None:
    """Refuse an address at which there can be no Ray cluster: joining one would be tried for minutes.

    UsageError where it is no address; RamifyError where Ray is not installed, or nothing of the kind answers there.
    """
    if find_spec("ray") is None:
        raise RamifyError("ray is not installed, which shares work among processes and machines", "run `pip install 'ramify-rag[ray]'`")
    if address in (LOCAL, AUTO):
        return
    place = _PLACE.fullmatch(address)
    if place is None or not 0 < int(place["port"]) < 65_536:
        raise UsageError(f"{address!r} is no address of a Ray cluster", "give local, auto, HOST:PORT or ray://HOST:PORT")
    try:
        with socket.create_connection((place["host"].strip("[]"), int(place["port"])), PATIENCE_S) as wire:
            known = bool(os.environ.get("RAY_USE_TLS")) or _answers(wire)
    except OSError as error:
        what = f"no Ray cluster answers at {address!r} ({error.strerror or error})"
        raise RamifyError(what, "see `ray status` there, or start one: `ray start --head`") from error
    if not known:
        raise RamifyError(f"what answers at {address!r} is no Ray cluster", "give the port of `ray start --head`, 6379 if none was named")


def _answers(wire: socket.socket) -> bool:
    """Tell a server of Ray's protocol from any other."""
    wire.settimeout(PATIENCE_S)
    wire.sendall(_GREETING)
    frame = wire.recv(9, socket.MSG_WAITALL)
    return len(frame) == 9 and frame[3] == _SETTINGS
