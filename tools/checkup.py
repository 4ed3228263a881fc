"""The checks of `ramify doctor`: required components, models and optional parts."""

import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, NamedTuple, cast

from ramify.tools import plugins
from ramify.tools.errors import ModelError, RamifyError
from ramify.tools.models.server_info import OLLAMA_TIMEOUT_S, request_json
from ramify.tools.released import DOWNLOADS, SMOLLM2
from ramify.tools.scrub import mask_address, scrub
from ramify.tools.server_address import OLLAMA_START, ollama_host

_INDEX_MODULES = {"graph": ("graspologic_native", "graspologic-native"), "hierarchy": ("sklearn", "scikit-learn")}
"""The module and package of each kind of index."""
_UMAP = "umap-learn"


class Check(NamedTuple):
    """The result of a check, and how to fix a problem."""

    name: str
    state: Literal["ok", "note", "broken"]
    found: str
    remedy: str = ""


def check_formats() -> Check:
    """Check that the reader of each format, and the modules that it needs, can be imported."""
    from ramify.tools.documents.readers import FORMAT_READERS, load_reader, readable_suffixes
    from ramify.tools.documents.worker_pool import LIMITS, available_cores

    failed: dict[str, str] = {}
    remedies: dict[str, None] = {}
    unread = []
    for suffix in readable_suffixes():
        try:
            reader = FORMAT_READERS.get(suffix) or load_reader(suffix)
        except RamifyError as error:
            unread.append(suffix)
            failed[error.what], remedies[error.remedy] = error.what, None
            continue
        for module, package in reader.modules.items() if reader else ():
            try:
                import_module(module)
            except (ImportError, OSError) as error:  # the module, or a system library that it needs, is missing
                unread.append(suffix)
                failed[module], remedies[f"run `pip install --force-reinstall {package}`"] = f"{module} does not load ({error})", None
    if failed:
        return Check("formats", "broken", f"cannot read {', '.join(unread)}: {'; '.join(failed.values())}", "; ".join(remedies))
    known = ", ".join(suffix.removeprefix(".") for suffix in readable_suffixes())
    limits = f"{available_cores()} files at once, at most {LIMITS.seconds:g} s and {LIMITS.memory_mb:,} MB for one"
    return Check("formats", "ok", f"{known}, also gzipped; {limits}")


def check_ocr() -> Check:
    """Check what reads text in pictures, if a reader does; it is optional."""
    from ramify.tools.documents.files import DEFAULT_OCR
    from ramify.tools.documents.readers import ocr_programs

    programs = [program(DEFAULT_OCR) for program in ocr_programs()]
    if not programs:
        return Check("ocr", "note", "no installed package reads text in pictures", "install ramify.formats, which reads it with Tesseract")
    found, remedies = ("; ".join(filter(None, parts)) for parts in zip(*programs, strict=True))
    return Check("ocr", "note" if remedies else "ok", found, remedies)


def check_index_kinds() -> Check:
    """Check that the modules of each kind of index can be imported; umap-learn is optional."""
    failed: dict[str, str] = {}
    loaded = ["passages"]
    for kind in filter(_INDEX_MODULES.get, plugins.names("ramify.kinds")):
        module, package = _INDEX_MODULES[kind]
        try:
            import_module(module)
        except (ImportError, OSError) as error:
            failed[package] = f"{kind} ({package} does not load: {error})"
        else:
            loaded.append(f"{kind} ({package} {version(package)})")
    if failed:
        found = f"cannot make {', '.join(failed.values())}"
        return Check("kinds", "broken", found, f"run `pip install --force-reinstall {' '.join(failed)}`")
    if loaded == ["passages"]:
        return Check("kinds", "ok", ", ".join(loaded))
    try:
        reducing = f"by pca, or by umap ({_UMAP} {version(_UMAP)})"
    except PackageNotFoundError:
        reducing = f"by pca; reduction=umap needs {_UMAP}: `pip install 'ramify-rag[umap]'`"
    return Check("kinds", "ok", f"{', '.join(loaded)}; a hierarchy's vectors are reduced {reducing}")


def check_gguf() -> Check:
    """Check the engine for GGUF files, its GPUs, the small model, and the adapters of downloaded models."""
    checks = (_describe_engine(), _describe_small_model(), _describe_adapters())
    found, remedies = ("; ".join(filter(None, parts)) for parts in zip(*checks, strict=True))
    return Check("gguf", "note" if remedies else "ok", found, remedies)


def _describe_engine() -> tuple[str, str]:
    from ramify.tools.models.gguf import INSTALL_GGUF, list_gpus, missing_packages

    if lacking := missing_packages():
        return f"{' and '.join(lacking)} not installed", INSTALL_GGUF
    try:
        return f"xllamacpp {version('xllamacpp')} on {', '.join(list_gpus()) or 'the CPU'}", ""
    except ImportError as error:
        raise ModelError(
            f"xllamacpp cannot be loaded: {error}", "reinstall it: pip install --force-reinstall --no-deps xllamacpp"
        ) from error


def _describe_small_model() -> tuple[str, str]:
    try:
        SMOLLM2.path()
    except ModelError as error:
        return "smollm2 not installed", error.remedy
    SMOLLM2.verified_path()
    return "smollm2 has the released sha256", ""


def _describe_adapters() -> tuple[str, str]:
    from ramify.tools.models.gguf import find_gguf
    from ramify.tools.models.gguf_adapter import AUTO, find_adapter, find_beside

    found, remedies = [], []
    for name in [name for name, model in DOWNLOADS.items() if model.find() and find_beside(name)]:
        try:
            found.append(f"gguf:{name} answers with {find_adapter(AUTO, name, find_gguf(name)[1].architecture)}")
        except ModelError as error:
            found.append(error.what)
            remedies.append(error.remedy)
    return "; ".join(found), "; ".join(remedies)


