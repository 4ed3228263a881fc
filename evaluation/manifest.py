"""The manifest of a run: versions, machine, model, settings and data, to identify and reproduce it."""

import hashlib
import json
import os
import platform
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from ramify.evaluation.dataset import Dataset
from ramify.evaluation.task import RESULTS
from ramify.evaluation.variants import PLAIN, Variant
from ramify.nodes.settings import is_embedded, is_large
from ramify.tools.embeddings.pretrained import e5_is_downloaded
from ramify.tools.errors import InputError, UsageError
from ramify.tools.index.manifest import file_sha256
from ramify.tools.models.gguf import GGUF, find_gguf
from ramify.tools.new_files import file_mode, make_folder, make_readable_by_all, write_atomically
from ramify.tools.profile import Profile, load_profile
from ramify.tools.reader.calibration import MIN_CONFIDENCE, TAU
from ramify.tools.reader.reading import LARGE, MULTILINGUAL, SMALL
from ramify.tools.scrub import scrub_values
from ramify.tools.user_input import expand_path

MANIFEST = "manifest.json"
PACKAGES = (
    "ramify-rag",
    "langgraph",
    "langchain-core",
    "langchain-ollama",
    "sentence-transformers",
    "torch",
    "faiss-cpu",
    "numpy",
    "xllamacpp",
)
FIXED = ("ramify", "model", "model_file", "profile", "reader", "embedding", "seed", "base")
"""What must stay the same when a run is resumed; strategies, variants and questions may be added."""
KINDS = "index_kinds"
"""The kinds of index, if given; the first must stay the same, others may be added."""
GROUPED = "group_by"
"""The fields that a hierarchy groups by; they must stay the same."""
TOKENS = "tokens"
"""The models' token ratios when the run began, kept so that prompts hold the same number of passages throughout."""
NAMED = {"ramify": "version", "base": "settings"}


def machine() -> dict[str, Any]:
    """Return a description of this machine."""
    import torch

    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else None
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": next(named, platform.processor() or platform.machine()),
        "cores": os.cpu_count(),
        "memory_gb": round(pages / 2**30, 1),
        "gpu": gpu,
        "system": platform.platform(),
    }


def describe(datasets: Sequence[tuple[str, Dataset]], variants: Sequence[Variant], **told: Any) -> dict[str, Any]:
    """Return the manifest of a run; `datasets` are given with their paths or names."""
    listed = []
    for path, dataset in datasets:
        types = Counter(question.type for question in dataset.questions)
        about = dataset.model_dump(mode="json", include={"name", "sha256", "caveats", "hits_by"})
        about |= {"origin": dataset.origin} if dataset.origin else {}
        listed.append({**about, "path": path, "questions": len(dataset.questions), "types": dict(types)})
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "ramify": _version("ramify-rag"),
        "command": shlex.join(["ramify", *sys.argv[1:]]),
        "versions": {name: _version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "machine": machine(),
        "strategies": list(dict.fromkeys(variant.strategy for variant in variants)),
        "variants": [
            {"strategy": one.strategy, "variant": one.name, "settings": one.settings, "arguments": one.arguments} for one in variants
        ],
        "datasets": listed,
        **told,
    }


def reader_of(model: str | None) -> dict[str, Any] | None:
    """Return the configuration of the embedded model's reader; another reader makes another run."""
    if not is_embedded(model):
        return None
    korean = {"multilingual": MULTILINGUAL.sha256[:12]} if e5_is_downloaded() else {}
    reader = LARGE if is_large(model) else SMALL
    return {
        **korean,
        "weights": reader.sha256[:12],
        "spans": reader.span_weights,
        "verdicts": reader.yes_no_weights,
        "threshold": MIN_CONFIDENCE,
        "tau": TAU,
    }


def file_of(model: str | None) -> dict[str, Any] | None:
    """Return the file of a model that runs in this process; another file makes another run."""
    if model is None or not model.startswith(GGUF):
        return None
    path, _ = find_gguf(model.removeprefix(GGUF))
    return {"name": path.name, "sha256": file_sha256(path)}


