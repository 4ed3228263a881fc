"""Fixtures of the command line, and of small networks."""

from collections.abc import Iterator

import pytest
import torch

from tests.studio.conftest import nothing_allowed, nowhere, ramify

__all__ = ["nothing_allowed", "nowhere", "ramify"]


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Do so little work on one thread: waiting for a second one would take longer."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
