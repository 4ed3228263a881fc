"""Sentence encoders by name (`named`): the packaged one, the multilingual one, any of sentence-transformers, Ollama's, or an object.

`encoder` is the interface, with the prefixes that models are trained with. `local_encoders` run in this process: those of
sentence-transformers, and the `pretrained` ones, on the layers of `bert`. `four_bits` reads the weights of the multilingual one;
`mpnet_download` downloads the encoder of the larger reader.
"""

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.named import load_encoder

__all__ = ["Encoder", "load_encoder"]
