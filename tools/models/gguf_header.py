"""The header of a GGUF file: what it says of itself, read without loading it."""

import mmap
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path

from ramify.tools.errors import ModelError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
STRING, ARRAY = 8, 9
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The format characters of `struct` for scalar types."""
MAX_NAME_BYTES = 2**16
MAX_PAIRS = 2**16
MAX_DIMENSIONS = 4

Value = str | int | float | bool


class HeaderError(ValueError):
    """A file has no valid GGUF header."""


@dataclass(frozen=True)
class Header:
    """The metadata of a GGUF file."""

    pairs: dict[str, Value]
    parameters: int = 0
    """The number of weights in the file."""

    @property
    def architecture(self) -> str:
        """Return the kind of network, such as `llama`."""
        return str(self.pairs.get("general.architecture", "unknown"))

    @property
    def kind(self) -> str:
        """Return the kind of content: `model`, `adapter`, `vocab`, …"""
        return str(self.pairs.get("general.type", "model"))

    @property
    def window(self) -> int | None:
        """Return the longest context that the model was trained for."""
        length = self.pairs.get(f"{self.architecture}.context_length")
        return length if isinstance(length, int) and length > 0 else None

    @property
    def writes(self) -> bool:
        """Return whether the file is a model that generates text, not an encoder, an image model or a part of a model."""
        pooled = f"{self.architecture}.pooling_type" in self.pairs or self.pairs.get(f"{self.architecture}.attention.causal") is False
        return self.kind == "model" and self.architecture not in ("bert", "clip") and not pooled

    @property
    def templated(self) -> bool:
        """Return whether it has a chat template."""
        return bool(self.pairs.get("tokenizer.chat_template"))


def read_header(path: Path) -> Header:
    """Return a file's header; HeaderError if it is missing or damaged, OSError if the file cannot be read."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise HeaderError("it is not a GGUF file")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                pairs, end = _pairs(data)
                return Header(pairs, _count_weights(data, end))
            except (struct.error, IndexError, UnicodeDecodeError, KeyError, OverflowError) as error:
                raise HeaderError("its header is damaged or cut off") from error


def _pairs(data: mmap.mmap) -> tuple[dict[str, Value], int]:
    """Return the values by name, without arrays, and the position after them."""
    version, _, count = struct.unpack_from("<IQQ", data, len(MAGIC))
    if version not in VERSIONS:
        raise HeaderError(f"GGUF version {version} is not supported")
    offset = len(MAGIC) + struct.calcsize("<IQQ")
    pairs = {}
    for _ in range(min(count, MAX_PAIRS)):
        name, offset = _string(data, offset, MAX_NAME_BYTES)
        (kind,) = struct.unpack_from("<I", data, offset)
        value, offset = _value(data, offset + 4, kind)
        if value is not None:
            pairs[name] = value
    return pairs, offset


def _count_weights(data: mmap.mmap, offset: int) -> int:
    """Return the sum of the tensors' sizes, from their list at a position."""
    _, tensors, _ = struct.unpack_from("<IQQ", data, len(MAGIC))
    total = 0
    for _ in range(min(tensors, MAX_PAIRS)):
        _, offset = _string(data, offset, MAX_NAME_BYTES)
        (dimensions,) = struct.unpack_from("<I", data, offset)
        total += prod(struct.unpack_from(f"<{min(dimensions, MAX_DIMENSIONS)}Q", data, offset + 4))
        offset += 4 + 8 * dimensions + 12  # the kind of its numbers, and where they are
    return total


def _value(data: mmap.mmap, offset: int, kind: int) -> tuple[Value | None, int]:
    """Return a value, None for an array, and the position after it."""
    if kind == STRING:
        return _string(data, offset, len(data))
    if kind != ARRAY:
        letter = f"<{SCALARS[kind]}"
        return struct.unpack_from(letter, data, offset)[0], offset + struct.calcsize(letter)
    within, count = struct.unpack_from("<IQ", data, offset)
    offset += struct.calcsize("<IQ")
    if within != STRING:
        return None, offset + count * struct.calcsize(f"<{SCALARS[within]}")
    length = struct.Struct("<Q")
    for _ in range(count):
        offset += 8 + length.unpack_from(data, offset)[0]
    return None, offset


def _string(data: mmap.mmap, offset: int, longest: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<Q", data, offset)
    end = offset + 8 + length
    if length > longest or end > len(data):
        raise HeaderError("its header is damaged or cut off")
    return data[offset + 8 : end].decode(), end


def load_header(path: Path, name: str, remedy: str) -> Header:
    """Return the header of a file that a user named; ModelError if it is missing, with a remedy, or cannot be read or run."""
    if not path.is_file():
        kind = "is a folder, not a file" if path.is_dir() else "is a device or a pipe, not a file" if path.exists() else "does not exist"
        raise ModelError(f"the file {name!r} {kind}", remedy)
    try:
        return read_header(path)
    except HeaderError as error:
        remedy = "use the complete .gguf file: compare its size with that at its source"
        raise ModelError(f"{name!r} cannot be run: {error}", remedy) from error
    except OSError as error:
        raise ModelError(f"{name!r} cannot be read ({error.strerror})", "check its permissions") from error
