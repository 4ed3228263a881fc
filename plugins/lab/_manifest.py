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

from ramify.embedded.encoders.e5 import e5_is_downloaded
from ramify.embedded.reader.calibration import MIN_CONFIDENCE, TAU
from ramify.embedded.reader.reading import LARGE, MULTILINGUAL, SMALL
from ramify.lab._variants import PLAIN_KIND, Variant
from ramify.lab.dataset import Dataset
from ramify.lab.task import RESULTS
from ramify.nodes.settings import is_embedded, is_large
from ramify.tools.errors import InputError, UsageError
from ramify.tools.index.manifest import file_sha256
from ramify.tools.models.gguf import GGUF, find_gguf
from ramify.tools.models.gguf_adapter import split_adapter
from ramify.tools.new_files import file_mode, make_folder, make_readable_by_all, write_atomically
from ramify.tools.profile import Profile, load_profile
from ramify.tools.scrub import scrub_values
from ramify.tools.user_input import expand_path

RUN_MANIFEST = "manifest.json"
RECORDED_PACKAGES = (
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
FIXED_FIELDS = ("ramify", "model", "model_file", "profile", "reader", "embedding", "seed", "base")
"""Fields that must not change when a run is resumed; strategies, variants and questions may be added."""
KINDS_FIELD = "index_kinds"
"""The field of the kinds of index; the first must not change, others may be added."""
GROUP_BY_FIELD = "group_by"
"""The field of the metadata that a hierarchy groups by; it must not change."""
TOKENS_FIELD = "tokens"
"""The field of the models' token ratios at the start of the run; reused so that prompts contain the same number of passages throughout."""
FIELD_LABELS = {"ramify": "version", "base": "settings"}


def describe_machine() -> dict[str, Any]:
    """Return processor, cores, memory in GiB, GPU and operating system of this machine."""
    import torch

    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else None
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.exists() else []
    processors = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": next(processors, platform.processor() or platform.machine()),
        "cores": os.cpu_count(),
        "memory_gb": round(pages / 2**30, 1),
        "gpu": gpu,
        "system": platform.platform(),
    }


def describe_run(datasets: Sequence[tuple[str, Dataset]], variants: Sequence[Variant], **facts: Any) -> dict[str, Any]:
    """Return the manifest of a run; `datasets` are given with their paths or names."""
    entries = []
    for path, dataset in datasets:
        types = Counter(question.type for question in dataset.questions)
        about = dataset.model_dump(mode="json", include={"name", "sha256", "caveats", "hits_by"})
        about |= {"origin": dataset.origin} if dataset.origin else {}
        entries.append({**about, "path": path, "questions": len(dataset.questions), "types": dict(types)})
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "ramify": _installed_version("ramify-rag"),
        "command": shlex.join(["ramify", *sys.argv[1:]]),
        "versions": {name: _installed_version(name) for name in RECORDED_PACKAGES},
        "python": platform.python_version(),
        "machine": describe_machine(),
        "strategies": list(dict.fromkeys(variant.strategy for variant in variants)),
        "variants": [
            {"strategy": variant.strategy, "variant": variant.name, "settings": variant.settings, "arguments": variant.arguments}
            for variant in variants
        ],
        "datasets": entries,
        **facts,
    }


def describe_reader(model: str | None) -> dict[str, Any] | None:
    """Return the configuration of the embedded model's reader, which must not change within a run; None for other models."""
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


def describe_model_file(model: str | None) -> dict[str, Any] | None:
    """Return name and hash of the file of a GGUF model without its adapter, which must not change within a run; None for other models."""
    if model is None or not model.startswith(GGUF):
        return None
    path, _ = find_gguf(split_adapter(model)[0].removeprefix(GGUF))
    return {"name": path.name, "sha256": file_sha256(path)}


def profile_digest(profile: str | Path | Profile | None) -> str | None:
    """Return the SHA-256 of a profile, which must not change within a run; None without one."""
    return None if profile is None else hashlib.sha256(load_profile(profile).model_dump_json().encode()).hexdigest()


