"""Which formats of documents can be read here."""

from importlib import import_module

from ramify.studio.checks.checkup import Check
from ramify.tools.documents.limits import LIMITS, cores
from ramify.tools.documents.readers import READERS


def formats() -> Check:
    """Load what each reader needs; name the readers that cannot load, and why."""
    failed = {
        module: reason
        for module in sorted({module for reader in READERS.values() for module in reader.modules})
        if (reason := _fails(module))
    }
    unread = [suffix for suffix, reader in READERS.items() if any(module in failed for module in reader.modules)]
    if failed:
        found = f"cannot read {', '.join(unread)}: {'; '.join(failed.values())}"
        return Check("formats", "broken", found, f"run `pip install --force-reinstall {' '.join(_PACKAGES[module] for module in failed)}`")
    known = ", ".join(suffix.removeprefix(".") for suffix in READERS)
    return Check(
        "formats", "ok", f"{known}, also gzipped; {cores()} files at once, at most {LIMITS.seconds:g} s and {LIMITS.memory_mb:,} MB for one"
    )


_PACKAGES = {
    "defusedxml": "defusedxml",
    "lxml.etree": "lxml",
    "lxml.html": "lxml",
    "mammoth": "mammoth",
    "openpyxl": "openpyxl",
    "pptx": "python-pptx",
    "pypdfium2": "pypdfium2",
}
"""What to install for a module."""


def _fails(module: str) -> str | None:
    try:
        import_module(module)
    except (ImportError, OSError) as error:  # not there, or a library of the system that it needs is not
        return f"{module} does not load ({error})"
    return None
