"""Which kinds of index can be made here."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from ramify.studio.checks.checkup import Check

_NEEDED = {"graph": ("graspologic_native", "graspologic-native"), "hierarchy": ("sklearn", "scikit-learn")}
"""What makes the communities of a graph, and the clusters of a hierarchy: the module, and its package."""
_UMAP = "umap-learn"


def kinds() -> Check:
    """Load what each kind needs beside the passages; umap-learn is large, and only another way."""
    failed: dict[str, str] = {}
    told = ["passages"]
    for kind, (module, package) in _NEEDED.items():
        try:
            import_module(module)
        except (ImportError, OSError) as error:
            failed[package] = f"{kind} ({package} does not load: {error})"
        else:
            told.append(f"{kind} ({package} {version(package)})")
    if failed:
        found = f"cannot make {', '.join(failed.values())}"
        return Check("kinds", "broken", found, f"run `pip install --force-reinstall {' '.join(failed)}`")
    return Check("kinds", "ok", f"{', '.join(told)}; {_reducing()}")


def _reducing() -> str:
    try:
        return f"a hierarchy's vectors are reduced by pca, or by umap ({_UMAP} {version(_UMAP)})"
    except PackageNotFoundError:
        return f"a hierarchy's vectors are reduced by pca; reduction=umap needs {_UMAP}: `pip install 'ramify-rag[umap]'`"
