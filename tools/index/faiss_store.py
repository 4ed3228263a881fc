"""FAISS stores that LangChain has saved, by an address such as faiss:DIR; loading one unpickles, so only where the user allows it."""

import pickle
from collections.abc import Sequence
from pathlib import Path

from langchain_core.vectorstores import VectorStore

from ramify.tools.embeddings import load_encoder
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.typed import usable

FAISS = "faiss:"
FLAG = "--allow-dangerous-deserialization"
_FILES = ("index.faiss", "index.pkl")


def is_faiss(where: str | Path) -> bool:
    """Return whether a location is the address of a FAISS store of LangChain's."""
    return isinstance(where, str) and where.startswith(FAISS)


def not_allowed(where: str | Path) -> UsageError:
    """Return the error of a FAISS store that was not allowed to be loaded."""
    what = f"{str(where)!r} is a FAISS store of LangChain: its index.pkl is a pickle, and loading a pickle can run any code that is in it"
    remedy = f"if you made it yourself, add {FLAG} to ramify ask, chat, search or mcp; in Python give the loaded store as index"
    return UsageError(what, remedy)


def allowed_stores(index: Sequence[str] | None, allowed: bool) -> list[str | VectorStore] | None:
    """Replace the addresses of FAISS stores by the stores; UsageError where loading them is not `allowed`."""
    if index is None:
        return None
    if not allowed and (refused := next(filter(is_faiss, index), None)):
        raise not_allowed(refused)
    return [load_faiss(one) if is_faiss(one) else one for one in index]


def load_faiss(where: str) -> VectorStore:
    """Load the store at faiss:DIR, made with the packaged embedding, or at faiss:DIR@EMBEDDING; this unpickles.

    IndexingError where there is none, it cannot be read, or it is of another embedding.
    """
    from langchain_community.vectorstores import FAISS as LangChainFAISS

    place = where.removeprefix(FAISS)
    folder, at, embedding = (place, "", "") if usable(place).is_dir() else place.rpartition("@")
    path = usable(folder if at else place)
    if missing := [name for name in _FILES if not (path / name).is_file()]:
        what = f"there is no FAISS store of LangChain in {str(path)!r}: {missing[0]} is missing"
        raise IndexingError(what, "name the folder that its save_local has written, as faiss:DIR or faiss:DIR@EMBEDDING")
    encoder = load_encoder(embedding or "minilm")
    try:
        store = LangChainFAISS.load_local(str(path), encoder, allow_dangerous_deserialization=True)
    except (pickle.UnpicklingError, AttributeError, EOFError, ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        what = f"the FAISS store in {str(path)!r} cannot be read ({type(error).__name__}: {error})"
        raise IndexingError(what, "save it again with the LangChain of this environment") from error
    if store.index.d != encoder.dimension:
        what = f"the FAISS store in {str(path)!r} has vectors of length {store.index.d}, {encoder.name!r} gives {encoder.dimension}"
        raise IndexingError(what, f"name the embedding that it was made with: {FAISS}{path}@EMBEDDING, such as @ollama:nomic-embed-text")
    return store
