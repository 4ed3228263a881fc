"""Endings of names by language, as data, and the basic forms that a word of a text may be an inflected form of.

A closed table, no grammar: the regular endings of singular proper names. Irregular stems ("Rom" → "Römer", "Londyn" for "London") and
derived words ("Berliner", "Иванов") are other words. Forms are compared without accents (`ramify.tools.names.fold_word`).
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from ramify.tools.english import word_set

_Endings = Mapping[str, str]
"""Endings of the inflected forms, by the ending of the basic form that they replace."""
_MIN_BASIC_CHARS, _MIN_KEPT_CHARS = 3, 2
"""Least length of a basic form, and of what it has in common with the inflected one."""

_SLAVIC_CYRILLIC = {
    "": "а у ом ем е и ым им ю я ові еві ові і",
    "а": "ы и е у ой ою і і єю и",
    "я": "и е ю ей ею і єю ї",
    "ия": "ии ию ией",
    "ія": "ії ію ією",
    "ь": "я ю ем е и ью і",
    "й": "я ю ем е и",
    "ий": "ия ию ием ии ого его ому ему им ом ем ього ьому",
    "ый": "ого ому ым ом",
    "ой": "ого ому ым ом",
    "ая": "ой ою ую",
    "яя": "ей ею юю",
    "ое": "ого ому ым ом",
    "ее": "его ему им ем",
    "о": "а у ом е ові ем",
    "е": "я ю ем и",
    "ок": "ка ку ком ке",
    "ек": "ька ьку ьком ьке ка ку ком ке",
    "ец": "ца цу цом цем це",
    "ел": "ла лу лом ле",
    "ев": "ьва ьву ьвом ьве",
    "ів": "ова ову овом ові ева еву евом еві",
    "їв": "єва єву євом єві",
    "ська": "ської ській ську ською",
    "цький": "цького цькому цьким",
}
_POLISH = {
    "": "a u owi em iem ie e iu ia i",
    "a": "y i ie e ą ę o ej iej",
    "ka": "ce",
    "ga": "dze",
    "ta": "cie",
    "t": "cie",
    "da": "dzie",
    "d": "dzie",
    "ra": "rze",
    "r": "rze",
    "ła": "le",
    "ł": "le",
    "ia": "ii ię ią io",
    "ja": "ji ję ją",
    "ek": "ka kowi kiem ku",
    "iec": "ca cowi cem cu",
    "ec": "ca cowi cem cu",
    "el": "la lowi lem lu",
    "ów": "owa owu owem owie",
    "o": "a u em ie ii",
    "e": "ego emu em a u",
    "y": "ego emu ym",
    "i": "ego iego emu iemu im",
}
_CZECH = {
    "": "a u em om ovi e ě i í",
    "a": "y i e ě u ou o om ii",
    "ha": "ze",
    "ka": "ce ci",
    "ga": "ze zi",
    "ra": "ře",
    "ia": "ii iu iou",
    "e": "i í ete a u em",
    "o": "a u em om ě e",
    "ac": "ca cu cem",
    "ar": "ra ru rom",
    "ski": "skog skom skim",
    "ek": "ka ku kem kovi kom",
    "ec": "ce ci cem covi",
    "el": "la lu lem lovi le",
    "eň": "ně ni ní",
    "ý": "ého ému ým ém",
    "á": "é ou ej ú",
    "í": "ího ímu ím",
    "ov": "ova ovu ovem ove",
}
_GERMAN = {"": "s es n en ns", "us": "i"}
_GERMAN_ADJECTIVES = {"e": "en er em es", "er": "e en em es", "es": "e en em er"}
_FINNISH_CASES = "n en an in on un a ta ssa sta lla lta lle ksi na tta seen hin han hon hun"
_FINNISH_STEMS = {
    "": ("", "i", "e"),
    "i": ("e",),
    "nen": ("se",),
    "s": ("kse", "a", "aa"),
    "nki": ("ngi",),
    "hti": ("hde",),
    "si": ("de",),
    **{f"{strong}{vowel}": (f"{weak}{vowel}",) for vowel in "aeiouy" for strong, weak in (
        ("nk", "ng"), ("nt", "nn"), ("lt", "ll"), ("rt", "rr"), ("mp", "mm"), ("ht", "hd"), ("kk", "k"), ("pp", "p"), ("tt", "t"),
        ("rk", "r"), ("lk", "l"), ("at", "ad"), ("et", "ed"), ("ot", "od"), ("ut", "ud"), ("ap", "av"), ("ep", "ev"), ("op", "ov"),
    )},
}  # fmt: skip
_HUNGARIAN_CASES = (
    "ban ben ba be bol rol tol nal nel nak nek ra re hoz hez ert ig kent on en t at et ot val vel "
    + " ".join(f"{letter}{ending}" for letter in "bcdfgjklmnprstz" for ending in ("al", "el"))
)  # fmt: skip
_TURKISH_CASES = (
    "da de ta te dan den tan ten a e ya ye i u yi yu in un nin nun la le yla yle dir tir dur tur daki deki taki teki "
    "daydi deydi dadir dedir ca ce"
)  # fmt: skip
TURKISH_ENDINGS = frozenset(_TURKISH_CASES.split())
"""Case endings as they also stand after an apostrophe, without accents."""
_GREEK = {
    "ος": "ου ο ον ε",
    "ς": "",
    "ας": "α",
    "ης": "η",
    "α": "ας αν ης",
    "η": "ης ην",
    "ο": "ου",
    "ι": "ιου",
    "ων": "ωνα ωνος",
}
_ENDINGS: Mapping[str, _Endings] = {
    "German": _GERMAN,
    "Dutch": {"": "s"},
    "Scandinavian": {"": "s"},
    "Russian": _SLAVIC_CYRILLIC,
    "Polish": _POLISH,
    "Czech": _CZECH,
    "Turkish": {"": _TURKISH_CASES},
    "Finnish": {
        basic: " ".join(f"{stem}{case}" for stem in stems for case in _FINNISH_CASES.split()) for basic, stems in _FINNISH_STEMS.items()
    },
    "Hungarian": {"": _HUNGARIAN_CASES},
    "Romanian": {"": "ul ului lui", "a": "ei ii", "ia": "iei", "u": "ului"},
    "Greek": _GREEK,
    "Baltic": {
        "as": "o ui a e ai", "us": "aus ui u uje", "is": "io iui i yje a im", "a": "os ai a oje as u", "e": "es ei e eje",
        "s": "a am u",
    },
}  # fmt: skip
"""By the name of the language in `languages.py`; those of Russian and Czech also serve the languages related to them."""
_LETTERS = {
    "German": "äöüß",
    "Polish": "ąćęłńśźż",
    "Czech": "ěřůďťňčšžýľĺŕđć",
    "Turkish": "ğışçöü",
    "Finnish": "äö",
    "Hungarian": "őűáéöü",
    "Romanian": "țșăâ",
    "Baltic": "āēīūģķļņėųį",
}
"""Letters that tell that a short text without function words may be in a language."""


def languages_by_letters(text: str) -> frozenset[str]:
    """Return the inflecting languages of which a text has letters that English lacks."""
    written = frozenset(unicodedata.normalize("NFC", text).lower())
    return frozenset(language for language, letters in _LETTERS.items() if written.intersection(letters))


class Inflection:
    """The basic forms of words in a set of languages; without an inflecting language, each word is its own."""

    def __init__(self, languages: Iterable[str], fold: Callable[[str], str]) -> None:
        """Prepare the tables; fold: normalizes endings as the words are."""
        known = sorted(_ENDINGS.keys() & frozenset(languages))
        self._basic = _by_ending([_ENDINGS[language] for language in known], fold)
        adjectives = _by_ending([_GERMAN_ADJECTIVES] if "German" in known else [], fold)
        self._basic_within = {ending: self._basic.get(ending, ()) + adjectives.get(ending, ()) for ending in {*self._basic, *adjectives}}
        self._longest = max(map(len, self._basic_within), default=0)

    def basic_forms(self, word: str, is_last: bool) -> frozenset[str]:
        """Return the forms that a word may be inflected from, with itself; is_last: whether it ends a name."""
        endings, forms = self._basic if is_last else self._basic_within, {word}
        for cut in range(min(self._longest, len(word) - _MIN_KEPT_CHARS) + 1):
            kept, ending = word[: len(word) - cut], word[len(word) - cut :]
            forms.update(kept + basic for basic in endings.get(ending, ()) if len(kept + basic) >= _MIN_BASIC_CHARS)
        return frozenset(forms)


def _by_ending(tables: Iterable[_Endings], fold: Callable[[str], str]) -> dict[str, tuple[str, ...]]:
    """Return the basic endings by inflected ending."""
    forms: dict[str, dict[str, None]] = {}
    for table in tables:
        for basic, endings in table.items():
            for ending in endings.split() or [""]:
                forms.setdefault(fold(ending), {})[fold(basic)] = None
    return {ending: tuple(basic) for ending, basic in forms.items()}


_FINAL_REQUIRED = word_set("은 이 을 과 이랑 이나 이라도 이여 이야 아")
"""Korean particles that follow a final consonant, and those that follow a vowel."""
_VOWEL_REQUIRED = word_set("는 가 를 와 랑 나 라도 란 라는 라고 였다 였던 예요 야")
_RO = ("으로", "로")
"""Follows a consonant but ㄹ; follows a vowel or ㄹ. Also the beginning of 으로서, 로써, 으로부터, …"""
_ANY_PARTICLE = word_set(
    "의 에 에서 에게 에게서 께 께서 한테 한테서 하고 도 만 까지 부터 마저 조차 밖에 뿐 보다 처럼 같이 "
    "마다 들 씨 님 측 엔 에선 에겐 께선 한텐 입니다 이다 이며 이고 이자 이란 이라 이라는 이라고 이었다 "
    "이었던 이던 이에요 인데 인지 이요 만큼 대로 커녕 에다 에도 에만 에는 에서도 에서는 에서의 에게는 "
    "와의 과의 와는 과는"
)
_MAX_PARTICLES = 3
_NO_FINAL, _FINAL_L, _FINALS = 0, 8, 28
"""Position of a syllable's final consonant among the 28 of each vowel: none, ㄹ."""
_HANGUL = range(0xAC00, 0xD7A4)


