"""Similarity of sentences by the packaged encoder, each sentence encoded once."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_KEPT = 8192
_cache: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
_lock = threading.Lock()


def similarities(question: str, texts: Sequence[str]) -> list[float]:
    """Give the cosine of a question with each text."""
    if not texts:
        return []
    vectors = _encode([question, *texts])
    return [float(value) for value in np.stack(vectors[1:]) @ vectors[0]]


def similarity(one: str, other: str) -> float:
    """Give the cosine of two texts."""
    return similarities(one, [other])[0]


def _encode(texts: Sequence[str]) -> list[NDArray[np.float32]]:
    from ramify.tools.embeddings import load_encoder

    with _lock:
        found = {text: _cache[text] for text in texts if text in _cache}
    missing = [text for text in dict.fromkeys(texts) if text not in found]
    if missing:
        found |= zip(missing, load_encoder("minilm").encode_documents(missing), strict=True)
    with _lock:
        for text in texts:
            _cache[text] = found[text]
            _cache.move_to_end(text)
        while len(_cache) > _KEPT:
            _cache.popitem(last=False)
    return [found[text] for text in texts]
