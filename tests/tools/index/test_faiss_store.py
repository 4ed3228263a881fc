"""FAISS stores saved by LangChain, as `--index faiss:DIR`: loaded only if the user allows it, never unpickled otherwise."""

import io
import json
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_community.vectorstores import FAISS

import ramify.graphs as graphs
from ramify.studio.cli import run
from ramify.tools.embeddings import load_encoder
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.index_store import ALLOW_FLAG, load_faiss
from tests.embeddings import WordEmbeddings
from tests.graphs.agents import thinker
from tests.river import QUESTION, TEXTS


class Bomb:
    """Leave a mark where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A store as a program saves it, with the embedding that comes with the package."""
    metadatas = [{"source": f"{n}.txt"} for n in range(len(TEXTS))]
    FAISS.from_texts(list(TEXTS), load_encoder("minilm"), metadatas).save_local(str(tmp_path / "store"))
    return tmp_path / "store"


def test_it_is_searched_and_asked_if_allowed(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "Which river runs through Paris?", "--index", f"faiss:{saved}", ALLOW_FLAG, "-k", "1", "--json"]) == 0
    [hit] = json.loads(capsys.readouterr().out)
    assert (hit["source"], hit["text"]) == ("1.txt", TEXTS[1])
    assert run(["ask", "Which river runs through Paris?", "--index", f"faiss:{saved}", ALLOW_FLAG, "--model", "extractive", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["answer"], output["index"]) == ("Seine", "FAISS")


def test_a_chat_asks_it_too(saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Which river runs through Paris?\n"))
    assert run(["chat", "--index", f"faiss:{saved}", ALLOW_FLAG, "--model", "extractive"]) == 0
    assert "Seine" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["search", "Who?"], ["ask", "Who?"], ["chat"], ["mcp"]])
def test_without_the_flag_nothing_is_unpickled(command: list[str], saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mark = saved / "mark"
    (saved / "index.pkl").write_bytes(pickle.dumps(Bomb(mark)))
    assert run([*command, "--index", f"faiss:{saved}"]) == 2
    output = capsys.readouterr().err
    assert all(words in output for words in ("pickle", str(saved), ALLOW_FLAG))
    assert not mark.exists()


@pytest.mark.parametrize("interface", [graphs.research_tool, graphs.search_tool, partial(graphs.ask, "Who?")])
def test_python_does_not_load_it_by_its_address(interface: Any, saved: Path) -> None:
    with pytest.raises(UsageError, match=r"pickle.* in Python pass the loaded store"):
        interface(index=f"faiss:{saved}")


def test_a_missing_store_or_another_embedding_is_reported(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match=r"index\.faiss is missing"):
        load_faiss(f"faiss:{tmp_path}/nowhere")
    FAISS.from_texts(list(TEXTS), WordEmbeddings()).save_local(str(tmp_path / "words"))
    with pytest.raises(IndexingError, match=r"vectors of length .*'minilm' gives 384 .*@EMBEDDING"):
        load_faiss(f"faiss:{tmp_path}/words")
    assert load_faiss(f"faiss:{saved}@minilm").similarity_search("Tiber", k=1)[0].page_content == TEXTS[3]
    (saved / "index.pkl").write_bytes(b"no pickle")
    with pytest.raises(IndexingError, match="cannot be read"):
        load_faiss(f"faiss:{saved}")


def test_a_program_gives_the_store_that_it_has_loaded(saved: Path) -> None:
    store = FAISS.load_local(str(saved), load_encoder("minilm"), allow_dangerous_deserialization=True)
    assert graphs.ask(QUESTION, model=thinker(), index=store).answer == "Seine"
