"""What the files of an adapter tell of it: its name and licence, its base model, and the run that trained it."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import gguf
from safetensors import safe_open

BASE: Final = "Qwen/Qwen2.5-Coder-1.5B-Instruct"
"""The base model as model hubs name it, with its organisation."""
LICENCE: Final = "cc-by-sa-4.0"
RUN: Final = "ramify.run"
"""The key of a GGUF file for the run as JSON: its options, and the SHA-256 of its examples."""


@dataclass(frozen=True)
class Metadata:
    """What a GGUF adapter tells of itself."""

    name: str
    licence: str
    base: str
    run: str

    def write(self, writer: gguf.GGUFWriter) -> None:
        """Add it to a file."""
        organization, _, base = self.base.rpartition("/")
        writer.add_name(self.name)
        writer.add_license(self.licence)
        writer.add_base_model_count(1)
        writer.add_base_model_name(0, base)
        if organization:
            writer.add_base_model_organization(0, organization)
        writer.add_string(RUN, self.run)

    @classmethod
    def read(cls, reader: gguf.GGUFReader) -> "Metadata":
        """Return what a file tells; a text is empty where it does not tell it."""
        organization, base = _text(reader, "general.base_model.0.organization"), _text(reader, "general.base_model.0.name")
        named = f"{organization}/{base}" if organization else base
        return cls(_text(reader, "general.name"), _text(reader, "general.license"), named, _text(reader, RUN))


def _text(reader: gguf.GGUFReader, key: str) -> str:
    field = reader.get_field(key)
    return "" if field is None else str(field.contents())


def read_run(adapter: Path) -> dict[str, str]:
    """Return the rank and the run of a trained adapter, as `lora` writes them."""
    with safe_open(adapter, "pt") as file:
        return dict(file.metadata())


def add_base_option(parser: argparse.ArgumentParser) -> None:
    """Let a command name the base model."""
    parser.add_argument("--base", default=BASE, help=f"base model, as model hubs name it (default {BASE})")


def given_metadata(given: argparse.Namespace, run: dict[str, Any]) -> Metadata:
    """Return the metadata from a command's options and a run."""
    name = given.name or f"{given.base.rpartition('/')[2]} for Ramify's prompts"
    return Metadata(name, given.licence, given.base, run.get("run", ""))
