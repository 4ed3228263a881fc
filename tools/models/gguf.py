"""Run a GGUF file with llama.cpp in this process: find it by path, in a package or downloaded, read its header, start its engine.

The engine serves OpenAI's protocol on the loopback interface, with a random key of this process.
"""

import atexit
import mmap
import os
import secrets
import signal
import socket
import struct
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from math import prod
from pathlib import Path
from stat import S_ISSOCK
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from ramify.tools.errors import ModelError, UsageError
from ramify.tools.models._model import ModelOptions
from ramify.tools.released import DOWNLOADS
from ramify.tools.scrub import register_secrets
from ramify.tools.user_input import expand_path

USE_CHAT_MODEL = "use a chat model, such as the .gguf file of an instruct model"
GGUF_NAME_FORMS = f"name a file as gguf:PATH, or one of {', '.join(DOWNLOADS)}, as in gguf:smollm2"
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
            except (struct.error, IndexError, UnicodeDecodeError, KeyError) as error:
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


def find_gguf(name: str) -> tuple[Path, Header]:
    """Return the file and header of a model's name; ModelError if it is not a model that generates text."""
    if name in DOWNLOADS:
        path = DOWNLOADS[name].path()
    else:
        path = expand_path(name).resolve()
        if not path.is_file():
            kind = "is a folder, not a file" if path.is_dir() else "does not exist"
            raise ModelError(f"the model file {name!r} {kind}", GGUF_NAME_FORMS)
    try:
        header = read_header(path)
    except HeaderError as error:
        raise ModelError(
            f"{name!r} cannot be run: {error}", "use the complete .gguf file of a model: compare its size with that at its source"
        ) from error
    except OSError as error:
        raise ModelError(f"{name!r} cannot be read ({error.strerror})", "check its permissions") from error
    if not header.writes:
        what = f"{name!r} does not generate text: it is a file of kind {header.kind!r} and architecture {header.architecture!r}"
        raise ModelError(what, USE_CHAT_MODEL)
    return path, header


GGUF_PACKAGES = ("xllamacpp", "langchain_openai")
INSTALL_GGUF = "run `pip install 'ramify-rag[gguf]'`"
GPU_CONCURRENCY = 4
"""Default number of parallel calls on a GPU; on a CPU it is one."""
CPU_BATCH_SIZE = 128
"""Batch size on a CPU, after which a cancelled call ends. On a GPU it is llama.cpp's default."""
SPIN_COUNT = "3000"
PROMPT_CACHE_MIB = 1024
"""Memory for the states of earlier prompts. llama.cpp's default of 8 GiB is filled by some fifty prompts of a model of 8 billion."""
QUIET_VERBOSITY = -1
UNTEMPLATED = "has no chat template, so ChatML is used: if its answers are wrong, use the file of an instruct model"
REPORT_PROGRESS = MappingProxyType({"return_progress": True})
"""llama.cpp's option for reports of how much of a prompt was read, as parts of a stream."""
GGUF = "gguf:"
"""The prefix of a model's name."""
ALIAS = "gguf"
"""The model's name in the protocol."""


@dataclass(frozen=True)
class EngineKey:
    """An engine's file, window and number of parallel calls; equal keys share an engine."""

    path: Path
    changed: int
    """When the file was last modified, in nanoseconds."""
    window: int
    slots: int


class Engine:
    """llama.cpp with one model loaded."""

    def __init__(self, form: EngineKey, header: Header) -> None:
        xllamacpp = import_engine()
        began = time.perf_counter()
        self.form, self.key = form, secrets.token_urlsafe(32)
        register_secrets(self.key)
        try:
            self._server: Any = xllamacpp.Server(_parameters(form, self.key))
        except (RuntimeError, ValueError) as error:
            what = f"llama.cpp cannot load {str(form.path)!r}, of architecture {header.architecture!r}"
            remedy = "compare the file's size with that at its source, `pip install -U xllamacpp`, or lower num_ctx if memory is short"
            raise ModelError(what, remedy) from error
        # If closed before its loop has started, it would never end: generate one token first, which also warms it up.
        if "choices" not in self._server.handle_completions({"prompt": " ", "max_tokens": 1}):
            raise ModelError(f"llama.cpp cannot generate text with {str(form.path)!r}", USE_CHAT_MODEL)
        self.parameters = header.parameters
        self.notice = None if header.templated else f"{form.path.name} {UNTEMPLATED}"
        self.address = f"{self._server.listening_address}/v1"
        self._loading = time.perf_counter() - began

    def take_loading_time(self) -> float:
        """Return the seconds that loading took, and 0 from the second call on."""
        taken, self._loading = self._loading, 0.0
        return taken

    def close(self) -> None:
        """Stop the engine and its calls."""
        if self._server is not None:
            _shut_connections(urlsplit(self.address).port)
            self._server = None

    def __del__(self) -> None:
        """Stop the engine when it is not referenced any more."""
        if hasattr(self, "address"):  # it was started
            self.close()


