"""What all tests share: strict checkpoints, no tracing, one thread a process, and which of them stay together."""

import os
from typing import Any

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side already: torch's threads would wait for one another, spinning


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deal the tests out our way, whatever `--dist` says."""
    from tests.sharing import Sharing

    return Sharing(config, log)
