"""Encoders that run in this process: a pretrained one on torch alone, or any of sentence-transformers."""

import threading
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from ramify.tools.embeddings.encoder import Encoder, Matrix, Offsets, Prefixes, unit_rows
from ramify.tools.embeddings.pretrained import POSITIONS, Pretrained, load_tokenizer
from ramify.tools.errors import ModelError

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

    from ramify.tools.embeddings.bert import Bert

_SPECIAL_TOKENS = 2
_DIMENSION = 384
_BATCH_SIZE = 32
"""Texts in a batch, sorted by length."""
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
"""Names of the passage prompt in sentence-transformers models."""


class _HasDtype(Protocol):
    @property
    def dtype(self) -> object: ...


M = TypeVar("M", bound=_HasDtype)


class LocalEncoder(Encoder, Generic[M]):
    """An encoder whose model is loaded once, at first use; thread-safe."""

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._loaded: M | None = None

    @abstractmethod
    def _load(self) -> M:
        """Load the model."""

    @property
    @abstractmethod
    def _tokenizer(self) -> "Tokenizer":
        """The tokenizer without truncation and padding."""

    @property
    def model(self) -> M:
        """Return the model, loading it at first use."""
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    @property
    def loaded(self) -> bool:
        """Return whether the model is in memory."""
        return self._loaded is not None

    def load(self) -> None:
        """Load the model, or wait for the thread that is loading it."""
        _ = self.model

    @property
    def computed_in(self) -> str:
        """Return the number type of the computation; empty before the model is loaded."""
        return str(self._loaded.dtype).removeprefix("torch.") if self._loaded is not None else ""

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, special tokens not counted."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return the (start, end) of each token of each text."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False) if texts else []
        return [encoding.offsets for encoding in encodings]


class WordPieceEncoder(LocalEncoder["Bert"]):
    """A pretrained model of 384 dimensions on torch alone; vectors are the mean of the word pieces' states."""

    dimension = _DIMENSION
    max_tokens = POSITIONS - _SPECIAL_TOKENS

    def __init__(self, pretrained: Pretrained) -> None:
        super().__init__()
        self.name = pretrained.name
        self._pretrained = pretrained

    def _load(self) -> "Bert":
        device, dtype = best_device()
        return self._pretrained.new_layers(dtype).to(device)

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        return load_tokenizer(self._pretrained, truncate=False)

    @property
    def own_prefixes(self) -> Prefixes:
        """Return the prefixes that the model is trained with."""
        return Prefixes(self._pretrained.query_prefix, self._pretrained.document_prefix)

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode passages to unit vectors, shape (texts, 384)."""
        return self._encode(texts, self._pretrained.document_prefix if prefix is None else prefix)

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode questions to unit vectors, shape (texts, 384)."""
        return self._encode(texts, self._pretrained.query_prefix if prefix is None else prefix)

    def _encode(self, texts: Sequence[str], prefix: str) -> Matrix:
        import torch

        from ramify.tools.embeddings.bert import pad_batch

        model, vectors = self.model, np.empty((len(texts), _DIMENSION), dtype=np.float32)
        whole = [prefix + text for text in texts]
        pieces = [encoding.ids for encoding in load_tokenizer(self._pretrained, truncate=True).encode_batch(whole)] if whole else []
        order = sorted(range(len(pieces)), key=lambda number: -len(pieces[number]))
        with torch.inference_mode():
            for begin in range(0, len(order), _BATCH_SIZE):
                some = order[begin : begin + _BATCH_SIZE]
                ids, mask = (tensor.to(model.device) for tensor in pad_batch([pieces[number] for number in some]))
                states = model(ids, mask)[-1].float() * mask[..., None]
                vectors[some] = (states.sum(dim=1) / mask.sum(dim=1, keepdim=True)).cpu().numpy()
        return unit_rows(vectors, _DIMENSION)


class SentenceTransformerEncoder(LocalEncoder["SentenceTransformer"]):
    """A sentence-transformers model."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self._encoding = threading.Lock()

    def _load(self) -> "SentenceTransformer":
        """Load the model from disk or from the local hub cache; never from the network."""
        from sentence_transformers import SentenceTransformer

        device, dtype = best_device()
        try:
            with without_progress_bar():
                return SentenceTransformer(self.name, device=str(device), local_files_only=True, model_kwargs={"dtype": dtype})
        except OSError as error:
            remedy = f"download it once with `hf download {self.name}`, or use minilm, ollama:NAME or a folder with a model"
            raise ModelError(f"the embedding model {self.name!r} is not on this machine", remedy) from error
        except (ValueError, ImportError, KeyError, RuntimeError) as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            remedy = "use a model that sentence-transformers can load, minilm or ollama:NAME"
            raise ModelError(f"the embedding model {self.name!r} cannot be loaded: {reason}", remedy) from error

    @property
    def dimension(self) -> int:
        """Return the dimension of the vectors."""
        return int(self.model.get_embedding_dimension() or 0)

    @property
    def max_tokens(self) -> int:  # type: ignore[override]  # an attribute of the base, here known only once the model is loaded
        """Return the maximum number of tokens of a text, without special tokens."""
        return int(self.model.max_seq_length or POSITIONS) - _SPECIAL_TOKENS

    @property
    def own_prefixes(self) -> Prefixes:
        """Return the model's prompts; empty if it has none."""
        prompts = self.model.prompts
        return Prefixes(prompts.get("query") or "", next(filter(None, map(prompts.get, _DOCUMENT_PROMPTS)), ""))

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode passages with the prefix, by default the model's passage prompt, to unit vectors, shape (texts, dimension)."""
        return self._encode(self.model.encode_document, texts, prefix)

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode questions with the prefix, by default the model's query prompt, to unit vectors, shape (texts, dimension)."""
        return self._encode(self.model.encode_query, texts, prefix)

    def _encode(self, encode: Any, texts: Sequence[str], prefix: str | None) -> Matrix:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        with self._encoding:  # fast tokenizers raise "Already borrowed" when two threads change padding at once
            vectors = encode(list(texts), prompt=prefix, show_progress_bar=False, convert_to_numpy=True)
        return unit_rows(vectors, len(vectors[0]))

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(self.model.tokenizer.backend_tokenizer.to_str())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


@contextmanager
def without_progress_bar() -> Iterator[None]:
    """Disable the progress bar of transformers while loading weights."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # comes without annotations
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]  # as above


def best_device() -> "tuple[torch.device, torch.dtype]":
    """Return the device and number type: bfloat16 on processors that support it, else float32."""
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return device, torch.bfloat16 if device.type == "cpu" and cpu_has_bfloat16() else torch.float32


def cpu_has_bfloat16() -> bool:
    """Return whether the processor supports bfloat16 and torch may use it; it is twice as fast there, and slower elsewhere."""
    import torch

    if not torch.backends.cpu.get_cpu_capability().startswith("AVX512"):  # ATEN_CPU_CAPABILITY can restrict it
        return False
    info = Path("/proc/cpuinfo")
    return info.is_file() and "avx512_bf16" in info.read_text(encoding="utf-8", errors="replace")
