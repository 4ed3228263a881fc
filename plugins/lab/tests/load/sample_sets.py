"""Helpers for tests of data sets."""

import json
from pathlib import Path
from typing import Any

import pytest

from ramify.lab.dataset import Dataset
from ramify.lab.load import load_dataset
from ramify.tools.errors import InputError

SAMPLES = Path(__file__).parent / "samples"


def read_documents(dataset: Dataset) -> dict[str, dict[str, Any]]:
    """Return the records of a data set's corpus by their ids."""
    records = [json.loads(line) for file in dataset.documents for line in file.read_text(encoding="utf-8").splitlines()]
    return {record["id"]: record for record in records}


def load_error(path: Path, **options: Any) -> str:
    """Load what cannot be loaded, and return the message."""
    with pytest.raises(InputError) as caught:
        load_dataset(path, path.parent / "work", **options)
    message = str(caught.value)
    assert "\n" not in message
    assert " — " in message, "it does not say what to do"
    return message.replace(str(path), "PATH")
