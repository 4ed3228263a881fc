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
from ramify.tools.models.gguf_header import CHAT_MODEL, Header, find
from ramify.tools.scrub import learn

if TYPE_CHECKING:
    from ramify.tools.models.model import ModelOptions

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
