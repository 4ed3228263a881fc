"""The characters of the fonts Symbol and Wingdings, as Unicode has them."""

_SYMBOL = {
    0x22: "∀", 0x24: "∃", 0x27: "∍", 0x2A: "∗", 0x2D: "−", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥", 0x7E: "∼", 0xA1: "ϒ", 0xA2: "′", 0xA3: "≤",
    0xA4: "⁄", 0xA5: "∞", 0xA7: "♣", 0xA8: "♦",
    0xA9: "♥", 0xAA: "♠", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±", 0xB2: "″", 0xB3: "≥", 0xB4: "×",
    0xB5: "∝", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xBC: "…", 0xC4: "⊗", 0xC5: "⊕", 0xC6: "∅", 0xC7: "∩",
    0xC8: "∪", 0xC9: "⊃", 0xCA: "⊇", 0xCB: "⊄", 0xCC: "⊂", 0xCD: "⊆", 0xCE: "∈", 0xCF: "∉", 0xD0: "∠", 0xD1: "∇", 0xD2: "®", 0xD3: "©",
    0xD4: "™", 0xD5: "∏", 0xD6: "√", 0xD7: "⋅", 0xD8: "¬", 0xD9: "∧", 0xDA: "∨", 0xDB: "⇔", 0xDC: "⇐", 0xDD: "⇑", 0xDE: "⇒", 0xDF: "⇓",
    0xE1: "⟨", 0xE2: "®", 0xE3: "©", 0xE4: "™", 0xE5: "∑", 0xF1: "⟩", 0xF2: "∫",
}  # fmt: skip
_SYMBOL |= dict(zip(range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True))
_SYMBOL |= dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True))
_SYMBOL |= {code: chr(code) for code in range(0x20, 0x7F) if code not in _SYMBOL}
_WINGDINGS = {
    0x28: "☎", 0x2A: "✉", 0x21: "✏", 0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6D: "❍", 0x6E: "■", 0x6F: "☐", 0x70: "☐", 0x71: "☐", 0x72: "☐",
    0x75: "◆", 0x76: "❖", 0x78: "☒", 0xA1: "○", 0xA4: "◉", 0xA7: "▪", 0xA8: "☐", 0xAB: "★", 0xD8: "➢", 0xDF: "←", 0xE0: "→",
    0xE1: "↑", 0xE2: "↓", 0xE7: "←", 0xE8: "→", 0xEF: "⇦", 0xF0: "⇨", 0xF1: "⇧", 0xF2: "⇩", 0xF3: "⇔", 0xFB: "✗",
    0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS |= {code: chr(0x2460 + code - 0x81) for code in range(0x81, 0x8B)} | {0x80: "⓪"}
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x2A: "☐", 0xA3: "☐", 0x97: "●", 0x98: "●", 0x99: "○"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}
_PRIVATE = range(0xF000, 0xF100)
"""The private characters that Word writes for those of a symbol font."""


def is_symbol_font(font: str) -> bool:
    """Return whether a font has symbols in the place of letters."""
    return font.lower() in _FONTS


def translate_symbols(text: str, font: str) -> str:
    """Return a text of a symbol font in Unicode; private characters that are not known are replaced by "\ufffd"."""
    known, is_symbols = _FONTS.get(font.lower(), _SYMBOL), is_symbol_font(font)

    def translated(letter: str) -> str:
        code = ord(letter)
        if code in _PRIVATE:
            return known.get(code & 0xFF, "\ufffd")
        return known.get(code, letter) if is_symbols and not letter.isspace() else letter

    return "".join(map(translated, text))
