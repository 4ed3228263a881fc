"""Sentence encoders by name (`named`): the embedded one, any of sentence-transformers, Ollama's, or a LangChain object.

`encoder` is the interface, with the prefixes that models are trained with; `minilm` is the embedded encoder, on the layers of `bert`;
`sentence_encoder` runs those of sentence-transformers.
"""

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.named import load_encoder

__all__ = ["Encoder", "load_encoder"]
