"""What the files of an adapter tell of it: its name and licence, its base model, and the run that trained it."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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
    parser.add_argument("--base", help=f"base model, as model hubs name it (default {BASE}, if the file is named so)")


def base_of(given: argparse.Namespace, run: Mapping[str, str]) -> str:
    """Return the base model that was given, or the one that the run's file is named after; SystemExit if it is named otherwise."""
    file = str(json.loads(run.get("run") or "{}").get("model", ""))
    if given.base is None and not file.casefold().startswith(BASE.rpartition("/")[2].casefold()):
        raise SystemExit(f"{file!r} does not tell its base model: name it as --base OWNER/NAME")
    return given.base or BASE


def given_metadata(given: argparse.Namespace, run: Mapping[str, str]) -> Metadata:
    """Return the metadata from a command's options and a run."""
    base = base_of(given, run)
    name = given.name or f"{base.rpartition('/')[2]} for Ramify's prompts"
    return Metadata(name, given.licence, base, run.get("run", ""))
