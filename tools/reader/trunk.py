"""The encoders that a reader is put on: the packaged one, and where they are downloaded the multilingual and the large one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ramify.tools.embeddings.e5 import E5, e5_layers, e5_tokenizer
from ramify.tools.embeddings.minilm import MINILM, cutting_tokenizer, minilm_layers
from ramify.tools.embeddings.mpnet import MPNET, mpnet_layers, mpnet_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from ramify.tools.embeddings.bert import Bert


@dataclass(frozen=True)
class Trunk:
    """An encoder under a reader."""

    name: str
    new_layers: "Callable[[], Bert]"
    """Makes a new copy of its layers, in 32 bits."""
    tokenizer: "Callable[[], Tokenizer]"
    """Gives the tokenizer that cuts pairs to its positions."""


SMALL: Final = Trunk(MINILM, minilm_layers, cutting_tokenizer)
MULTILINGUAL: Final = Trunk(E5, e5_layers, lambda: e5_tokenizer(cutting=True))
LARGE: Final = Trunk(MPNET, mpnet_layers, mpnet_tokenizer)
TRUNKS: Final[Mapping[str, Trunk]] = MappingProxyType({trunk.name: trunk for trunk in (SMALL, MULTILINGUAL, LARGE)})
