"""How alike sentences are, by the packaged encoder.

An encoder's result depends a little on what else is in the batch (with bfloat16 by some 0.002). So texts that belong together are encoded
together, always the same ones, and kept as such: whoever asks, and whatever was asked before, the similarities are the same.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ramify.tools.embeddings.named import load_encoder

_KEPT = 4096


def similarities(question: str, texts: Sequence[str]) -> list[float]:
    """Give the cosine of a question with each of the texts that belong together, such as the sentences of a passage."""
    if not texts:
        return []
    return [float(value) for value in _encode(tuple(texts)) @ _encode((question,))[0]]


def similarity(one: str, other: str) -> float:
    """Give the cosine of two texts."""
    return similarities(one, [other])[0]


@lru_cache(maxsize=_KEPT)
def _encode(texts: tuple[str, ...]) -> NDArray[np.float32]:
    return load_encoder("minilm").encode_documents(texts)
