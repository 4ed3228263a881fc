"""Encoders on torch alone: word pieces through the layers of BERT, and the mean over the pieces' states."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ramify.tools.embeddings.encoder import LocalEncoder, Matrix, Offsets, unit_rows

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

    from ramify.tools.embeddings.bert import Bert

POSITIONS = 512
SPECIAL_TOKENS = 2
WIDTH = 384
_AT_ONCE = 32
"""Texts in a batch, those of like length together."""


class PieceEncoder(LocalEncoder["Bert"]):
    """A model of 384 dimensions and 512 positions."""

    dimension = WIDTH
    max_tokens = POSITIONS - SPECIAL_TOKENS

    @abstractmethod
    def _load(self) -> "Bert":
        """Load the layers."""

    @abstractmethod
    def tokenizer(self, cutting: bool) -> "Tokenizer":
        """Return the tokenizer: one that cuts a text to the positions, or one that leaves it whole. It is shared: change nothing in it."""

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode passages to unit vectors, shape (texts, 384)."""
        return self._encode(texts, (self.own_prefixes.document if prefix is None else prefix) or "")

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode questions to unit vectors, shape (texts, 384)."""
        return self._encode(texts, (self.own_prefixes.query if prefix is None else prefix) or "")

    def _encode(self, texts: Sequence[str], prefix: str) -> Matrix:
        import torch

        model, vectors = self.model, np.empty((len(texts), WIDTH), dtype=np.float32)
        pieces = (
            [encoding.ids for encoding in self.tokenizer(cutting=True).encode_batch([prefix + text for text in texts])] if texts else []
        )
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
        return unit_rows(vectors, WIDTH)

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return where each token of each text starts and ends."""
        encodings = self.tokenizer(cutting=False).encode_batch(list(texts), add_special_tokens=False) if texts else []
        return [encoding.offsets for encoding in encodings]


def best_device() -> "tuple[torch.device, torch.dtype]":
    """Return where to compute, and in which numbers: bfloat16 on a processor that multiplies it, else 32 bits."""
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return device, torch.bfloat16 if device.type == "cpu" and cpu_has_bfloat16() else torch.float32


def open_tokenizer(path: str, cutting: bool) -> "Tokenizer":
    """Return a new tokenizer without padding; a cutting one cuts a text, or the longer one of a pair, to the positions."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_padding()
    if cutting:
        tokenizer.enable_truncation(POSITIONS, strategy="longest_first")  # a question of rare letters can be longer than a passage
    else:
        tokenizer.no_truncation()
    return tokenizer


def cpu_has_bfloat16() -> bool:
    """Return whether the processor supports bfloat16 and torch may use it: twice as fast there, and slower elsewhere."""
    import torch

    if not torch.backends.cpu.get_cpu_capability().startswith("AVX512"):  # ATEN_CPU_CAPABILITY can ask for less than there is
        return False
    info = Path("/proc/cpuinfo")
    return info.is_file() and "avx512_bf16" in info.read_text(encoding="utf-8", errors="replace")
