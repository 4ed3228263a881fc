"""Several corpora in one Milvus collection, and errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plugins.stores.tests.milvus.test_index_in_milvus import ROOT, at
from ramify.tools.errors import IndexingError, InputError, UsageError
from ramify.tools.index import Index
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_index import write_records


class TestTenants:
    def test_see_nothing_of_each_other(self, tmp_path: Path) -> None:
        for tenant, text in (("acme", "The river of acme."), ("other-1", "The river of others.")):
            Index.from_texts([text], WordEncoder(), ids=["same"], path=f"{at(tmp_path)}:{tenant}")
        one, other = (Index.open(f"{at(tmp_path)}:{tenant}", WordEncoder()) for tenant in ("acme", "other-1"))
        assert [[hit.text for hit in hits] for hits in one.search(["river", "others"], 5)] == [["The river of acme."]] * 2
        other.delete(["same"])
        assert (one.ids(), other.ids()) == (["same"], [])

    def test_without_a_tenant_there_is_another_corpus(self, tmp_path: Path) -> None:
        Index.from_texts(["A river."], WordEncoder(), ids=["a"], path=f"{at(tmp_path)}:acme")
        with pytest.raises(IndexingError, match="there is no index in"):
            Index.open(at(tmp_path))


class TestRefused:
    @pytest.mark.parametrize(
        "where",
        [
            "milvus:", "milvus:corpus", "milvus:store.txt/corpus", "milvus:http://localhost:19530", "milvus:http://localhost:19530/",
            "milvus:ftp://host/corpus", "milvus:http://host/a/b/c", "milvus:store.db/a-b", "milvus:store.db/a:",
            'milvus:store.db/a:x" or "',
        ],
    )  # fmt: skip
    def test_an_invalid_address(self, where: str) -> None:
        with pytest.raises(UsageError, match=r"— .*milvus:http://HOST:19530/COLLECTION"):
            Index.open(where)

    def test_an_unreachable_server_is_reported_without_its_password(self) -> None:
        with pytest.raises(IndexingError, match=r"127\.0\.0\.1:1 .* check the address") as caught:
            Index.open("milvus:http://root:very-secret-word@127.0.0.1:1/corpus")
        assert "very-secret-word" not in str(caught.value)

    def test_no_index_leaves_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(IndexingError, match=r"there is no index in 'milvus:.*store\.db/corpus' — run `ramify index PATH… --out"):
            Index.open(at(tmp_path))
        assert not list(tmp_path.iterdir())

    def test_vectors_of_another_length_in_the_same_collection(self, tmp_path: Path) -> None:
        Index.from_texts(["A river."], WordEncoder(), path=at(tmp_path))
        with pytest.raises(IndexingError, match="holds vectors of length 64, not 3"):
            Index.from_texts(["A river."], _Short(), path=f"{at(tmp_path)}:acme")

    def test_a_file_that_another_process_holds(self, tmp_path: Path) -> None:
        Index.from_texts(["A river."], WordEncoder(), path=at(tmp_path))
        looking = f"from ramify.tools.index import Index; Index.open({at(tmp_path)!r})"
        other = subprocess.run([sys.executable, "-c", looking], cwd=ROOT, check=False, capture_output=True, text=True)
        assert "another process" in other.stderr.strip().splitlines()[-1]

    def test_a_passage_that_is_too_long_for_milvus(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"the metadata of the passage 'a' is longer than 65,535 bytes — .* an index in a folder"):
            Index.from_texts(["A river."], WordEncoder(), [{"note": "x" * 70_000}], ids=["a"], path=at(tmp_path))

    def test_without_its_client_it_says_what_to_install(self, tmp_path: Path) -> None:
        hidden = "import sys; sys.modules['pymilvus'] = None; from ramify.tools.index import Index; "
        looking = f"{hidden}Index.from_texts(['x'], 'minilm', path={at(tmp_path)!r})"
        other = subprocess.run([sys.executable, "-c", looking], cwd=ROOT, check=False, capture_output=True, text=True, env=os.environ)
        assert "pip install 'ramify-rag[milvus]'" in other.stderr.strip().splitlines()[-1]


class _Short(WordEncoder):
    @property
    def dimension(self) -> int:
        return 3


def test_the_metadata_has_all_that_another_machine_needs(tmp_path: Path) -> None:
    """A build reads back what others have written: their documents stay, and how they were made."""
    corpus = write_records(tmp_path / "records.jsonl", range(10))
    Index.build([corpus], at(tmp_path), WordEncoder(), label=["topic"])
    built = Index.build([write_records(tmp_path / "more.jsonl", range(20, 25))], at(tmp_path), WordEncoder(), label=["topic"])
    assert (built.added, built.documents) == (5, 15)
    assert Index.open(at(tmp_path), WordEncoder()).manifest.label == ["topic"]
