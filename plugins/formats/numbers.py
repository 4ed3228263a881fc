"""Write numbers of headings, clauses and list items in the forms of office programs, and recognise lines of page numbers."""

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"),
    (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN = 4000
_MAX_REPEATED_LETTERS = 20
PAGE_WORDS = frozenset(
    ["page", "pages", "of", "p", "pg", "seite", "seiten", "von", "s", "sur", "de", "página", "páginas", "pagina", "pagine", "di", "pag",
     "pág", "strona", "z", "стр", "страница", "из", "第", "页", "頁", "共", "ページ", "쪽", "페이지"]
)  # fmt: skip
"""Words of a line that shows no more than the number of a page."""


def format_number(number: int, form: str, repeats_letters: bool = False) -> str:
    """Return a number in a form: "1", "a", "A", "i" or "I"; after z comes aa, then ab, or bb if letters are repeated."""
    if number < 1 or form not in ("a", "A", "i", "I"):
        return str(number)
    if form in ("i", "I"):
        text = _roman(number) if number < _MAX_ROMAN else str(number)
    elif repeats_letters:
        text = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, _MAX_REPEATED_LETTERS)
    else:
        text = _letters(number)
    return text.upper() if form.isupper() else text


def _roman(number: int) -> str:
    text = ""
    for value, numeral in _ROMAN:
        text += numeral * (number // value)
        number %= value
    return text


def _letters(number: int) -> str:
    text = ""
    while number:
        number, place = divmod(number - 1, 26)
        text = chr(ord("a") + place) + text
    return text
