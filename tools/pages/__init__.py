"""Render pages and parts of them from the templates in this folder; text of documents, models and data sets is always escaped.

`modules` joins the ES modules of this folder into one script.
"""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ramify.tools.quoting import escape_invisible

__all__ = ["mark_answers", "read_packaged", "render_macro", "render_page", "render_template", "style_sheet"]


WORD_CHARACTER = "[\\w\u200c\u200d]"
"""Characters within a word, including joiners."""


def render_template(template: str, **values: Any) -> Markup:
    """Render a template; values are escaped unless they are markup, and invisible characters are made visible."""
    return Markup(escape_invisible(_templates().get_template(template).render(values).strip()))


def render_macro(template: str, name: str, *values: Any) -> Markup:
    """Render one macro of a template."""
    return Markup(escape_invisible(getattr(_templates().get_template(template).module, name)(*values)))


def render_page(template: str, script: str = "", style: str | None = None, /, **values: Any) -> str:
    """Render a template that extends `page.html`: a self-contained page that loads nothing and runs only the given script.

    Without a style sheet, it has that of all pages.
    """
    return str(render_template(template, script=Markup(script), style=style_sheet() if style is None else Markup(style), **values)) + "\n"


def style_sheet() -> Markup:
    """Return the style sheet of all pages and notebooks."""
    return Markup(read_packaged("ramify.css") + read_packaged("report.css"))


def _csp_hash(content: str) -> Markup:
    """Return the source expression that allows this inline script or style in a Content-Security-Policy."""
    return Markup(f"'sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}'")


@cache
def read_packaged(name: str) -> str:
    """Return a style sheet or script in this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def mark_answers(text: str, answers: Iterable[str]) -> Markup:
    """Return a text escaped, with each occurrence of an answer in a `mark` element."""
    wanted = sorted({answer.strip() for answer in answers if len(answer.strip()) > 1}, key=len, reverse=True)
    pattern = re.compile(
        "|".join(rf"(?<!{WORD_CHARACTER}){re.escape(answer)}(?!{WORD_CHARACTER})" for answer in wanted) or r"(?!)", re.IGNORECASE
    )
    parts, end = Markup(), 0
    for match in pattern.finditer(text):
        parts += Markup("{}<mark>{}</mark>").format(text[end : match.start()], match[0])
        end = match.end()
    return parts + escape(text[end:])


@cache
def _templates() -> Environment:
    environment = Environment(
        autoescape=True,
        loader=PackageLoader(__package__, "templates"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(csp_hash=_csp_hash, mark_answers=mark_answers)
    return environment
