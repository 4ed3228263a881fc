"""The reader for Korean: the same heads on multilingual E5, used if that is downloaded.

It was trained on English questions only; the multilingual encoder transfers it to Korean.
"""

import re
from collections.abc import Sequence
from typing import Final

from ramify.embedded.encoders.e5 import e5_is_downloaded
from ramify.embedded.reader.calibration import CalibrationWeights
from ramify.tools.languages import detect_language

MULTILINGUAL_WEIGHTS_FILE: Final = "multilingual.safetensors"
MULTILINGUAL_WEIGHTS_SHA256 = "ab0d1844d60e3303fe05d74b916902d056f1b73c10386fbebabbd88a6efd86a5"
LANGUAGE: Final = "Korean"
MULTILINGUAL_SPAN_WEIGHTS: Final[CalibrationWeights] = (0.698, 1.916, 0.0, 0.0, -0.915)
"""Calibration weights as in `calibration`, fitted on English questions, without the features of length and single fact."""
MULTILINGUAL_YES_NO_WEIGHTS: Final[CalibrationWeights] = (0.586, -0.632, 0.0, 0.0, -0.553)
KOREAN_YES_NO: Final = {"Yes": "예", "No": "아니요"}
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_MIN_STEM_SYLLABLES = 2
"""Least syllables of the remaining word; shorter words may only look as if they ended with a particle."""
_AFTER_CONSONANT: Final = ("으로", "은", "이", "을", "과")
_AFTER_VOWEL: Final = ("라는", "라고", "였다", "며", "는", "가", "를", "와", "로")
_AFTER_ANY: Final = (
    "에서는",
    "에서",
    "에게",
    "까지",
    "부터",
    "입니다",
    "이라는",
    "이라고",
    "이었다",
    "이다",
    "이며",
    "이고",
    "에는",
    "의",
    "에",
)
_ISM_SUFFIX: Final = "주의"
"""The suffix "-ism", which only looks like a particle: 민주주의 is democracy."""
_FINAL_COUNT: Final = 28
"""The number of final consonants of a Hangul syllable, including none, in Unicode order."""
_RIEUL: Final = 8
_FIRST_SYLLABLE: Final = 0xAC00


def should_read(question: str, contexts: Sequence[str]) -> bool:
    """Return whether to use this reader: the question or most of the passages are Korean, and the encoder is downloaded."""
    if not any(map(_HANGUL.search, (question, *contexts))):
        return False
    return e5_is_downloaded() and (is_korean(question) or 2 * sum(map(is_korean, contexts)) > len(contexts))


def is_korean(text: str) -> bool:
    """Return whether a text is in Korean."""
    return bool(_HANGUL.search(text)) and detect_language(text) == LANGUAGE


def strip_particle(text: str) -> str:
    """Return an answer without the particle or copula at its last word, which belong to the surrounding sentence."""
    text = text.rstrip(". ")
    if not _HANGUL.match(text[-1:]) or text.endswith(_ISM_SUFFIX):
        return text
    last = text.rpartition(" ")[2]
    endings = sorted((*_AFTER_CONSONANT, *_AFTER_VOWEL, *_AFTER_ANY), key=len, reverse=True)
    for ending in endings:
        stem = last.removesuffix(ending)
        if stem != last and len(stem) >= _MIN_STEM_SYLLABLES and _can_follow(ending, stem[-1]):
            return text.removesuffix(ending)
    return text


def _can_follow(ending: str, sign: str) -> bool:
    """Return whether a particle has the right form after this letter, digit or syllable."""
    if ending in _AFTER_ANY or not _HANGUL.match(sign):
        return True
    final = (ord(sign) - _FIRST_SYLLABLE) % _FINAL_COUNT
    closed = final != 0 and not (ending == "로" and final == _RIEUL)
    return ending in (_AFTER_CONSONANT if closed else _AFTER_VOWEL)
