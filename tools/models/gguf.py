"""Run a GGUF file with llama.cpp in this process: find it by path, in a package or downloaded, start its engine.

The engine serves OpenAI's protocol on the loopback interface, with a random key of this process.
"""

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
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from stat import S_ISSOCK
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from ramify.tools.errors import ModelError, UsageError
from ramify.tools.models._model import ModelOptions
from ramify.tools.models.gguf_adapter import Adapter, find_adapter, is_path
from ramify.tools.models.gguf_header import Header, load_header
from ramify.tools.released import DOWNLOADS
from ramify.tools.scrub import mask_address, register_secrets
from ramify.tools.user_input import expand_path

USE_CHAT_MODEL = "use a chat model, such as the .gguf file of an instruct model"
GGUF_NAME_FORMS = f"name a file as gguf:PATH, or one of {', '.join(DOWNLOADS)}, as in gguf:smollm2"
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


def find_gguf(name: str) -> tuple[Path, Header]:
    """Return the file and header of a model's name; ModelError if it is not a model that generates text."""
    path = DOWNLOADS[name].path() if name in DOWNLOADS else expand_path(name).resolve()
    header = load_header(path, name, GGUF_NAME_FORMS)
    if not header.writes:
        what = f"{name!r} does not generate text: it is a file of kind {header.kind!r} and architecture {header.architecture!r}"
        raise ModelError(what, USE_CHAT_MODEL)
    return path, header


def check_adapter(adapter: str, model: str) -> None:
    """Raise UsageError if the setting `adapter` names a file and the model is not run in this process."""
    if is_path(adapter) and not model.startswith(GGUF):
        what = f"adapter={adapter!r} is loaded for gguf: models only, not for {mask_address(model)!r}"
        remedy = "load it where the model runs (Ollama: ADAPTER in its Modelfile, vLLM: --lora-modules), and name that model; omit adapter"
        raise UsageError(what, remedy)


@dataclass(frozen=True)
class EngineKey:
    """An engine's file, window, number of parallel calls and adapter; equal keys share an engine.

    An engine has one adapter or none: llama.cpp could switch one for each call, but what it keeps of earlier prompts would be mixed.
    """

    path: Path
    changed: int
    """When the file was last modified, in nanoseconds."""
    window: int
    slots: int
    adapter: Adapter | None = None


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
            if form.adapter:
                what = f"{what}, with {form.adapter}"
                remedy = "use a complete adapter that was trained for this model, or --set adapter=off"
            raise ModelError(what, remedy) from error
        # If closed before its loop has started, it would never end: generate one token first, which also warms it up.
        if "choices" not in self._server.handle_completions({"prompt": " ", "max_tokens": 1}):
            raise ModelError(f"llama.cpp cannot generate text with {str(form.path)!r}", USE_CHAT_MODEL)
        self.parameters = header.parameters
        untemplated = [] if header.templated else [f"{form.path.name} {UNTEMPLATED}"]
        adapted = [f"{form.path.name} answers with the adapter {form.adapter.title!r}: --set adapter=off omits it"] if form.adapter else []
        self.notices = (*untemplated, *adapted)
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
    slots = options.max_concurrency or (GPU_CONCURRENCY if list_gpus() else 1)
    form = EngineKey(path, path.stat().st_mtime_ns, window, slots, find_adapter(options.adapter, name, header.architecture))
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
    if form.adapter:
        parameters.lora_adapters = [import_engine().CommonAdapterLoraInfo(str(form.adapter.path), 1.0)]
    parameters.n_parallel, parameters.n_ctx = form.slots, form.slots * form.window
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = thread_count()
    parameters.cache_ram_mib = PROMPT_CACHE_MIB
    parameters.port, parameters.api_keys = 0, [key]
    parameters.ui, parameters.endpoint_slots, parameters.cors_origins = False, False, "null"
    if not list_gpus():
        parameters.n_batch = parameters.n_ubatch = CPU_BATCH_SIZE
    parameters.warmup, parameters.verbosity = False, QUIET_VERBOSITY  # loading holds the interpreter lock: do as little as possible
    return parameters
