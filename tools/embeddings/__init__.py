"""Sentence encoders by name (`named`): the embedded one, any of sentence-transformers, Ollama's, or a LangChain object.

`encoder` is what an index asks of each, `prefixes` are what models are trained with; `sentence_encoder` runs them here; other tools ask the
embedded one for the `similarity` of sentences.
"""

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.named import load_encoder

__all__ = ["Encoder", "load_encoder"]
