"""The paragraphs given with all questions of a release, put together as one corpus."""

import hashlib
import json
from pathlib import Path
from typing import Any

from ramify.evaluation.load.records import Record
from ramify.tools.atomic_file import write_whole
from ramify.tools.errors import InputError
from ramify.tools.new_files import file_mode, make_folder


class Pool:
    """Paragraphs, each once; its id is made from its title and text, so it is the same in every release that holds it."""

    def __init__(self, prefix: str) -> None:
        self.absent: set[str] = set()
        """Ids of gold paragraphs that no question brought along."""
        self._prefix = prefix
        self._paragraphs: dict[str, dict[str, Any]] = {}
        self._titled: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._paragraphs)

    def add(self, title: str, text: str, **more: Any) -> str:
        """Take a paragraph in and give its id."""
        identity = self._id(title, text)
        if text.strip():
            self._paragraphs.setdefault(identity, {"id": identity, "title": title, "text": text, **more})
            self._titled.setdefault(title, identity)
        return identity

    def titled(self, title: str) -> str:
        """Find a paragraph by its title; one that is nowhere gets an id too, because not finding it counts."""
        if title in self._titled:
            return self._titled[title]
        self.absent.add(absent := self._id(title, ""))
        return absent

    def write(self, work: Path, name: str) -> Path:
        """Write the corpus below a folder, whole or not at all."""
        content = "".join(json.dumps(paragraph, ensure_ascii=False) + "\n" for paragraph in self._paragraphs.values())
        # Two releases may have files of one name: what is in them tells them apart.
        file = work / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:8]}" / "corpus.jsonl"
        make_folder(file.parent)
        write_whole(content, file, file_mode(file.parent))
        return file

    def caveats(self, golds: int) -> list[str]:
        """Say what searching the pool does not show; `golds` counts the different gold paragraphs."""
        told = [f"The corpus is the {len(self)} paragraphs that came with the questions, not all of Wikipedia: searching it is easier."]
        if self.absent:
            told.append(f"Gold paragraphs that came with no question: {len(self.absent)} of {golds}. They count as missed.")
        return told

    def _id(self, title: str, text: str) -> str:
        content = f"{title}\0{text}"
        return f"{self._prefix}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def release_name(release: str, file: Path) -> str:
    """Name a data set after its file, which says a half or a version, and its release where the file does not."""
    stem = file.name.split(".json")[0]
    return stem if release[:5].lower() in stem.lower() else f"{release}-{stem}"


def malformed(record: Record, field: str, shape: str) -> InputError:
    """Say that a field is not in the shape of the release."""
    value = record.value.get(field)
    return InputError(f"{record.place} has {field} {value!r:.80}", f"give the file as released: {field} is {shape}")
