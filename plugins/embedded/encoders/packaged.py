"""The packaged encoder: cosines of short texts, which are cached, and its layers."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.embeddings.local_encoders import WordPieceEncoder
from ramify.tools.embeddings.named import load_encoder
from ramify.tools.embeddings.pretrained import MINILM, PACKAGED_MINILM, Pretrained

if TYPE_CHECKING:
    from ramify.tools.embeddings.bert import Bert

_CACHE_SIZE = 4096


def similarities(question: str, texts: Sequence[str]) -> list[float]:
    """Return the cosines of a question and some texts, such as a passage's sentences, encoded in one batch."""
    if not texts:
        return []
    return [float(value) for value in _encode(tuple(texts)) @ _encode((question,))[0]]


def similarity(one: str, other: str) -> float:
    """Return the cosine of two texts."""
    return similarities(one, [other])[0]


@lru_cache(maxsize=_CACHE_SIZE)
def _encode(texts: tuple[str, ...]) -> Matrix:
    return load_encoder(MINILM).encode_documents(texts)


def shared_layers(pretrained: Pretrained = PACKAGED_MINILM) -> "Bert":
    """Return the layers of the packaged or multilingual encoder, shared with it in memory."""
    encoder = load_encoder(pretrained.name)
    assert isinstance(encoder, WordPieceEncoder)
    return encoder.model
