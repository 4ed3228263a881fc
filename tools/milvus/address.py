"""The address of an index in Milvus: milvus:URI/collection, or milvus:URI/collection:tenant for one of several corpora in it."""

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from ramify.tools.errors import UsageError
from ramify.tools.scrub import learn_address, shown

SCHEME = "milvus:"
FORMS = (
    "write it as milvus:http://HOST:19530/COLLECTION, with a database as …/DATABASE/COLLECTION, or for a file as milvus:FILE.db/COLLECTION"
)
_NAME = re.compile(r"[A-Za-z_]\w{0,200}", re.ASCII)
_TENANT = re.compile(r"[\w.-]{1,100}", re.ASCII)


class Address(NamedTuple):
    """Where a corpus lies. uri: a server's, or the full path of a file."""

    uri: str
    collection: str
    database: str = ""
    tenant: str = ""

    @property
    def local(self) -> bool:
        """Tell whether it is a file of this machine."""
        return "://" not in self.uri

    @property
    def where(self) -> str:
        """Write it as the command line takes it, without credentials."""
        place = "/".join(filter(None, (self.uri if self.local else shown(self.uri), self.database, self.collection)))
        return f"{SCHEME}{place}{f':{self.tenant}' if self.tenant else ''}"


def read(where: str) -> Address:
    """Read an address; UsageError where it is none."""
    uri, _, name = where.removeprefix(SCHEME).rpartition("/")
    if "://" in uri:
        learn_address(uri)
    collection, several, tenant = name.partition(":")
    if not uri or not _NAME.fullmatch(collection) or (several and not _TENANT.fullmatch(tenant)):
        raise UsageError(f"{shown(where)!r} is no address of an index in Milvus", FORMS)
    if "://" in uri:
        return _of_server(where, uri, collection, tenant)
    file = Path(uri).expanduser()
    if file.suffix != ".db":
        raise UsageError(f"{uri!r} is neither a server nor a file of Milvus", FORMS)
    return Address(str(file.resolve()), collection, "", tenant)


def _of_server(where: str, uri: str, collection: str, tenant: str) -> Address:
    parts = urlsplit(uri)
    database = parts.path.strip("/")
    if parts.scheme not in ("http", "https", "tcp") or not parts.hostname or (database and not _NAME.fullmatch(database)):
        raise UsageError(f"{shown(where)!r} is no address of an index in Milvus", FORMS)
    return Address(uri.removesuffix(parts.path), collection, database, tenant)
