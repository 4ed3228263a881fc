"""Where a Ray cluster is said to be, and what is said where there is none."""

import pickle
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugins.lab.tests.conftest import cache
from ramify.lab.plan import RunOptions, list_variants
from ramify.stores.ray_cluster import check_ray_address
from ramify.studio.console.options import add_ray_default
from ramify.tools.errors import BudgetError, ModelError, RamifyError, UsageError
from ramify.tools.index import Index
from tests.embeddings import WordEmbeddings
from tests.studio.conftest import Ramify, ramify

__all__ = ["cache", "ramify"]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("docs --ray --out x", "docs --ray=local --out x"),
        ("docs --out x --ray", "docs --out x --ray=local"),
        ("--ray docs --out x", "--ray=local docs --out x"),
        ("docs --ray 127.0.0.1:6379 --out x", "docs --ray 127.0.0.1:6379 --out x"),
        ("docs --ray ray://head:10001", "docs --ray ray://head:10001"),
        ("docs --ray auto", "docs --ray auto"),
        ("docs --ray 10.0.0.1", "docs --ray 10.0.0.1"),
        ("docs --ray=head", "docs --ray=head"),
        ("-- --ray", "-- --ray"),
    ],
)
def test_the_address_of_the_option_may_be_left_out(words: str, meant: str) -> None:
    assert [*add_ray_default(words.split())] == meant.split()


@pytest.mark.parametrize("command", [("index", "docs"), ("eval", "demo")])
def test_both_commands_take_it(ramify: Ramify, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = ramify(*command, "--out", tmp_path / "out", "--ray", "127.0.0.1:99999")
    assert (done.code, done.out) == (2, "")
    assert "127.0.0.1:99999" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("address", ["head", "", "127.0.0.1", "127.0.0.1:0", "http://127.0.0.1:6379", "ray://"])
def test_an_invalid_address_is_rejected(address: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        check_ray_address(address)


@pytest.fixture
def web() -> Iterator[int]:
    """A server that speaks another protocol."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            wire, _ = server.accept()
            with wire:
                wire.recv(24)
                wire.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1]


def test_a_server_that_is_not_a_cluster_is_rejected_at_once(web: int) -> None:
    with pytest.raises(RamifyError, match="is not a Ray cluster"):
        check_ray_address(f"127.0.0.1:{web}")


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_an_unreachable_cluster_is_reported(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{scheme}127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(RamifyError, match="no Ray cluster answers") as caught:
        check_ray_address(address)
    assert address in str(caught.value)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, ramify: Ramify, tmp_path: Path) -> None:
    monkeypatch.setattr("ramify.stores.ray_cluster.find_spec", lambda name: None)
    done = ramify("index", "docs", "--out", tmp_path / "out", "--ray")
    assert done.code == 1
    assert "pip install 'ramify-rag[ray]'" in done.err


def test_an_embedding_object_is_rejected_before_reading(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="WordEmbeddings"):
        Index.build("nowhere", tmp_path / "out", WordEmbeddings(), ray="local")
    assert not (tmp_path / "out").exists()


def test_the_work_is_shared_in_one_way() -> None:
    with pytest.raises(UsageError, match="--workers 2"):
        list_variants(RunOptions(datasets=("demo",), out=Path("out"), workers=2, ray="local"))


@pytest.mark.parametrize("error", [ModelError("no such model 'm'", "pull it"), BudgetError("calls", 3)])
def test_an_error_comes_out_of_another_process_as_it_was(error: RamifyError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  # as Ray and processes do with what they raise
    assert type(again) is type(error)
    assert (str(again), again.__dict__) == (str(error), error.__dict__)
