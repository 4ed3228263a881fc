"""A cross-encoder of sentence-transformers, from a folder or the local hub cache: loaded once, at first use, never from the network."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ramify.tools.embeddings.sentence_encoder import quiet
from ramify.tools.errors import ModelError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_BARE = ("Model", "ForMaskedLM")
"""How the architectures end that have no head to score with: one would be made up at random."""
_loaded: dict[str, "CrossEncoder"] = {}
_loading = threading.Lock()
_scoring = threading.Lock()


def is_loaded(name: str) -> bool:
    """Tell whether a model is in memory."""
    return _canonical(name) in _loaded


def cross_encoder(name: str) -> "CrossEncoder":
    """Return the model of a name or folder, the same object each time; ModelError where it is not on this machine, or does not score."""
    name = _canonical(name)
    with _loading:
        if name not in _loaded:
            _loaded[name] = _load(name)
        return _loaded[name]


def scores(name: str, query: str, texts: Sequence[str]) -> list[float]:
    """Score texts by how far they bear on a query, the more the higher; blocking."""
    model = cross_encoder(name)
    with _scoring:  # fast tokenizers raise "Already borrowed" when two threads change padding at once
        told = model.predict([(query, text) for text in texts], show_progress_bar=False)
    return [float(score) for score in told]


def _canonical(name: str) -> str:
    path = Path(name).expanduser()
    return str(path.resolve()) if path.is_dir() else name.strip()


def _load(name: str) -> "CrossEncoder":
    import torch
    from sentence_transformers import CrossEncoder

    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        with quiet():
            _check(name)
            model: CrossEncoder = CrossEncoder(name, device=device, local_files_only=True)
    except OSError as error:
        remedy = f"download it once with `hf download {name}`, or name reader, none or a folder with a model"
        raise ModelError(f"the reranker {name!r} is not on this machine", remedy) from error
    except (ValueError, ImportError, KeyError, RuntimeError) as error:
        if isinstance(error, ModelError):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise _unfit(name, f"cannot be loaded: {reason}") from error
    if model.num_labels != 1:
        raise _unfit(name, f"gives {model.num_labels} scores, not one")
    return model


def _check(name: str) -> None:
    """Refuse a model that has no head to score with, before it is given a random one."""
    from transformers import AutoConfig

    told = AutoConfig.from_pretrained(name, local_files_only=True).architectures or ["none"]
    if told[0].endswith(_BARE):
        raise _unfit(name, f"is no cross-encoder ({told[0]})")


def _unfit(name: str, why: str) -> ModelError:
    return ModelError(f"the reranker {name!r} {why}", "name reader, none, or a cross-encoder that sentence-transformers can load")
