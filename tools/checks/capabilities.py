"""What can be done here beside asking: which formats are read, which kinds of index are made, which language model runs in this process."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, NamedTuple

from ramify.tools.errors import ModelError
from ramify.tools.models.shipped import SMOLLM2, intact, located

_READERS = {
    "defusedxml": "defusedxml",
    "lxml.etree": "lxml",
    "lxml.html": "lxml",
    "mammoth": "mammoth",
    "openpyxl": "openpyxl",
    "pptx": "python-pptx",
    "pypdfium2": "pypdfium2",
}
"""What to install for a module that a reader needs."""
_KINDS = {"graph": ("graspologic_native", "graspologic-native"), "hierarchy": ("sklearn", "scikit-learn")}
"""What makes the communities of a graph, and the clusters of a hierarchy: the module, and its package."""
_UMAP = "umap-learn"


class Check(NamedTuple):
    """What was looked at, how it stands, and what to do about it."""

    name: str
    state: Literal["ok", "note", "broken"]
    found: str
    remedy: str = ""


def formats() -> Check:
    """Load what each reader needs; name the readers that cannot load, and why."""
    from ramify.tools.documents.parser_crew import LIMITS, cores
    from ramify.tools.documents.readers import READERS

    failed = {}
    for module in sorted({module for reader in READERS.values() for module in reader.modules}):
        try:
            import_module(module)
        except (ImportError, OSError) as error:  # not there, or a library of the system that it needs is not
            failed[module] = f"{module} does not load ({error})"
    if failed:
        unread = [suffix for suffix, reader in READERS.items() if any(module in failed for module in reader.modules)]
        found = f"cannot read {', '.join(unread)}: {'; '.join(failed.values())}"
        return Check("formats", "broken", found, f"run `pip install --force-reinstall {' '.join(_READERS[module] for module in failed)}`")
    known = ", ".join(suffix.removeprefix(".") for suffix in READERS)
    limits = f"{cores()} files at once, at most {LIMITS.seconds:g} s and {LIMITS.memory_mb:,} MB for one"
    return Check("formats", "ok", f"{known}, also gzipped; {limits}")


def kinds() -> Check:
    """Load what each kind needs beside the passages; umap-learn is large, and only another way."""
    failed: dict[str, str] = {}
    told = ["passages"]
    for kind, (module, package) in _KINDS.items():
        try:
            import_module(module)
        except (ImportError, OSError) as error:
            failed[package] = f"{kind} ({package} does not load: {error})"
        else:
            told.append(f"{kind} ({package} {version(package)})")
    if failed:
        found = f"cannot make {', '.join(failed.values())}"
        return Check("kinds", "broken", found, f"run `pip install --force-reinstall {' '.join(failed)}`")
    try:
        reducing = f"by pca, or by umap ({_UMAP} {version(_UMAP)})"
    except PackageNotFoundError:
        reducing = f"by pca; reduction=umap needs {_UMAP}: `pip install 'ramify-rag[umap]'`"
    return Check("kinds", "ok", f"{', '.join(told)}; a hierarchy's vectors are reduced {reducing}")


def gguf() -> Check:
    """Look at the engine that runs a language model's file in this process, where it can compute, and the small model."""
    looked = (_engine(), _small_model())
    found, remedies = ("; ".join(filter(None, parts)) for parts in zip(*looked, strict=True))
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
        path = located(SMOLLM2.name)
    except ModelError as error:
        return "smollm2 not installed", error.remedy
    intact(path, SMOLLM2)
    return "smollm2 has the released sha256", ""