REQUIRED_PACKAGES = (
    "langgraph",
    "langchain",
    "langchain-core",
    "langchain-ollama",
    "torch",
    "sentence-transformers",
    "faiss-cpu",
    "pydantic",
)
MIN_PYTHON = (3, 11)
MIN_FREE_MB = 500


def run_checks() -> Iterator[Check]:
    """Run the checks and yield their results."""
    for name, check in CHECKS.items():
        try:
            yield check()
        except RamifyError as error:
            yield Check(name, "broken", error.what, error.remedy)
        except (ImportError, OSError) as error:
            found = scrub(f"{type(error).__name__}: {error}")
            yield Check(name, "broken", found, "reinstall with `pip install --force-reinstall ramify-rag`")


def _check_python() -> Check:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.prefix}"
    if sys.version_info < MIN_PYTHON:
        return Check("python", "broken", found, "install Python 3.11 or newer")
    return Check("python", "ok", found)


def _check_packages() -> Check:
    missing = [name for name in REQUIRED_PACKAGES if _version(name) is None]
    found = ", ".join(f"{name} {_version(name)}" for name in ("ramify-rag", *REQUIRED_PACKAGES) if name not in missing)
    if missing:
        return Check("packages", "broken", f"missing: {', '.join(missing)}", f"run `pip install {' '.join(missing)}`")
    return Check("packages", "ok", found)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _check_torch() -> Check:
    import torch

    if torch.cuda.is_available():
        return Check("torch", "ok", f"{torch.__version__} on {torch.cuda.get_device_name(0)}")
    return Check("torch", "ok", f"{torch.__version__} on the CPU, {torch.get_num_threads()} threads")


def _check_encoder() -> Check:
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.local_encoders import WordPieceEncoder
    from ramify.tools.embeddings.pretrained import MINILM

    encoder = cast(WordPieceEncoder, load_encoder(MINILM))
    size = encoder.encode_queries(["Is anybody there?"]).shape[1]
    kind = encoder.computed_in
    why = "" if kind == "bfloat16" else ", since the processor does not support bfloat16" if encoder.model.device.type == "cpu" else ""
    return Check("encoder", "ok", f"minilm: its weights have the published sha256; vectors of {size}, computed in {kind}{why}")


def _check_reader() -> Check:
    from ramify.tools.reader import find_reader

    if (reader := find_reader()) is None:
        return Check("reader", "note", "not installed: sentences are not checked", "reinstall ramify-rag for it and the extractive model")
    return Check("reader", "ok", reader.describe())


def _check_ollama() -> Check:
    address = ollama_host(None)
    where = mask_address(address)
    response = request_json(f"{address}/api/tags", OLLAMA_TIMEOUT_S)
    if response is None:
        return Check("ollama", "note", f"no server answers at {where}", f"for a language model, {OLLAMA_START}, or set OLLAMA_HOST")
    try:
        names = [str(model["name"]) for model in response.body["models"]]
    except (KeyError, TypeError):
        return Check("ollama", "note", f"what answers at {where} is not Ollama", "set OLLAMA_HOST to its address")
    if not names:
        return Check("ollama", "note", f"answers at {where} and has no model", "run `ollama pull llama3.1:8b`")
    return Check("ollama", "ok", f"answers at {where} and has {', '.join(sorted(names))}")


def _check_model() -> Check:
    from ramify.tools.models import ModelOptions, find_best

    best = find_best(ModelOptions())
    if isinstance(best, str):
        reason, _, remedy = best.partition(" — ")
        if "extractive" not in plugins.names("ramify.models"):
            return Check("model", "broken", f"auto finds no model: {reason}, and extractive is not installed", remedy)
        return Check("model", "note", f"auto uses extractive: {reason}", remedy)
    return Check("model", "ok", f"auto uses {best.name}")


def _check_tokens() -> Check:
    from ramify.tools.models.tokens import stored_ratios

    learned = [
        f"{place} has at most {f'{ratios.encoder:g} for one of the encoder' if ratios.encoder else 'the estimate'} in English text, "
        f"and {ratios.estimate:g} times the estimate in other scripts"
        for place, ratios in stored_ratios().items()
    ]
    return Check(
        "tokens",
        "ok",
        "; ".join(learned) or "no token ratios learned yet: the tokens of a model without a tokenizer (Ollama) are estimated",
    )


def _check_demo() -> Check:
    from ramify.tools.demo import demo_index
    from ramify.tools.index import Index

    folder = demo_index()
    return Check("demo index", "ok", f"{len(Index.open(folder))} passages in {folder}")


def _check_cache() -> Check:
    from ramify.tools.new_files import cache_folder

    folder = cache_folder()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free // 2**20
    if free < MIN_FREE_MB:
        return Check("cache", "note", f"{folder}, {free:,} MB free", "make room, or set RAMIFY_CACHE to a folder with more")
    return Check("cache", "ok", f"{folder}, {free / 1024:,.0f} GB free")


CHECKS: dict[str, Callable[[], Check]] = {
    "python": _check_python,
    "packages": _check_packages,
    "torch": _check_torch,
    "encoder": _check_encoder,
    "reader": _check_reader,
    "formats": check_formats,
    "ocr": check_ocr,
    "kinds": check_index_kinds,
    "ollama": _check_ollama,
    "gguf": check_gguf,
    "model": _check_model,
    "tokens": _check_tokens,
    "cache": _check_cache,
    "demo index": _check_demo,
}
