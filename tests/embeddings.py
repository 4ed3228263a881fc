"""Embeddings for tests: words hashed into a vector, so that texts that share words are near."""

import hashlib
import re

from langchain_core.embeddings import Embeddings

SIZE = 64


class WordEmbeddings(Embeddings):
    """Embed a text by its words."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Embed one text."""
        vector = [1e-6] * SIZE
        for word in re.findall(r"\w+", text.casefold()):
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % SIZE] += 1.0
        length = sum(value * value for value in vector) ** 0.5
        return [value / length for value in vector]
