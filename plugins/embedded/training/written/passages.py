"""Cut the manual pages, manuals, configuration guides and licences that the written questions are asked of into passages.

python -m plugins.embedded.training.written.passages OUT

Wants Debian's `apt-get`, `dpkg`, `mandoc` and `col`. The texts belong to their authors and are not part of this repository;
OUT/passages.jsonl holds them, one object a line: id, title, text, source. With other versions of the packages ids and borders of passages
differ; `plugins.embedded.training.written.folder` then finds a question's passage by its words, and leaves out what is not found.
"""

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ramify.tools.documents.load import load_files

PACKAGES: Final = {
    "base": (
        "adduser", "apt", "coreutils", "cron", "debianutils", "diffutils", "dpkg", "e2fsprogs", "findutils", "grep", "gzip", "iproute2",
        "kmod", "less", "login", "logrotate", "manpages", "mawk", "mount", "nftables", "passwd", "procps", "sed", "systemd", "tar", "udev",
        "util-linux",
    ),
    "samba": ("samba", "samba-common-bin", "smbclient"),
    "squid": ("squid", "squid-common"),
}  # fmt: skip
MANUALS: Final = {
    "bash": "bash-doc", "bind": "bind9-doc", "django": "python-django-doc", "exim": "exim4-doc-html", "ffmpeg": "ffmpeg-doc",
    "gnuplot": "gnuplot-doc", "magick": "imagemagick-6-doc", "postfix": "postfix-doc", "rsyslog": "rsyslog-doc", "sqlite": "sqlite3-doc",
}  # fmt: skip
_LICENCES: Final = Path("/usr/share/common-licenses")
_LONGEST: Final = 1400


def passages(work: Path) -> Iterator[dict[str, str]]:
    """Give every passage of the packages and of the licences that Debian installs, in order of their names."""
    for source, packages in PACKAGES.items():
        for package in packages:
            root = _unpacked(package, work)
            for page in sorted(root.glob("usr/share/man/man*/*")):
                if not page.is_symlink():
                    yield from _cut(source, page.name.removesuffix(".gz"), _rendered(page))
            for guide in sorted(root.glob("usr/share/doc/*/*.documented.gz")):
                yield from _cut(
                    source, guide.name.removesuffix(".documented.gz"), _uncommented(gzip.decompress(guide.read_bytes()).decode())
                )
    for source, package in MANUALS.items():
        for number, part in enumerate(load_files(_unpacked(package, work) / "usr/share/doc")):
            if part.metadata["source"].endswith(".html"):
                yield from _cut(source, f"page{number:04}", part.page_content, str(part.metadata.get("title") or source))
    for licence in sorted(path for path in _LICENCES.iterdir() if not path.is_symlink()):
        yield from _cut("licence", licence.name, licence.read_text(encoding="utf-8"))


def _unpacked(package: str, work: Path) -> Path:
    subprocess.run(["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", package], cwd=work, check=True, stdout=subprocess.DEVNULL)
    [archive] = work.glob(f"{package}_*.deb")
    subprocess.run(["dpkg", "-x", str(archive), str(work / package)], check=True)
    return work / package


def _rendered(page: Path) -> str:
    source = gzip.decompress(page.read_bytes()) if page.suffix == ".gz" else page.read_bytes()
    shown = subprocess.run(["mandoc", "-Tutf8", "-Owidth=100"], input=source, capture_output=True, check=False).stdout
    return subprocess.run(["col", "-bx"], input=shown, capture_output=True, check=True).stdout.decode()


def _uncommented(text: str) -> str:
    """Read a configuration file whose comments are its manual."""
    return "\n".join(line.removeprefix("#").strip() for line in text.split("\n"))


def _cut(source: str, name: str, text: str, title: str = "") -> Iterator[dict[str, str]]:
    """Join paragraphs to passages of at most 1,400 characters; a longer paragraph is cut between its lines."""
    heading, joined, count = "", list[str](), 0
    pieces: list[tuple[str, str]] = []
    for paragraph in (piece.rstrip() for piece in text.split("\n\n")):
        if not paragraph.strip():
            continue
        first = paragraph.lstrip("\n").split("\n", 1)[0]
        if first and not first[0].isspace() and first.isupper() and len(first) < 60:
            heading = first.strip()
        lines = [line.strip() for line in paragraph.strip("\n").split("\n")]
        while lines:
            part = list[str]()
            while lines and (not part or sum(map(len, part)) + len(lines[0]) < _LONGEST):
                part.append(lines.pop(0))
            pieces.append((heading, "\n".join(part)))

    def passage(under: str) -> dict[str, str]:
        head = title or name
        return {
            "id": f"{source}-{name}-{count:03}",
            "title": f"{head}: {under}" if under else head,
            "text": "\n\n".join(joined),
            "source": source,
        }

    under = pieces[0][0] if pieces else ""
    for head, piece in pieces:
        if joined and (sum(map(len, joined)) + len(piece) > _LONGEST or (head != under and sum(map(len, joined)) > _LONGEST // 2)):
            yield passage(under)
            joined, count = [], count + 1
        under = under if joined else head
        joined.append(piece)
    if joined:
        yield passage(under)


def main() -> None:
    """Write OUT/passages.jsonl and say how many there are."""
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, (out / "passages.jsonl").open("w", encoding="utf-8") as file:
        count = 0
        for passage in passages(Path(work)):
            file.write(json.dumps(passage, ensure_ascii=False) + "\n")
            count += 1
    print(f"{count:,} passages")


if __name__ == "__main__":
    main()
