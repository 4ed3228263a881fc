"""Sentence encoders by name (`named`): the embedded one, any of sentence-transformers, Ollama's, or a LangChain object.

`encoder` is the interface, with the prefixes that models are trained with; `sentence_encoder` runs models in this process.
"""

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.named import load_encoder

__all__ = ["Encoder", "load_encoder"]
