"""Batches of texts on their way through an encoder: here one after another; others can be many at once."""

from collections.abc import Callable, Generator, Iterable

from ramify.tools.embeddings.encoder import Encoder, Matrix

Texts = list[str]
Encoding = Callable[[Encoder, Iterable[Texts]], Generator[tuple[Texts, Matrix], None, None]]
"""Gives each batch with its vectors, in the order of the batches; what it holds for that ends with it, so close it."""


def in_turn(encoder: Encoder, batches: Iterable[Texts]) -> Generator[tuple[Texts, Matrix], None, None]:
    """Encode batches one after another."""
    for texts in batches:
        yield texts, encoder.encode_documents(texts)
