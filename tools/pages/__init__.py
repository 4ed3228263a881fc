"""Pages and their parts, from the templates beside this file: nothing from a document, a model or a data set is ever markup in them."""

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
"""What a word goes on with: a joiner belongs to it."""


def render_template(template: str, **values: Any) -> Markup:
    """Fill a template; values are escaped unless a template drew them, and invisible characters in the result are written out."""
    return Markup(escape_invisible(_templates().get_template(template).render(values).strip()))


def render_macro(template: str, name: str, *values: Any) -> Markup:
    """Fill one macro of a template."""
    return Markup(escape_invisible(getattr(_templates().get_template(template).module, name)(*values)))


def render_page(template: str, scripts: Iterable[str] = (), **values: Any) -> str:
    """Fill a template that extends `page.html`: one self-contained page that loads nothing and runs only the scripts named."""
    script = Markup("\n".join(map(read_packaged, scripts)))
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return str(render_template(template, script=script, digest=digest, style=style_sheet(), **values)) + "\n"


def style_sheet() -> Markup:
    """Return the style sheet of all pages and notebooks."""
    return Markup(read_packaged("ramify.css") + read_packaged("report.css"))


@cache
def read_packaged(name: str) -> str:
    """Read a style sheet or script that lies beside this file."""
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
    found = Environment(
        autoescape=True,
        loader=PackageLoader(__package__, "templates"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters["mark_answers"] = mark_answers
    return found
