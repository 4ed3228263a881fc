"""Write all records whose content has changed, remove snapshots of what is gone, and print both: `make records`."""

import sys
from collections.abc import Callable

from tests.records import RECORDS, ROOT, SNAPSHOTS, reference_page, shapes_section


def main() -> None:
    """Write the records."""
    records: dict[str, Callable[[], str]] = {**RECORDS, "docs/reference.md": lambda: reference_page.page(shapes_section.section())}
    for name, content in records.items():
        file, text = ROOT / name, content()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {name}\n")
    for file in SNAPSHOTS.glob("*/*"):
        if str(file.relative_to(ROOT)) not in records:
            file.unlink()
            sys.stdout.write(f"removed {file.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
