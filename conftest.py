"""What all tests share: strict checkpoints, no tracing, one thread a process, and which of them stay together."""

import os
from collections import deque
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import certifi
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")  # how busy a machine is decides no test
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "tests/files/nobody.pem")  # each client would read all that a machine trusts
certifi.where = lambda: os.environ["SSL_CERT_FILE"]  # or, without the environment, all that certifi trusts
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side already: torch's threads would wait for one another, spinning


NUMBERS = count()


@pytest.fixture(autouse=True)
def nothing_learned(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test learn of tokens, servers and secrets anew: ports are used again, and one test's secret is another's text."""
    from ramify.tools import scrub
    from ramify.tools.models import concurrency, tokens

    file = tmp_path_factory.getbasetemp() / f"tokens-{next(NUMBERS)}.json"
    monkeypatch.setattr(tokens, "ratios_path", lambda: file)
    monkeypatch.setattr(concurrency, "_LIMITERS", WeakValueDictionary())
    monkeypatch.setattr(concurrency, "_LATEST", deque(maxlen=64))
    monkeypatch.setattr(scrub, "_registered", set(scrub._registered))  # those of servers that several tests use stay known


@pytest.fixture(autouse=True)
def no_korean_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as where multilingual E5 is not downloaded, whatever is here; a test of that reader puts it back."""
    if find_spec("ramify.embedded"):
        monkeypatch.setattr("ramify.embedded.reader.multilingual.e5_is_downloaded", lambda: False)


CORE_TESTS = ("tests/graphs/", "tests/nodes/", "tests/studio/", "tests/tools/")
"""Folders whose tests are the same where plugins/ is absent; the others look at all folders, prompts and records."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer to write or check the fault matrix, and to write the list of slow tests."""
    parser.addoption("--faults", choices=["write", "check"], help="write docs/faults.md from the tests that pass, or check it")
    parser.addoption("--core-apart", action="store_true", help="leave out the quick tests of the core, which `make test-core` runs alone")
    parser.addoption("--slow", choices=["write"], help="write tests/slow.txt from how long the tests take")


def pytest_configure(config: pytest.Config) -> None:
    """Collect the fault matrix and the durations where that is asked, in the process that hears of all tests."""
    if hasattr(config, "workerinput"):
        return
    if purpose := config.getoption("faults"):
        from tests.faults import Matrix

        config.pluginmanager.register(Matrix(purpose))
    if config.getoption("slow"):
        from tests.durations import Durations

        config.pluginmanager.register(Durations())


def pytest_report_header() -> list[str]:
    """Say which tests are left out because a plug-in is absent."""
    from tests.sharing import ABSENT, NEEDS, NEEDS_FILE

    needed = list(NEEDS.values())
    return [f"left out: {needed.count(plugin)} of {NEEDS_FILE.name}, as ramify.{plugin} is absent" for plugin in sorted(ABSENT)]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which `make test` runs nothing: those of real models, clusters and servers are slow to import alone.

    Nor one that needs a plug-in that is absent.
    """
    from tests.sharing import REAL_FILES, SLOW_TESTS, absent_plugin

    path = collection_path.relative_to(config.rootpath).as_posix()
    left_out = config.getoption("markexpr") == "not real and not slow" and path in REAL_FILES | SLOW_TESTS
    return True if left_out or absent_plugin(path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out further combinations; mark the tests that ask a real model, cluster or database, or read public data, and the long ones."""
    from tests.combinations import ALL
    from tests.sharing import REAL_FILES, absent_plugin, is_slow, needed_plugin

    if not ALL:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("combination")])
        items[:] = [item for item in items if not item.get_closest_marker("combination")]
    for item in items:
        item.user_properties += [("fault", "\t".join(mark.args)) for mark in item.iter_markers("fault")]
        if item.nodeid.partition("::")[0] in REAL_FILES:
            item.add_marker("real")
        if is_slow(item.nodeid):
            item.add_marker("slow")
        if plugin := absent_plugin(item.nodeid):
            item.add_marker(pytest.mark.skip(reason=f"needs ramify.{plugin}, which is absent"))
    if config.getoption("core_apart"):
        marks = ("slow", "real", "fault")
        alone = [item for item in items if item.nodeid.startswith(CORE_TESTS) and not needed_plugin(item.nodeid)]
        apart = {item.nodeid for item in alone if not any(map(item.get_closest_marker, marks))}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in apart])
        items[:] = [item for item in items if item.nodeid not in apart]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deal the tests out our way, whatever `--dist` says."""
    from tests.sharing import SharedScheduling

    return SharedScheduling(config, log)
