"""Recognise a reply that gives no answer: "Unknown", "Not mentioned in the passages", "Keine Angabe", "未提及".

A reply gives no answer if it is a value for nothing, or if its clauses say so of the documents or of who replies. A clause is judged by
its closed-class words: negations, verbs of stating and finding, words for documents and for information. Names contain such words, too:
any other word makes the clause an answer, unless the words before or after it are a statement about the documents ("The passages do not
say who built it").
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import takewhile

from ramify.tools._no_answer_words import LANGUAGES, NULL_VALUES

UNKNOWN = "Unknown"
MAX_CHARS = 1000
"""Longer replies are answers."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_QUOTES = str.maketrans(dict.fromkeys('"“”„«»「」『』*`_~', " ") | {"‘": "'", "’": "'"})
_CITATION = re.compile(r"[\[【](\d{1,6})[\]】]")
_FIRST_CITATION = re.compile(rf"^{_CITATION.pattern}")
_CLAUSE_END = re.compile(r"(?<![.,;:!?()\[\]{}<>])[.,;:!?()\[\]{}<>]++(?:\s|$)|[。、，；：！？\n]|\s[(\[]|\s[-–—]+\s")
_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[^\W{_WIDE}]+(?:/[^\W{_WIDE}]+)*|[{_WIDE}]+")
_ENUMERATION = re.compile(r"(?<=\d),\s*(?=\d)")
_PLACEHOLDERS = frozenset(" .?-–—…·/|!'")
"""Signs of a reply without a word."""
_NUMBER = frozenset({"number"})

Kinds = frozenset[str]
Word = tuple[str, Kinds]
"""A word and its kinds in a vocabulary; none if it is an open-class word."""


def is_unknown(answer: str) -> bool:
    """Return whether a reply as a whole gives no answer; names and sentences that contain such words are answers."""
    return len(answer) <= MAX_CHARS and _is_unknown(answer)


@lru_cache(maxsize=16384)
def _is_unknown(answer: str) -> bool:
    text = " ".join(_fold(answer).translate(_QUOTES).split()).strip("' ")
    if _PLACEHOLDERS.issuperset(text) or text.strip(" .!()[]<>'") in _NULL_VALUES:
        return True
    text = _CITATION.sub(" ", _FIRST_CITATION.sub(r"passage \1 ", text))
    text = _ENUMERATION.sub(" ", text).replace("can't", "cannot").replace("n't", " not")
    clauses = [part for part in _CLAUSE_END.split(text) if _WORD.search(part)]
    return any(_gives_no_answer(clauses, vocabulary) for vocabulary in _VOCABULARIES)


def _fold(text: str) -> str:
    """Return a text in lower case with the plain forms of letters, without accents."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold()))
    return unicodedata.normalize("NFC", plain)


class _Vocabulary:
    """The closed-class words of one language."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._kinds: dict[str, Kinds] = {}
        for kind, listed in words.items():
            for word in _fold(listed).split():
                self._kinds[word] = self._kinds.get(word, frozenset()) | {kind}

    @cached_property
    def _parts(self) -> re.Pattern[str]:
        """Return a pattern for the next part of a word in a script without spaces: the longest one known, or a sign."""
        return re.compile("|".join([*sorted(map(re.escape, self._kinds), key=len, reverse=True), "."]))

    def words(self, clause: str) -> Iterator[Word]:
        """Yield the words of a clause; a number after a word for documents ("passages 1 and 2") is a word of theirs."""
        numbered = 0
        for word in _WORD.findall(clause):
            wide = word not in self._kinds and word[0] >= "\u3040"
            for part in self._parts.findall(word) if wide else [word] if word in _NULL_VALUES else word.split("/"):
                kinds = _NUMBER if numbered and part.isdecimal() else self._kinds.get(part, frozenset())
                numbered = 2 if kinds & {"documents", "number"} else max(0, numbered - 1)
                yield part, kinds


_NULL_VALUES = frozenset(_fold(value).strip() for value in NULL_VALUES.split(","))
_VOCABULARIES = tuple(map(_Vocabulary, LANGUAGES))


def _gives_no_answer(clauses: Sequence[str], vocabulary: _Vocabulary) -> bool:
    """Return whether a reply's clauses refuse an answer: what follows a refusal is about the documents, or a question that it refuses.

    Before "but" the documents may be described, unless by their number: one may tell what another does not.
    """
    refused, of_documents, described = False, False, frozenset[str]()
    for contrast, words in _split_at_conjunctions(clauses, vocabulary):
        kinds = frozenset[str]().union(*(kinds for _, kinds in words))
        closed = all(kinds for _, kinds in words)
        # "The passages mention the pen but not its inventor."
        if _is_refusal(words, of_documents) or ({"documents", "states"} <= described and "not" in words[0][1] and len(words) > 1):
            if described and (not contrast or "number" in kinds | described):
                return False
            refused, described = True, frozenset()
        elif contrast or (closed and kinds & {"not", "no", "none"}):
            return False
        elif refused and words[0][1] & {"question", "manner"}:
            if not of_documents and "question" not in words[0][1]:
                return False
        elif not closed and not kinds & {"documents", "mentioned"} and not (of_documents and _describes(words)):
            return False
        elif not closed and not refused:
            described |= kinds
        of_documents |= "documents" in kinds
    return refused and not described


def _describes(words: Sequence[Word]) -> bool:
    """Return whether a clause goes on about the documents: "They only discuss …"."""
    return words[0][0] in ("they", "it") and any("states" in kinds for _, kinds in words)


def _split_at_conjunctions(clauses: Sequence[str], vocabulary: _Vocabulary) -> Iterator[tuple[bool, list[Word]]]:
    """Yield clauses as words without their conjunctions, and whether each begins with one of contrast ("but")."""
    for clause in clauses:
        contrast, words = False, list[Word]()
        for word, kinds in vocabulary.words(clause):
            if kinds & {"contrast", "reason"}:
                if words:
                    yield contrast, words
                contrast, words = "contrast" in kinds, []
            else:
                words.append((word, kinds))
        if words:
            yield contrast, words


def _is_refusal(words: Sequence[Word], of_documents: bool) -> bool:
    """Return whether a clause says that the answer is not known or not told; `of_documents`: whether a clause before names them."""
    if " ".join(word for word, _ in words) in _NULL_VALUES:
        return True
    kinds = [kinds for _, kinds in words]
    if not of_documents and [word for word, _ in words[:2]] == ["do", "not"] and words[-1][0] != "know":
        return False  # an instruction
    if all(kinds):
        return _is_closed_refusal(kinds)
    head, tail = list(takewhile(bool, kinds)), list(takewhile(bool, reversed(kinds)))[::-1]
    return bool(head or tail) and (_begins_refusal(head, tail) or _ends_refusal(head, tail, of_documents))


def _is_closed_refusal(kinds: Sequence[Kinds]) -> bool:
    """Return whether a clause of closed-class words alone is a refusal: "not stated", "no information", "nothing in the text"."""
    has = frozenset[str]().union(*kinds)
    return (
        _is_called_unknown(kinds)
        or {"never", "mentioned"} <= has
        or ("not" in has and bool(has & {"states", "mentioned", "stated", "documents"} or {"has", "information"} <= has))
        or ("no" in has and bool(has & {"information", "documents"}))
        or ("none" in has and bool(has & {"mentioned", "stated", "documents"}))
    )


def _is_called_unknown(kinds: Sequence[Kinds]) -> bool:
    """Return whether there is a word for unknown without an article: "the unknown" is a thing."""
    return any("unknown" in kind and not (before and "article" in before) for before, kind in zip([None, *kinds], kinds, strict=False))


def _begins_refusal(head: Sequence[Kinds], tail: Sequence[Kinds]) -> bool:
    """Return whether a clause's first words refuse what follows: "the passages do not say who …", "no information about …"."""
    has = frozenset[str]().union(*head)
    negated = bool(has & {"not", "no", "none"})
    sources = sum(bool(kind & {"documents", "information"}) for kind in head)
    if "documents" in has and negated and ("states" in has or ("information" in has and sources > 1)):
        return True
    if {"none", "about"} <= has and any("documents" in kind for kind in (*head, *tail)):
        return True
    if "question" in has and _is_called_unknown(head):
        return True
    if {"no", "about"} <= has and tail and "information" in tail[-1]:  # 没有关于…的信息
        return True
    lacking = "no" in has or {"not", "has"} <= has or {"not", "states", "mentioned"} <= has
    if lacking and ("mentioned" in has or {"information", "about"} <= has):
        return True
    return {"not", "states"} <= has and ("question" in has or any("documents" in kind for kind in tail))


def _ends_refusal(head: Sequence[Kinds], tail: Sequence[Kinds], of_documents: bool) -> bool:
    """Return whether a clause's last words say that what comes before is not told: "… is not mentioned", "… is unknown"."""
    has = frozenset[str]().union(*tail)
    negated = "not" in has or {"never", "mentioned"} <= has or any(kind & {"no", "none"} for kind in head)
    of_documents |= any(kind & {"documents", "information"} for kind in (*head, *tail))
    is_stated = "mentioned" in has or (of_documents and bool(has & {"states", "stated"}))
    lacking = bool(tail) and {"about", "information"} <= has and "no" in tail[-1]  # …に関する情報がありません
    return (negated and is_stated) or lacking or ("copula" in has and _is_called_unknown(tail))
