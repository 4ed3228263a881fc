"""Bad input gets one clear line and an exit code, and nothing is lost."""

import io
import json
import shlex
import shutil
from pathlib import Path

import pytest

from ramify.embedded.reader import reading
from ramify.embedded.reader.reading import read_context
from ramify.tools.index import Index
from tests.embeddings import WordEmbeddings
from tests.faults import fault
from tests.studio.conftest import Ramify
from tests.tools.ollama_server import Ollama


def one_line(err: str, *words: str) -> bool:
    """Tell whether stderr holds one error line, with its remedy and these words."""
    return err.startswith("error: ") and err.count("\n") == 1 and " — " in err and all(word in err for word in words)


HALVES = (
    ("search", "--filter", "a=\udcff"),
    ("search", "--filter", "\udcff=a"),
    ("ask", "--set", 'filter={"a": "\\ud800"}'),
    ("ask", "--set", "base_url=\udcff"),
    ("ask", "--base-url", "\udcff"),
    ("ask", "--model", "gguf:\udcff"),
    ("ask", "--index", "\udcff"),
)
"""Options with half a surrogate pair, or a byte that is no UTF-8, in their value."""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ask", "   "), ("empty",)),
        (("search", ""), ("empty",)),
        (("ask", "Who?", "--strategy", "oak"), ("oak", "prune")),
        (("graph", "oak"), ("oak", "prune")),
        (("settings", "oak"), ("oak", "prune")),
        (("ask", "Who?", "--set", "leaves=3"), ("leaves", "tau")),
        (("ask", "Who?", "--set", "k=many"), ("k", "many")),
        (("ask", "Who?", "--set", "k=0"), ("k",)),
        (("ask", "Who?", "--set", "joint=perhaps"), ("joint", "perhaps")),
        (("ask", "Who?", "--set", "k"), ("KEY=VALUE",)),
        (("ask", "Who?", "--set", "k=1", "--set", "k=2"), ("twice",)),
        (("ask", "Who?", "--set", "reader=neural"), ("reader", "prune has no setting")),
        (("ask", "Who?", "--set", "rerank_k=0"), ("rerank_k",)),
        (("ask", "Who?", "--model", "extractive", "--set", "model=auto"), ("--model", "--set")),
        (("ask", "Who?", "--model", "parrot"), ("parrot", "ollama:")),
        (("ask", "Who \udcff?"), ("UTF-8",)),
        *(((command, "Who?", option, value), ("UTF-8",)) for command, option, value in HALVES),
        (("ask", "Who?", "--set", f"k={'1' * 100_000}"), ("k='111", "1… is not valid")),
        (("ask", "Who?", "--set", f"{'k' * 100_000}=1"), ("kk…kk", "no setting")),
        (("ask", "Who?", "--strategy", "o" * 100_000), ("oo…oo",)),
        (("ask", "Who?", "--set", f"joint={'1' * 100_000}"), ("joint",)),
        (("ask", "Who?", "--set", "filter=" + '{"a": 9223372036854775808}'), ("integer",)),
        (("search", "Who?", "--filter", "a=9223372036854775808"), ("integer",)),
        (("search", "Who?", "--filter", 'a={"x": "' + "1" * 100_000 + '"}'), ("cannot filter 'a'",)),
        (("search", "Who?", "-k", "9" * 30), ("at most",)),
        (("mcp", "--about", "half \udcff"), ("UTF-8",)),
        ((f"--{'k' * 100_000}",), ("kk…kk",)),
    ],
)
@fault(
    "interfaces",
    "wrong usage: option, value, name, empty question, bytes that are not UTF-8",
    sees="one line on stderr, nothing on stdout",
    kept="nothing is started",
    code=2,
)
def test_wrong_usage(ramify: Ramify, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    done = ramify(*arguments)
    assert (done.code, done.out) == (2, "")
    assert one_line(done.err, *words), done.err
    assert len(done.err) < 1000


@fault("interfaces", "filter of thousands of values or fields", sees="an answer, or nothing found", kept="all", code=0)
def test_any_number_of_values_and_fields_is_a_filter(ramify: Ramify, built: Path) -> None:
    asked = ("search", "Where was Marie Curie born?", "--index", built)
    assert "curie" in ramify(*asked, "--filter", f"source={json.dumps(['curie.txt', *map(str, range(5000))])}").out
    done = ramify(*asked, *(word for number in range(2000) for word in ("--filter", f"field{number}={number}")))
    assert (done.code, done.out.startswith("No passages found")) == (0, True)


@pytest.mark.parametrize(
    "place", ["a" * 5000, "nul\0", "loop", "loop/below", "file/below", "half\udcff", "/proc/below", "~nobody-of-that-name"]
)
@fault(
    "index",
    "impossible path: too long, with NUL, a cycle of links, below a file",
    sees="one line on stderr at every command",
    kept="nothing is written",
    code=1,
)
def test_a_place_that_cannot_be(ramify: Ramify, documents: Path, built: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    where = place if place.startswith(("/", "~")) else tmp_path / place
    for command in (
        ("index", documents, "--out", where),
        ("index", where, "--out", tmp_path / "index"),
        ("search", "Where?", "--index", where),
        ("ask", "Where?", "--index", where, "--model", "extractive"),
        ("inspect", where),
        ("compare", where, where),
        ("chat", "--memory", f"sqlite:{where}", "--threads"),
        ("mcp", "--index", where),
        ("eval", where, "--out", tmp_path / "run"),
    ):
        done = ramify(*command)
        assert (done.code in (1, 2), done.out) == (True, "")
        assert one_line(done.err), (command, done.err)
        assert len(done.err) < 1000
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "loop"]


@pytest.mark.parametrize(
    "asked",
    [("ask", "Who?", "--set", "rerank=no/such-reranker", "--model", "extractive"), ("search", "Who?", "--rerank", "no/such-reranker")],
)
def test_no_such_reranker(ramify: Ramify, asked: tuple[str, ...]) -> None:
    done = ramify(*asked)
    assert (done.code, done.out) == (1, "")
    assert one_line(done.err, "no/such-reranker", "hf download"), done.err


def test_no_such_path(ramify: Ramify, tmp_path: Path) -> None:
    done = ramify("index", tmp_path / "nothing", "--out", tmp_path / "index")
    assert done.code == 1
    assert one_line(done.err, "nothing")


def test_empty_folder(ramify: Ramify, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    done = ramify("index", tmp_path / "folder", "--out", tmp_path / "index")
    assert done.code == 1
    assert one_line(done.err, "folder", "txt")


def test_bad_files_are_named_and_the_good_ones_indexed(ramify: Ramify, documents: Path, tmp_path: Path) -> None:
    done = ramify("index", documents, "--out", tmp_path / "index")
    assert done.code == 0
    assert "2 files (2 added), 3 files skipped" in done.out
    assert "2 files (2 added), 3 files skipped, " in done.out
    assert all(f"skipped {name}: " in done.err for name in ("binary.txt", "empty.txt"))
    assert "skipped 1 .mp3: no reader for these" in done.err
    assert "skipped song.mp3: no reader" in ramify("index", documents, "--out", tmp_path / "index", "--verbose").err
    again = ramify("index", documents, "--out", tmp_path / "index")
    assert "2 unchanged" in again.out
    assert "(0 encoded)" in again.out


def test_an_index_where_none_can_be_written(ramify: Ramify, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    done = ramify("index", documents, "--out", tmp_path / "file")
    assert done.code == 1
    assert one_line(done.err, "file")


def test_no_index(ramify: Ramify, tmp_path: Path) -> None:
    for arguments in (("search", "Who?", "--index", tmp_path), ("ask", "Who?", "--index", tmp_path, "--model", "extractive")):
        done = ramify(*arguments)
        assert (done.code, done.out) == (1, "")
        assert one_line(done.err, "no index", "ramify index")


def test_an_index_of_another_embedding(ramify: Ramify, documents: Path, tmp_path: Path, nowhere: str) -> None:
    Index.from_texts(["Warsaw lies on the Vistula."], WordEmbeddings(), path=tmp_path)
    done = ramify("search", "Where?", "--index", tmp_path)
    assert done.code == 1
    assert one_line(done.err, "WordEmbeddings")
    done = ramify("index", documents, "--out", tmp_path)
    assert done.code == 1
    assert one_line(done.err, "WordEmbeddings", "minilm")


@fault("index", "damaged index at the command line", sees="one line on stderr, nothing on stdout", kept="the index as it was", code=1)
def test_a_damaged_index(ramify: Ramify, built: Path, tmp_path: Path) -> None:
    shutil.copytree(built, tmp_path / "index")
    vectors = tmp_path / "index" / "vectors.faiss"
    vectors.write_bytes(vectors.read_bytes()[:-20])
    done = ramify("search", "Where?", "--index", tmp_path / "index")
    assert done.code == 1
    assert one_line(done.err, "damaged", "ramify index")


@fault(
    "index",
    "half-written index at the command line",
    sees="one line on stderr, nothing on stdout",
    kept="what was written, for the next `ramify index`",
    code=1,
)
def test_a_half_written_index(ramify: Ramify, built: Path, tmp_path: Path) -> None:
    shutil.copytree(built, tmp_path / "index")
    (tmp_path / "index" / "manifest.json").unlink()
    done = ramify("search", "Where?", "--index", tmp_path / "index")
    assert done.code == 1
    assert one_line(done.err, "half-written", "ramify index")


def test_a_filter_that_is_none_is_shown_one_that_works(ramify: Ramify, documents: Path, built: Path) -> None:
    asked = ("ask", "Where was Marie Curie born?", "--index", built, "--model", "extractive")
    done = ramify(*asked, "--set", "filter=curie.txt")
    assert done.code == 2
    assert one_line(done.err, "filter='curie.txt'", 'write it as `--set \'filter={"source": "report.pdf"}\'`')
    example = shlex.split(done.err.split("`")[1].replace("report.pdf", "curie.txt"))
    assert "Warsaw" in ramify(*asked, *example).out
    assert "Unknown" in ramify(*asked, *shlex.split(done.err.split("`")[1])).out


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_an_address_where_nothing_answers_is_an_error_without_a_model_s_name(
    ramify: Ramify, nowhere: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Who?\n"))
    done = ramify(command, *(["Who?"] if command == "ask" else []), "--base-url", f"{nowhere}/v1")
    assert done.out == ""
    assert one_line(done.err, f"no Ollama server answers at {nowhere}/v1", f"`--model openai:NAME --base-url {nowhere}/v1`")


@fault("interfaces", "model's server is not running", sees="one line that says how to start it", kept="nothing is started", code=1)
def test_ollama_is_not_running(ramify: Ramify, nowhere: str) -> None:
    done = ramify("ask", "Who?", "--model", "ollama:llama3.1:8b", "--base-url", nowhere)
    assert (done.code, done.out) == (1, "")
    assert one_line(done.err, "ollama serve")


@fault("interfaces", "model is not installed", sees="one line that says how to get it", kept="nothing is started", code=1)
def test_the_model_is_not_pulled(ramify: Ramify, ollama: Ollama) -> None:
    done = ramify("ask", "Who?", "--model", "ollama:absent", "--strategy", "closed-book")
    assert (done.code, done.out) == (1, "")
    assert one_line(done.err, "ollama pull absent")


@fault("interfaces", "page that cannot be written", sees="one line that names it", kept="the answer on stdout", code=1)
def test_a_page_that_cannot_be_written(ramify: Ramify, ollama: Ollama, tmp_path: Path) -> None:
    done = ramify("ask", "Who?", "--model", "ollama:llama3.1:8b", "--strategy", "closed-book", "--html", tmp_path / "no" / "page.html")
    assert done.code == 1
    assert one_line(done.err, "page.html")


def test_the_reader_s_weights_are_missing(ramify: Ramify, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_context.cache_clear()
    monkeypatch.setattr(reading.SMALL, "_network", None)
    monkeypatch.setattr(reading.SMALL, "file", "nowhere.safetensors")
    asked = ("ask", "Where was Marie Curie born?", "--index", built, "--model", "extractive")
    done = ramify(*asked)
    assert (done.code, done.out) == (1, "")
    assert one_line(done.err, "nowhere.safetensors")
