"""The language of a text by its letters and small words."""

import pytest

from ramify.tools.languages import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where was the inventor of the ballpoint pen born?", "English"),
        ("Wo wurde der Erfinder des Kugelschreibers geboren?", "German"),
        ("Où est né l'inventeur du stylo à bille ?", "French"),
        ("볼펜을 발명한 László Bíró는 어디에서 태어났는가?", "Korean"),
        ("ボールペンを発明したのは誰ですか", "Japanese"),
        ("圆珠笔是谁发明的", "Chinese"),
        ("Кто изобрёл шариковую ручку?", "Russian"),
        ("László Bíró", None),
        ("Die Hard", None),
        ("Los Angeles", None),
        ("Les Misérables", None),
        ("1938", None),
        ("", None),
    ],
)
def test_the_language_is_detected_or_none(text: str, language: str | None) -> None:
    assert detect_language(text) == language
