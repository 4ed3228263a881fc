"""Find a GGUF file, and read what it says of itself before its weights: its architecture, its window, whether it has a chat template."""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ramify.tools.errors import ModelError
from ramify.tools.models.shipped import SHIPPED, located
from ramify.tools.typed import usable

CHAT_MODEL = "take a chat model, such as an instruct model's .gguf file"
FORMS = "name a file as gguf:PATH, or gguf:smollm2"
MAGIC = b"GGUF"
VERSIONS = (2, 3)
STRING, ARRAY = 8, 9
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""struct's letter for each type that is not a string or an array."""
LONGEST_NAME = 2**16
MOST_PAIRS = 2**16

Value = str | int | float | bool


class HeaderError(ValueError):
    """The file is not in the format, or ends too early."""


@dataclass(frozen=True)
class Header:
    """What stands in front of the weights."""

    pairs: dict[str, Value]

    @property
    def architecture(self) -> str:
        """Name the kind of network, such as `llama`."""
        return str(self.pairs.get("general.architecture", "unknown"))

    @property
    def kind(self) -> str:
        """Name what the file holds: a `model`, or an `adapter`, a `vocab`, … for one."""
        return str(self.pairs.get("general.type", "model"))

    @property
    def window(self) -> int | None:
        """Give the longest context that the model was trained for."""
        told = self.pairs.get(f"{self.architecture}.context_length")
        return told if isinstance(told, int) and told > 0 else None

    @property
    def writes(self) -> bool:
        """Tell whether it is a model that writes text, and not one of vectors or images, or a part of one."""
        pooled = f"{self.architecture}.pooling_type" in self.pairs or self.pairs.get(f"{self.architecture}.attention.causal") is False
        return self.kind == "model" and self.architecture not in ("bert", "clip") and not pooled

    @property
    def templated(self) -> bool:
        """Tell whether it says how a conversation is written."""
        return bool(self.pairs.get("tokenizer.chat_template"))


def read_header(path: Path) -> Header:
    """Read a file's header; HeaderError where it is not one, OSError where it cannot be read."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise HeaderError("it is not in the format GGUF")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return Header(dict(_pairs(data)))
            except (struct.error, IndexError, UnicodeDecodeError, KeyError) as error:
                raise HeaderError("its header is damaged or cut off") from error


def _pairs(data: mmap.mmap) -> Iterator[tuple[str, Value]]:
    """Walk over the names and values; what an array holds is passed over."""
    version, _, count = struct.unpack_from("<IQQ", data, len(MAGIC))
    if version not in VERSIONS:
        raise HeaderError(f"it is in version {version} of GGUF, which is not known")
    place = len(MAGIC) + struct.calcsize("<IQQ")
    for _ in range(min(count, MOST_PAIRS)):
        name, place = _string(data, place, LONGEST_NAME)
        (kind,) = struct.unpack_from("<I", data, place)
        value, place = _value(data, place + 4, kind)
        if value is not None:
            yield name, value


def _value(data: mmap.mmap, place: int, kind: int) -> tuple[Value | None, int]:
    """Read a value, none for an array, and tell where it ends."""
    if kind == STRING:
        return _string(data, place, len(data))
    if kind != ARRAY:
        letter = f"<{SCALARS[kind]}"
        return struct.unpack_from(letter, data, place)[0], place + struct.calcsize(letter)
    within, count = struct.unpack_from("<IQ", data, place)
    place += struct.calcsize("<IQ")
    if within != STRING:
        return None, place + count * struct.calcsize(f"<{SCALARS[within]}")
    length = struct.Struct("<Q")
    for _ in range(count):
        place += 8 + length.unpack_from(data, place)[0]
    return None, place


def _string(data: mmap.mmap, place: int, longest: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<Q", data, place)
    end = place + 8 + length
    if length > longest or end > len(data):
        raise HeaderError("its header is damaged or cut off")
    return data[place + 8 : end].decode(), end


def find(name: str) -> tuple[Path, Header]:
    """Find the file that a name means, and read its header."""
    if name in SHIPPED:
        path = located(name)
    else:
        path = usable(name).resolve()
        if not path.is_file():
            kind = "is a folder, not a file" if path.is_dir() else "is not there"
            raise ModelError(f"the model file {name!r} {kind}", FORMS)
    try:
        header = read_header(path)
    except HeaderError as error:
        raise ModelError(
            f"{name!r} cannot be run: {error}", "take a model's .gguf file, whole: compare its size with that at its source"
        ) from error
    except OSError as error:
        raise ModelError(f"{name!r} cannot be read ({error.strerror})", "check its permissions") from error
    if not header.writes:
        what = f"{name!r} does not write text: it is a file of kind {header.kind!r} and architecture {header.architecture!r}"
        raise ModelError(what, CHAT_MODEL)
    return path, header
