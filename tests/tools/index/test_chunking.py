"""Splitting documents by tokens at sensible boundaries, without losing or changing a character; labels without repetition."""

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder, Offsets
from ramify.tools.embeddings.local_encoders import WordPieceEncoder
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM
from ramify.tools.errors import UsageError
from ramify.tools.index.chunking import Chunking, embedded_text, passage_label, split_documents, truncate_label
from tests.counted_work import growth

SENTENCE = "The inspector found a hairline crack near the third rivet of the left spar. "


@cache
def minilm() -> Encoder:
    return load_encoder("minilm")


def passages(text: str, tokens: int = 300, overlap: int = 30, **metadata: str) -> list[Document]:
    return split_documents([Document(text, id="doc", metadata=metadata)], minilm(), Chunking(tokens, overlap))[0]


def test_a_short_text_stays_whole() -> None:
    (passage,) = passages("  One sentence.\n", title="T")
    assert (passage.id, passage.page_content, passage.metadata) == ("doc", "One sentence.", {"title": "T"})


def test_passages_are_numbered_and_within_the_limit() -> None:
    found = passages(SENTENCE * 60, title="Spars")
    assert [passage.id for passage in found] == ["doc", *(f"doc~{number}" for number in range(2, len(found) + 1))]
    assert all(minilm().count_tokens(passage.page_content) <= 300 for passage in found)
    assert all(passage.metadata["title"] == "Spars" for passage in found)


def test_passages_end_at_a_paragraph_where_there_is_one() -> None:
    text = "\n\n".join([SENTENCE * 14] * 3).replace(" \n", "\n")
    assert all(passage.page_content.endswith("spar.") for passage in passages(text, 300, 0))
    assert len(passages(text, 300, 0)) == 3


def test_a_heading_line_starts_a_passage_without_overlap() -> None:
    text = f"{SENTENCE * 12}\n# Wings\n{SENTENCE * 12}"
    assert passages(text)[1].page_content.startswith("# Wings")


def test_the_next_passage_repeats_the_end_of_the_last() -> None:
    first, second, *_ = passages(SENTENCE * 60)
    assert second.page_content.startswith("The inspector")
    assert first.page_content.endswith(second.page_content[: len(SENTENCE) - 1])


@pytest.mark.parametrize("text", ["x" * 3000, "가나다라마바사아자차카타파하" * 80, "日本語の文章です。" * 100, "a\n" * 900])
def test_text_without_words_is_split_too(text: str) -> None:
    assert all(minilm().count_tokens(passage.page_content) <= 50 for passage in passages(text, 50, 10))


def test_nothing_goes_past_what_the_model_sees() -> None:
    encoder = minilm()
    title = "A very long title about everything that can happen to an aircraft " * 30
    for passage in passages(SENTENCE * 80, 600, 60, title=title):
        embedded = embedded_text(passage.page_content, truncate_label(passage_label(passage.metadata), encoder))
        assert encoder.count_tokens(embedded) <= encoder.max_tokens


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab .\n#é가。", max_size=400), st.integers(5, 30), st.integers(0, 4))
def test_passages_are_slices_that_cover_the_text(text: str, tokens: int, overlap: int) -> None:
    reached = 0
    for passage in passages(text, tokens, overlap):
        start = text.find(passage.page_content, max(0, reached - 400) if overlap else reached)
        assert start >= 0
        assert not text[reached:start].strip() or overlap
        reached = max(reached, start + len(passage.page_content))
    if not overlap:
        assert not text[reached:].strip()


def test_the_label_is_title_and_headings_each_once() -> None:
    assert passage_label({"title": "Pump", "heading": "Pump > Care"}) == "Pump > Care"
    assert embedded_text("Oil it.", "Pump > Care") == "Pump > Care\nOil it."
    assert embedded_text("Pump > Care. Oil it.", "Pump > Care") == "Pump > Care. Oil it."


@pytest.mark.parametrize("unit", ["ok\n", "# Head\nOne sentence.\n", "One sentence. "])
def test_the_work_grows_as_the_text_does(unit: str) -> None:
    assert growth(lambda size: passages(unit * size, 20, 5), 400) < 5


def test_the_work_grows_as_the_text_and_its_pages_do() -> None:
    def split_pages(size: int) -> list[list[Document]]:
        pages = [[number * len(SENTENCE), number] for number in range(size)]
        return split_documents([Document(SENTENCE * size, id="doc", metadata={"pages": pages})], minilm(), Chunking(20, 0))

    assert growth(split_pages, 100) < 5


@pytest.mark.parametrize(
    "text", [SENTENCE * 300, "a line\n" * 4000, f"# Wings\n{SENTENCE * 3}\n\n" * 100, "x" * 20_000, " " * 9000 + SENTENCE]
)
def test_a_long_text_is_split_the_same_piece_by_piece(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = passages(text, 100, 20)
    monkeypatch.setattr("ramify.tools.index.chunking._MAX_TOKENIZED_CHARS", 2000)
    assert passages(text, 100, 20) == whole


def test_a_long_text_is_never_tokenized_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    class Measured(WordPieceEncoder):
        def offsets(self, texts: Sequence[str]) -> list[Offsets]:
            seen.extend(map(len, texts))
            return super().offsets(texts)

    monkeypatch.setattr("ramify.tools.index.chunking._MAX_TOKENIZED_CHARS", 2000)
    split_documents([Document(SENTENCE * 300, id="doc")], Measured(PACKAGED_MINILM), Chunking(100, 20))
    assert max(seen) <= 2000


def test_an_overlap_as_long_as_the_passage_is_refused() -> None:
    with pytest.raises(UsageError, match="0 <= overlap < tokens"):
        passages(SENTENCE, 30, 30)


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("Chapter 4", "Chapter 4 > 4.2 Rings", "Chapter 4 > 4.2 Rings"),
        ("Manual — 4.2 Foo", "4.2 Foo", "4.2 Foo"),
        ("4.2 Foo", "Manual — 4.2 Foo", "Manual — 4.2 Foo"),
        ("1.2 Seals", "Seals > Rings", "1.2 Seals > Rings"),
        ("add(1)", "add(1) Manual Page > OPTIONS", "add(1) Manual Page > OPTIONS"),
        ("copy — Files — Tools 3 documentation", "copy — Files > Use", "copy — Files > Use"),
        ("Pump care", "Care", "Pump care > Care"),
        ("Operators", "+ > -", "Operators > + > -"),
        ("문서", "문서 > 소개", "문서 > 소개"),
        ("", "A > B", "A > B"),
        ("A", "", "A"),
    ],
)
def test_title_and_headings_are_not_repeated(title: str, heading: str, expected: str) -> None:
    assert passage_label({"title": title, "heading": heading}) == expected