_ENGINES: WeakValueDictionary[EngineKey, Engine] = WeakValueDictionary()
_LAST_ENGINE: list[Engine] = []
"""The latest engine, cached between questions."""
_LOCK = threading.Lock()


@atexit.register
def _close_all() -> None:
    """Stop llama.cpp's threads before the process frees its memory."""
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process is ending: another Ctrl-C changes nothing
    for engine in list(_ENGINES.values()):
        engine.close()


def _shut_connections(port: int | None) -> None:
    """Shut down this process's connections to a port; llama.cpp would wait forever for a client that neither reads nor disconnects."""
    for number in map(int, os.listdir("/dev/fd") if os.path.isdir("/dev/fd") else ()):
        with suppress(OSError):
            if S_ISSOCK(os.fstat(number).st_mode):
                with socket.socket(fileno=os.dup(number)) as connection:
                    if connection.getpeername()[1:2] == (port,):
                        connection.shutdown(socket.SHUT_RDWR)


def get_engine(name: str, options: ModelOptions) -> Engine:
    """Return the engine of a file, starting it if needed; blocking. UsageError for a wrong name, ModelError for an unusable file."""
    if options.base_url:
        what = f"gguf:{name} runs in this process and has no base_url"
        raise UsageError(what, "leave base_url out, or name a server's model as openai:NAME")
    path, header = find_gguf(name)
    if lacking := missing_packages():
        raise ModelError(f"gguf:{name} needs packages that are not installed ({', '.join(lacking)})", INSTALL_GGUF)
    window = min(options.num_ctx, header.window or options.num_ctx)
    form = EngineKey(path, path.stat().st_mtime_ns, window, options.max_concurrency or (GPU_CONCURRENCY if list_gpus() else 1))
    with _LOCK:
        running = _ENGINES.get(form)
        if running is None:
            _LAST_ENGINE.clear()  # first, so that an unused engine's memory is free
            running = _ENGINES[form] = Engine(form, header)
        _LAST_ENGINE[:] = [running]
        return running


def import_engine() -> Any:
    """Import xllamacpp, whose threads then wait for one another for a short time before they sleep, unless the environment says otherwise.

    They would spin much longer, and on a machine with other work one thread's spinning delays the others: with all cores taken, a model
    writes a seventh of the tokens. OpenMP reads the variable when the first library that uses it is loaded: if torch was imported
    before, it has no effect.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)
    return import_module("xllamacpp")


def missing_packages() -> list[str]:
    """Return the required packages that are not installed."""
    return [package for package in GGUF_PACKAGES if find_spec(package) is None]


@cache
def list_gpus() -> tuple[str, ...]:
    """Return the GPUs that this build of llama.cpp can use, with their memory."""
    devices = [device for device in import_engine().get_device_info() if device["type"].name.endswith("GPU")]
    return tuple(f"{device['description']}, {device['memory_total'] / 2**30:.0f} GB" for device in devices)


def thread_count() -> int:
    """Return the number of threads in OMP_NUM_THREADS, or -1 for llama.cpp's default, one per core."""
    number = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(number) if number.isdecimal() and int(number) else -1


def _parameters(form: EngineKey, key: str) -> Any:
    """Return llama.cpp's parameters; its defaults are all layers on the GPU, prompts cached, the file's chat template."""
    parameters = import_engine().CommonParams()
    parameters.model.path, parameters.model_alias = str(form.path), [ALIAS]
    parameters.n_parallel, parameters.n_ctx = form.slots, form.slots * form.window
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = thread_count()
    parameters.cache_ram_mib = PROMPT_CACHE_MIB
    parameters.port, parameters.api_keys = 0, [key]
    parameters.ui, parameters.endpoint_slots, parameters.cors_origins = False, False, "null"
    if not list_gpus():
        parameters.n_batch = parameters.n_ubatch = CPU_BATCH_SIZE
    parameters.warmup, parameters.verbosity = False, QUIET_VERBOSITY  # loading holds the interpreter lock: do as little as possible
    return parameters
