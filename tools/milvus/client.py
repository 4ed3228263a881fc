"""The connection to a Milvus server, or to a file of milvus-lite: one for all of this process, and its errors in our words."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ramify.tools.errors import IndexingError, RamifyError
from ramify.tools.milvus.address import Address
from ramify.tools.scrub import shown

if TYPE_CHECKING:
    from pymilvus import MilvusClient

TOKEN = "MILVUS_TOKEN"
"""The environment variable with a server's token, or with user:password; in an address they may stand before the host."""
_PATIENCE_S = 10.0
_INSTALL = "run `pip install 'ramify-rag[milvus]'`"

_clients: dict[tuple[str, str], "MilvusClient"] = {}
_connecting = threading.Lock()


def connect(address: Address) -> "MilvusClient":
    """Return the connection to a server or a file, the same one each time; IndexingError where there is none to be had."""
    with _connecting:
        key = (address.uri, address.database)
        if key not in _clients:
            _clients[key] = _connected(address)
        return _clients[key]


def _connected(address: Address) -> "MilvusClient":
    with telling(address):
        from pymilvus import MilvusClient

        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs what it raises, with a traceback
        if address.local:
            return _of_file(address, MilvusClient)
        parts = urlsplit(address.uri)
        credentials = unquote(parts.netloc.rpartition("@")[0]) or os.environ.get(TOKEN, "")
        uri = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        return MilvusClient(uri, token=credentials, db_name=address.database, timeout=_PATIENCE_S)


def _of_file(address: Address, client: "type[MilvusClient]") -> "MilvusClient":
    try:
        import milvus_lite  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: F401
    except ImportError as error:
        raise RamifyError("milvus-lite, which reads a file of Milvus, is not installed", _INSTALL) from error
    Path(address.uri).parent.mkdir(parents=True, exist_ok=True)
    return client(address.uri)


@contextmanager
def telling(address: Address) -> Iterator[None]:
    """Raise what goes wrong with Milvus as an IndexingError; RamifyError where its client is missing."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it logs on stderr how often it greets a file's server; what fails is raised
    try:
        from grpc import RpcError
        from pymilvus.exceptions import MilvusException
    except ImportError as error:
        raise RamifyError("the client of Milvus is not installed", _INSTALL) from error
    try:
        yield
    except (MilvusException, RpcError) as error:
        raise _told(address, error) from error


def _told(address: Address, error: Exception) -> IndexingError:
    reason = " ".join(str(getattr(error, "message", "") or error).split())[:300]
    if address.local and "Open local milvus failed" in reason:
        remedy = "close the other, or give a server's address: several processes may use that at once"
        return IndexingError(f"another process holds {address.uri!r}, or it is no file of Milvus", remedy)
    if any(sign in reason for sign in ("UNAUTHENTICATED", "auth check failure", "unauthenticated")):
        remedy = f"set {TOKEN} to its token or to user:password"
        return IndexingError(f"Milvus at {shown(address.uri)} refuses access", remedy)
    remedy = "check the address, and that the server runs" if not address.local else "check the file"
    return IndexingError(f"Milvus at {shown(address.uri)} says: {reason}", remedy)