def profile_of(given: str | Path | Profile | None) -> str | None:
    """Return the sha256 of a profile; another one makes another run."""
    return None if given is None else hashlib.sha256(load_profile(given).model_dump_json().encode()).hexdigest()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return a run's manifest; None if there is none. InputError if it is invalid."""
    file = expand_path(folder) / MANIFEST
    if not file.exists():
        return None
    try:
        told = from_json(file.read_bytes())
    except (OSError, ValueError) as error:
        raise _no_manifest(file, f" ({error})") from error
    if not isinstance(told, dict) or "variants" not in told:
        raise _no_manifest(file)
    return told


def _no_manifest(file: Path, why: str = "") -> InputError:
    return InputError(f"{str(file)!r} is no manifest of a run{why}", "give --out another folder")


def write_manifest(folder: Path, told: dict[str, Any], shared: bool = False) -> dict[str, Any]:
    """Write a run's manifest atomically and return it; UsageError if the folder has a run with another configuration.

    A folder without results holds no run yet: whatever kept the first one from beginning, the next may be another. `shared` lets
    everybody read the folder.
    """
    told = scrub_values(json.loads(json.dumps(told, ensure_ascii=False, default=str)))  # as a reader of the file finds it, without secrets
    before = read_manifest(folder)
    if before is not None and not all(isinstance(before.get(name), list) for name in ("variants", "datasets", "strategies")):
        raise _no_manifest(folder / MANIFEST)
    results = folder / RESULTS
    if before is not None and results.exists() and results.stat().st_size > 0:
        told = {**_joined(folder, before, told), "created": before["created"]}
    make_folder(folder)
    if shared:
        make_readable_by_all([folder, results])
    write_atomically(json.dumps(told, ensure_ascii=False, indent=1) + "\n", folder / MANIFEST, file_mode(folder))
    return told


def _joined(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return the manifests merged; UsageError if the runs differ in what must stay the same."""
    was, wanted = _fixed(before), _fixed(now)
    for name in was:
        if name in wanted and was[name] != wanted[name]:
            what = f"{str(folder)!r} holds a run with {name} {_brief(was[name])}, not {_brief(wanted[name])}"
            raise UsageError(what, "give --out another folder, or run it as it was")
    variants = {(one["strategy"], one["variant"]): one for one in (*before["variants"], *now["variants"])}
    both = sorted((*before["datasets"], *now["datasets"]), key=lambda one: int(one["questions"]))
    largest = {one["name"]: one for one in both}
    datasets = {one["name"]: largest[one["name"]] for one in (*before["datasets"], *now["datasets"])}
    strategies = list(dict.fromkeys((*before["strategies"], *now["strategies"])))
    if KINDS in before or KINDS in now:
        now = {**now, KINDS: list(dict.fromkeys((*_kinds(before), *_kinds(now))))}
    now = {**({GROUPED: before[GROUPED]} if GROUPED in before else {}), **now}
    now |= {TOKENS: before[TOKENS]} if TOKENS in before else {}
    return {**now, "variants": list(variants.values()), "datasets": list(datasets.values()), "strategies": strategies}


def _fixed(told: dict[str, Any]) -> dict[str, Any]:
    """Return what must stay the same, with the hash of each data set."""
    own = {NAMED.get(name, name): told[name] for name in FIXED if name in told} | {"index kind": _kinds(told)[0]}
    own |= {"label": ", ".join(told.get("label") or ()) or "none"}
    own |= {"passages of": f"{told['chunk_tokens']} tokens"} if "chunk_tokens" in told else {}
    own |= {"graph built by": told["build"]} if "build" in told else {}
    own |= {"group by": ", ".join(told[GROUPED]) or "what is proposed"} if GROUPED in told else {}
    indexes = {one["name"]: one["origin"] for one in told["datasets"] if one.get("origin")}
    own |= {f"the index of {name!r} of sha256": origin["index_sha256"] for name, origin in indexes.items()}
    return own | {f"the data set {one['name']!r} of sha256": one["sha256"] for one in told["datasets"]}


def _kinds(told: dict[str, Any]) -> list[str]:
    """Return the kinds of index of a run, its own first; plain if not given."""
    return list(told.get(KINDS) or [PLAIN])


def _brief(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={one}" for key, one in value.items()) or "none"
    return repr(value)
