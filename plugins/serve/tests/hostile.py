"""Texts with which a document or a model could bring something active into rendered Markdown, and what a parser makes of them."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

HOSTILE = [
    r"\<img src=//a.example/b.png>",
    r"\\<img src=//a.example/b.png>",
    r"\\\<img src=//a.example/b.png onerror=x>",
    "<script>x()</script>",
    "</p><iframe src=//a.example>",
    "<!-- a comment -->",
    "<?php x ?> <![CDATA[ x ]]> <!DOCTYPE x>",
    "<http://a.example/b> and <ada@a.example>",
    "`<b>`<b>x</b>",
    "a ` b <u>c</u> ` d",
    "``` <b>c</b> ``",
    "`` `<b>` ``",
    "\\`<b>` x `<b>",
    r"\[^1] and \\[^1]",
    "[^1]: of its own",
    "\n\n[^7]: of its own\n    <b>more</b>",
    "[^a b] and [^^1]",
    r"\![x](//a.example/b.png)",
    r"\\![x](//a.example/b.png)",
    "![x](//a.example/b.png)",
    "![x][y]\n\n[y]: //a.example/b.png",
    "![y]\n\n[y]:\n//a.example/b.png",
    r"[x]\(//a.example) [x]\\(//a.example)",
    "[x](<//a.example> 'title')",
    '[x][] and [x]\n\n[x]: <//a.example> "title"',
    r"\[x](//a.example) and \\[x](//a.example)",
    "[a [b](//a.example)](//a.example)",
    "http://a.example/b and HTTPS://a.example",
    "www.a.example and ftp://a.example",
    r"http\://a.example, x-http://a.example and \\http://a.example",
    "http://a.example/\\<img src=x>",
    "```\ncode\n```",
    "```",
    "~~~ sh",
    "\\```\n\\~~~",
    "> ```\n> x",
    "- ```\n  <b>x</b>",
    "x\\",
    "x!",
    '//a.example "see',
    "'title'",
    "(title)",
    "a `b\n- <b>c</b>` d",
    "| a |\n|---|\n| `x | <b>y</b>` |",
    "<a\nhref=//a.example>",
    "&lt;b&gt; &#60;b&#62; <b",
    "`[^1]`[^1] `![x](y)`",
]
_ACTIVE = {"html_inline", "html_block", "link_open", "image", "fence", "code_block", "footnote", "footnote_text", "bare_url"}


def active_elements(markdown: str) -> list[str]:
    """Return what is rendered of a text besides paragraphs, lists, tables, emphasis and code spans."""
    tokens = [token for block in _PARSER.parse(markdown) for token in (block, *(block.children or ()))]
    active = [token.type for token in tokens if token.type in _ACTIVE]
    return active + ["bare_url" for _ in re.finditer(r"(?<!\\)www\.\w", markdown)]


def _footnote(state: StateInline, silent: bool) -> bool:
    """Read `[^…]`, as parsers with footnotes do; CommonMark has none."""
    match = re.compile(r"\[\^[^\]\n]+\]").match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("footnote", "", 0)
    state.pos = match.end()
    return True


def _bare_url(state: StateInline, silent: bool) -> bool:
    """Read the delimiter of an URL, which many parsers make a link."""
    if not (state.src.startswith("://", state.pos) and re.search(r"[A-Za-z]$", state.pending)):
        return False
    if not silent:
        state.push("bare_url", "", 0)
    state.pos += len("://")
    return True


def _footnote_text(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if not re.match(r"\[\^[^\]]+\]:", line):
        return False
    if not silent:
        state.push("footnote_text", "", 0)
        state.line = start + 1
    return True


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.inline.ruler.before("link", "footnote", _footnote)
    parser.inline.ruler.before("link", "bare_url", _bare_url)
    parser.block.ruler.before("reference", "footnote_text", _footnote_text, {"alt": ["paragraph"]})
    return parser


_PARSER = _parser()