def _installed_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def read_run_manifest(folder: Path) -> dict[str, Any] | None:
    """Return a run's manifest; None if there is none. InputError if it is invalid."""
    file = expand_path(folder) / RUN_MANIFEST
    if not file.exists():
        return None
    try:
        manifest = from_json(file.read_bytes())
    except (OSError, ValueError) as error:
        raise _invalid_manifest(file, f" ({error})") from error
    if not isinstance(manifest, dict) or "variants" not in manifest:
        raise _invalid_manifest(file)
    return manifest


def _invalid_manifest(file: Path, why: str = "") -> InputError:
    return InputError(f"{str(file)!r} is not a valid manifest of a run{why}", "choose another folder with --out")


def write_run_manifest(folder: Path, manifest: dict[str, Any], shared: bool = False) -> dict[str, Any]:
    """Write a run's manifest atomically and return it; UsageError if the folder has a run with another configuration.

    The manifest of a folder without results is replaced, because its run has not begun. `shared` makes the folder readable for all
    users.
    """
    manifest = scrub_values(
        json.loads(json.dumps(manifest, ensure_ascii=False, default=str))
    )  # as read back from the file, without secrets
    before = read_run_manifest(folder)
    if before is not None and not all(isinstance(before.get(name), list) for name in ("variants", "datasets", "strategies")):
        raise _invalid_manifest(folder / RUN_MANIFEST)
    results = folder / RESULTS
    if before is not None and results.exists() and results.stat().st_size > 0:
        manifest = {**_merge_manifests(folder, before, manifest), "created": before["created"]}
    make_folder(folder)
    if shared:
        make_readable_by_all([folder, results])
    write_atomically(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", folder / RUN_MANIFEST, file_mode(folder))
    return manifest


def _merge_manifests(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return the merged manifests; UsageError if the runs differ in a fixed field."""
    old_values, new_values = _fixed_values(before), _fixed_values(now)
    for name in old_values:
        if name in new_values and old_values[name] != new_values[name]:
            what = f"{str(folder)!r} holds a run with {name} {_format_value(old_values[name])}, not {_format_value(new_values[name])}"
            raise UsageError(what, "choose another folder with --out, or use the same configuration")
    variants = {(variant["strategy"], variant["variant"]): variant for variant in (*before["variants"], *now["variants"])}
    both = sorted((*before["datasets"], *now["datasets"]), key=lambda entry: int(entry["questions"]))
    largest = {entry["name"]: entry for entry in both}
    datasets = {entry["name"]: largest[entry["name"]] for entry in (*before["datasets"], *now["datasets"])}
    strategies = list(dict.fromkeys((*before["strategies"], *now["strategies"])))
    if KINDS_FIELD in before or KINDS_FIELD in now:
        now = {**now, KINDS_FIELD: list(dict.fromkeys((*_index_kinds(before), *_index_kinds(now))))}
    now = {**({GROUP_BY_FIELD: before[GROUP_BY_FIELD]} if GROUP_BY_FIELD in before else {}), **now}
    now |= {TOKENS_FIELD: before[TOKENS_FIELD]} if TOKENS_FIELD in before else {}
    return {**now, "variants": list(variants.values()), "datasets": list(datasets.values()), "strategies": strategies}


def _fixed_values(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the values that must not change, with the hashes of the data sets."""
    values = {FIELD_LABELS.get(name, name): manifest[name] for name in FIXED_FIELDS if name in manifest} | {
        "index kind": _index_kinds(manifest)[0]
    }
    values |= {"label": ", ".join(manifest.get("label") or ()) or "none"}
    values |= {"passages of": f"{manifest['chunk_tokens']} tokens"} if "chunk_tokens" in manifest else {}
    values |= {"graph built by": manifest["build"]} if "build" in manifest else {}
    values |= {"group by": ", ".join(manifest[GROUP_BY_FIELD]) or "what is proposed"} if GROUP_BY_FIELD in manifest else {}
    indexes = {entry["name"]: entry["origin"] for entry in manifest["datasets"] if entry.get("origin")}
    values |= {f"the index of {name!r} of sha256": origin["index_sha256"] for name, origin in indexes.items()}
    return values | {f"the data set {entry['name']!r} of sha256": entry["sha256"] for entry in manifest["datasets"]}


def _index_kinds(manifest: dict[str, Any]) -> list[str]:
    """Return the kinds of index of a run, its main one first; only passages if not given."""
    return list(manifest.get(KINDS_FIELD) or [PLAIN_KIND])


def _format_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items()) or "none"
    return repr(value)
