"""Texts of documents and models in programs that show Markdown: nothing of them loads or links anything."""

import re

_ACTIVE_MARKDOWN = re.compile(
    r"""(?P<code>(?<!`)`[^`\n\\<>\[\]!|:]++`(?!`))            # a code span without anything to escape
    | (?P<url>(?<![a-z0-9+-])[a-z0-9+-]++(?=://)[^\s<>()\[\]\"'`\\]+ | \bwww\.[^\s<>()\[\]\"'`\\]+)
    | [\\`] | ~(?=~) | <(?=[A-Za-z/!?]) | (?<=\])[(:\[] | !(?=\[) | \[(?=\^)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Starts of escapes, code, HTML elements, links, images and footnotes: text of documents and models must not load anything into a page."""
_URL_DELIMITER = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def escape_markdown(text: str, known: str = "") -> str:
    """Escape a text so that Markdown renders no image, link, footnote, code block or HTML element of it.

    URLs contained in `known`, the text of the sources, remain links; any other could leak what a model has read.
    """

    def escape(match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        if not match["url"]:
            return f"\\{match[0]}"
        return match[0] if match[0].rstrip(".,;:!?*_") in known else _URL_DELIMITER.sub(r"\\\g<0>", match[0], 1)

    return _ACTIVE_MARKDOWN.sub(escape, text)
