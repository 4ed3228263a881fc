"""all-mpnet-base-v2 (Song et al. 2020), the encoder of the large reader, in the cache folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from ramify.tools.embeddings.pretrained import Pretrained
from ramify.tools.errors import ModelError
from ramify.tools.new_files import cache_folder
from ramify.tools.released_weights import verify_weights

if TYPE_CHECKING:
    import torch

    from ramify.tools.embeddings.bert import Bert

MPNET: Final = "all-mpnet-base-v2"
READER_MODEL: Final = "reader"
"""The name of the model for `ramify download`."""
MPNET_FILES = {
    "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
}
"""The sha256 of each file."""
_DOWNLOAD: Final = f"run `ramify download {READER_MODEL}`"
_FIRST_POSITION: Final = 2
"""The index of the first position embedding, after that of padding."""
_RENAMED_LAYERS: Final = (
    ("attention.attn.q.", "attention.self.query."),
    ("attention.attn.k.", "attention.self.key."),
    ("attention.attn.v.", "attention.self.value."),
    ("attention.attn.o.", "attention.output.dense."),
    ("attention.LayerNorm.", "attention.output.LayerNorm."),
)
"""Parameter names of MPNet and the corresponding ones of BERT."""


class _Mpnet(Pretrained):
    name = MPNET

    def new_layers(self, dtype: "torch.dtype | None" = None) -> "Bert":
        import torch
        from safetensors.torch import load_file

        from ramify.tools.embeddings.bert import Bert, Shape

        weights = {}
        for name, weight in load_file(mpnet_file("model.safetensors")).items():
            for own, usual in _RENAMED_LAYERS:
                name = name.replace(own, usual)
            weights[name] = weight.to(dtype or torch.float32)
        positions = weights["embeddings.position_embeddings.weight"][_FIRST_POSITION:].clone()
        width = positions.shape[1]
        weights["embeddings.position_embeddings.weight"] = positions
        weights["embeddings.token_type_embeddings.weight"] = torch.zeros(1, width, dtype=positions.dtype)  # MPNet has no token types
        shape = Shape(width, layers=12, heads=12, inner=4 * width, vocabulary=30527, types=1, epsilon=1e-5, buckets=32)
        return Bert.from_weights(weights, shape)

    def tokenizer_file(self) -> Path:
        return mpnet_file("tokenizer.json")


def mpnet_folder() -> Path:
    """Return the folder of the files of all-mpnet-base-v2."""
    return cache_folder() / "models" / MPNET


def check_mpnet() -> None:
    """Raise ModelError if all-mpnet-base-v2 is not downloaded; hashes are verified when the files are read."""
    if not all((mpnet_folder() / name).is_file() for name in MPNET_FILES):
        raise ModelError(f"the model {MPNET!r} is not downloaded", _DOWNLOAD)


def mpnet_file(name: str) -> Path:
    """Return the path of a file of all-mpnet-base-v2; ModelError if it is not downloaded or modified; blocking."""
    check_mpnet()
    return verify_weights(mpnet_folder() / name, MPNET_FILES[name], MPNET, _DOWNLOAD)


ALL_MPNET: Final[Pretrained] = _Mpnet()
