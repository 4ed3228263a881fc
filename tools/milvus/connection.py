"""The connection to Milvus by the address of an index: one for all of this process to a server or a file, and its errors in our words.

An address is milvus:URI/collection, or milvus:URI/collection:tenant for one of several corpora in a collection.
"""

import logging
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from ramify.tools.errors import IndexingError, RamifyError, UsageError
from ramify.tools.new_files import make_folder
from ramify.tools.scrub import learn_address, shown
from ramify.tools.typed import usable

if TYPE_CHECKING:
    from pymilvus import MilvusClient

SCHEME = "milvus:"
FORMS = (
    "write it as milvus:http://HOST:19530/COLLECTION, with a database as …/DATABASE/COLLECTION, or for a file as milvus:FILE.db/COLLECTION"
)
_NAME = re.compile(r"[A-Za-z_]\w{0,200}", re.ASCII)
_TENANT = re.compile(r"[\w.-]{1,100}", re.ASCII)
TOKEN = "MILVUS_TOKEN"
"""The environment variable with a server's token, or with user:password; in an address they may stand before the host."""
_PATIENCE_S = 10.0
_INSTALL = "run `pip install 'ramify-rag[milvus]'`"

_clients: dict[tuple[str, str], "MilvusClient"] = {}
_connecting = threading.Lock()


class Address(NamedTuple):
    """Where a corpus lies. uri: a server's, or the full path of a file."""

    uri: str
    collection: str
    database: str = ""
    tenant: str = ""

    @property
    def local(self) -> bool:
        """Return whether it is a file of this machine."""
        return "://" not in self.uri

    @property
    def where(self) -> str:
        """Write it as the command line takes it, without credentials."""
        place = "/".join(filter(None, (self.uri if self.local else shown(self.uri), self.database, self.collection)))
        return f"{SCHEME}{place}{f':{self.tenant}' if self.tenant else ''}"


def parse_address(where: str) -> Address:
    """Read an address; UsageError where it is none."""
    uri, _, name = where.removeprefix(SCHEME).rpartition("/")
    if "://" in uri:
        learn_address(uri)
    collection, several, tenant = name.partition(":")
    if not uri or not _NAME.fullmatch(collection) or (several and not _TENANT.fullmatch(tenant)):
        raise UsageError(f"{shown(where)!r} is no address of an index in Milvus", FORMS)
    if "://" not in uri:
        file = usable(uri)
        if file.suffix != ".db":
            raise UsageError(f"{uri!r} is neither a server nor a file of Milvus", FORMS)
        return Address(str(file.resolve()), collection, "", tenant)
    parts = urlsplit(uri)
    database = parts.path.strip("/")
    if parts.scheme not in ("http", "https", "tcp") or not parts.hostname or (database and not _NAME.fullmatch(database)):
        raise UsageError(f"{shown(where)!r} is no address of an index in Milvus", FORMS)
    return Address(uri.removesuffix(parts.path), collection, database, tenant)


def connect(address: Address) -> "MilvusClient":
    """Return the connection to a server or a file, the same one each time; IndexingError where there is none to be had."""
    with _connecting:
        key = (address.uri, address.database)
        if key not in _clients:
            _clients[key] = _connected(address)
        return _clients[key]


def _connected(address: Address) -> "MilvusClient":
    with milvus_errors(address):
        from pymilvus import MilvusClient

        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs what it raises, with a traceback
        if address.local:
            try:
                import milvus_lite  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: F401
            except ImportError as error:
                raise RamifyError("milvus-lite, which reads a file of Milvus, is not installed", _INSTALL) from error
            make_folder(Path(address.uri).parent)
            return MilvusClient(address.uri)
        parts = urlsplit(address.uri)
        credentials = unquote(parts.netloc.rpartition("@")[0]) or os.environ.get(TOKEN, "")
        uri = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        return MilvusClient(uri, token=credentials, db_name=address.database, timeout=_PATIENCE_S)


@contextmanager
def milvus_errors(address: Address) -> Iterator[None]:
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
        raise _indexing_error(address, error) from error


def _indexing_error(address: Address, error: Exception) -> IndexingError:
    reason = " ".join(str(getattr(error, "message", "") or error).split())[:300]
    if address.local and "Open local milvus failed" in reason:
        remedy = "close the other, or give a server's address: several processes may use that at once"
        return IndexingError(f"another process holds {address.uri!r}, or it is no file of Milvus", remedy)
    if any(sign in reason for sign in ("UNAUTHENTICATED", "auth check failure", "unauthenticated")):
        remedy = f"set {TOKEN} to its token or to user:password"
        return IndexingError(f"Milvus at {shown(address.uri)} refuses access", remedy)
    remedy = "check the address, and that the server runs" if not address.local else "check the file"
    return IndexingError(f"Milvus at {shown(address.uri)} says: {reason}", remedy)
