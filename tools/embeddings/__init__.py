"""Sentence encoders by name (`named`): the packaged one, any of sentence-transformers or a plug-in, Ollama's, or an object.

`encoder` is the interface, with the prefixes that models are trained with. `local_encoders` run in this process: those of
sentence-transformers, and the `pretrained` ones, on the layers of `bert`.
"""

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.named import load_encoder

__all__ = ["Encoder", "load_encoder"]
