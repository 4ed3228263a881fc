"""The reader for Korean: when it reads, what it leaves of an answer, and what is said where it is not downloaded."""

from dataclasses import replace

import pytest

from plugins.embedded.tests.multilingual import DOWNLOADED
from ramify.embedded.encoders.e5 import E5, e5_is_downloaded
from ramify.embedded.extractive import questions
from ramify.embedded.extractive.model import reply_to
from ramify.embedded.reader import multilingual, reading
from ramify.embedded.reader.calibration import SPAN_WEIGHTS
from ramify.embedded.reader.multilingual import should_read, strip_particle
from ramify.tools.errors import ModelError

KOREAN = "스케리 등대를 지은 사람은 누구인가?"
ENGLISH = "Who built the lighthouse of Skerry?"
IN_KOREAN = "스케리 등대는 1905년에 기술자 안나 홀트가 지었다. 등대의 높이는 41미터이다."
IN_ENGLISH = "The lighthouse of Skerry was built by Anna Holt in 1905."


@pytest.fixture(params=[True, False], ids=["downloaded", "absent"])
def downloaded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """An environment with or without the encoder, whatever this one has."""
    there = bool(request.param)
    monkeypatch.setattr(multilingual, "e5_is_downloaded", lambda: there)
    return there


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("서울에서", "서울"),
        ("1905년에", "1905년"),
        ("기술자 안나 홀트가", "기술자 안나 홀트"),
        ("세종대왕은", "세종대왕"),
        ("군산으로", "군산"),
        ("서울로", "서울"),
        ("41미터이다.", "41미터"),
        ("NASA가", "NASA"),
        ("14일 이내에", "14일 이내"),
        ("학교", "학교"),
        ("민주주의", "민주주의"),
        ("화가", "화가"),
        ("제주도", "제주도"),
        ("가을", "가을"),
        ("국가를", "국가"),
        ("Anna Holt", "Anna Holt"),
        ("", ""),
    ],
)
def test_a_particle_belongs_to_the_sentence_and_not_to_the_answer(text: str, left: str) -> None:
    assert strip_particle(text) == left


def test_it_reads_korean_questions_and_korean_passages_where_it_is_downloaded(downloaded: bool) -> None:
    assert not should_read(ENGLISH, (IN_ENGLISH,))
    assert not should_read(ENGLISH, (IN_ENGLISH, f"{IN_ENGLISH} 안나"))
    assert should_read(KOREAN, (IN_ENGLISH,)) == downloaded
    assert should_read(ENGLISH, (IN_KOREAN, IN_KOREAN, IN_ENGLISH)) == downloaded
    assert not should_read(ENGLISH, (IN_KOREAN, IN_ENGLISH))


def test_all_passages_of_a_question_are_read_by_one_reader(downloaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(reading, "read_context", lambda question, context, reader: read.append(reader.label))
    reading.read_contexts(KOREAN, (IN_ENGLISH, IN_KOREAN))
    reading.read_contexts(ENGLISH, (IN_ENGLISH, IN_ENGLISH))
    assert read == ["the multilingual reader" if downloaded else "the reader"] * 2 + ["the reader"] * 2


def test_its_confidence_has_constants_of_its_own(downloaded: bool) -> None:
    wanted = multilingual.MULTILINGUAL_SPAN_WEIGHTS if downloaded else SPAN_WEIGHTS
    assert reading.reader_for(KOREAN, (IN_KOREAN,)).span_weights == wanted
    assert reading.reader_for(ENGLISH, (IN_ENGLISH,)).span_weights == SPAN_WEIGHTS


def test_a_korean_question_gets_the_remedy_in_korean(downloaded: bool) -> None:
    objected = questions.unreadable_reason(KOREAN) or ""
    assert bool(objected) != downloaded
    assert downloaded or ("reads English only" in objected and f"한국어: `ramify download {E5}`" in objected)
    other = questions.unreadable_reason("Wer hat den Leuchtturm gebaut?") or ""
    assert "reads English only" in other
    assert E5 not in other


def test_a_korean_question_is_not_split_by_rules_of_english() -> None:
    assert questions.choose_split(KOREAN) is None


def test_changed_weights_are_rejected() -> None:
    other = replace(reading.MULTILINGUAL, sha256="0" * 64, _network=None)
    with pytest.raises(ModelError, match=r"the multilingual reader's weights have sha256 .* reinstall ramify"):
        other.load()


@DOWNLOADED
def test_a_korean_question_is_answered_from_a_korean_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual, "e5_is_downloaded", e5_is_downloaded)
    slots = {"question": KOREAN, "above": "", "passages": [{"title": "스케리 등대", "source": "s", "text": IN_KOREAN}]}
    reply = reply_to("answer", slots)
    assert "안나 홀트" in reply["answer"]
    assert reply["citations"] == [1]