@cache
def _particles() -> tuple[str, ...]:
    ro = [start + end for start in _RO for end in ("", "서", "써", "부터", "서의", "의", "는", "도", "만", "서는")] + ["론", "으론"]
    return (*_FINAL_REQUIRED, *_VOWEL_REQUIRED, *_ANY_PARTICLE, *ro)


def are_korean_particles(text: str, before: str, left: int = _MAX_PARTICLES) -> bool:
    """Return whether a text is one to three particles that may follow a syllable: after 서울, 에서는 but not 가."""
    if not left or not text:
        return not text
    fitting = [particle for particle in _particles() if text.startswith(particle) and _may_follow(particle, before)]
    return any(are_korean_particles(text[len(particle) :], particle[-1], left - 1) for particle in fitting)


def _may_follow(particle: str, before: str) -> bool:
    if ord(before) not in _HANGUL:
        return True
    final = (ord(before) - _HANGUL.start) % _FINALS
    if particle in _FINAL_REQUIRED:
        return final != _NO_FINAL
    if particle in _VOWEL_REQUIRED:
        return final == _NO_FINAL
    if particle.startswith("으"):
        return final not in (_NO_FINAL, _FINAL_L)
    return final in (_NO_FINAL, _FINAL_L) if particle.startswith(("로", "론")) else True
