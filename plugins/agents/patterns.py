"""Patterns that are looked for in texts: strings, in any form of their letters, and regular expressions that take linear time."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from ramify.tools.errors import UsageError
from ramify.tools.quoting import truncate_line
from ramify.tools.user_input import check_text

MAX_PATTERN_CHARS = 1000
Spans = Callable[[str], Iterable[tuple[int, int]]]
"""Yields the place of each match in a text."""
_HYPHENS, _SINGLE, _DOUBLE = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "\u2018\u2019\u201a\u201b", "\u201c\u201d\u201e\u201f"
_LIGATURES = {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
_FORMS = str.maketrans(
    {
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff"),
        **dict.fromkeys(_HYPHENS, "-"),
        **dict.fromkeys(_SINGLE, "'"),
        **dict.fromkeys(_DOUBLE, '"'),
        **_LIGATURES,
    }
)
"""Invisible characters, which count as nothing, and forms of hyphens, quotation marks and pairs of letters."""


def compile_pattern(pattern: str, regex: bool, match_case: bool) -> Spans:
    """Return a function that finds all matches in a text; UsageError for a pattern that is empty, too long or not valid."""
    if not fold_letters(check_text(pattern), match_case).strip() or len(pattern) > MAX_PATTERN_CHARS:
        what = f"a pattern of {len(pattern):,} characters cannot be looked for"
        raise UsageError(what, f"give 1 to {MAX_PATTERN_CHARS:,} characters, not only white space")
    return _find_expression(pattern, match_case) if regex else _find_string(pattern, match_case)


def fold_letters(text: str, match_case: bool) -> str:
    """Return a text with one form of each letter, hyphen and quotation mark, and without invisible characters."""
    folded = unicodedata.normalize("NFC", text).translate(_FORMS)
    return folded if match_case else folded.casefold()


def _find_string(string: str, match_case: bool) -> Spans:
    """Return a function that finds a string: any white space between its words, and lines that are broken behind a hyphen."""
    words = [re.escape(word).replace(r"\-", r"\-(?:\n\s*)?") for word in fold_letters(string, match_case).split()]
    expression = re.compile(r"\s+".join(words))  # nothing in it that a search would have to take back

    def spans(text: str) -> Iterator[tuple[int, int]]:
        found = [match.span() for match in expression.finditer(fold_letters(text, match_case))]
        if found:
            places = [*_places(text, match_case), len(text)]
            yield from ((places[begin], places[end]) for begin, end in found)

    return spans


def _places(text: str, match_case: bool) -> Iterator[int]:
    """Yield for each character of a folded text the place of the letter that it is from."""
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and (unicodedata.combining(text[end]) or "\u1160" <= text[end] <= "\u11ff"):
            end += 1
        yield from [start] * len(fold_letters(text[start:end], match_case))
        start = end


def _find_expression(pattern: str, match_case: bool) -> Spans:
    """Return a function that finds a regular expression of RE2, in which `^` and `$` are the ends of lines."""
    try:
        import re2
    except ImportError as error:
        raise UsageError("regular expressions need the package google-re2", "run `pip install google-re2`, or give a string") from error
    options = re2.Options()
    options.case_sensitive, options.log_errors = match_case, False
    shown = truncate_line(pattern, 60)
    try:
        compiled = re2.compile(f"(?m){pattern}", options)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace")
        raise UsageError(f"{shown!r} is not a regular expression of RE2: {reason}", "correct it, or give a string") from error
    if compiled.search(""):
        raise UsageError(f"{shown!r} matches an empty text", "give a pattern that needs a character")
    return lambda text: (match.span() for match in compiled.finditer(text))
