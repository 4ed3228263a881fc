"""Sentence encoders by name: the embedded one, any of sentence-transformers, Ollama's, or a LangChain object."""

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.named import load_encoder

__all__ = ["Encoder", "load_encoder"]
