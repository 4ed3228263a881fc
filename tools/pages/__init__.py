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

__all__ = ["draw", "draw_page", "marked", "packaged", "part", "style"]


WITHIN = "[\\w\u200c\u200d]"
"""What a word goes on with: a joiner belongs to it."""


def draw(template: str, **values: Any) -> Markup:
    """Fill a template; values are escaped unless a template drew them, and invisible characters in the result are written out."""
    return Markup(escape_invisible(_templates().get_template(template).render(values).strip()))


def part(template: str, name: str, *values: Any) -> Markup:
    """Fill one macro of a template."""
    return Markup(escape_invisible(getattr(_templates().get_template(template).module, name)(*values)))


def draw_page(template: str, scripts: Iterable[str] = (), **values: Any) -> str:
    """Fill a template that extends `page.html`: one self-contained page that loads nothing and runs only the scripts named."""
    script = Markup("\n".join(map(packaged, scripts)))
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return str(draw(template, script=script, digest=digest, style=style(), **values)) + "\n"


def style() -> Markup:
    """Return the style sheet of all pages and notebooks."""
    return Markup(packaged("ramify.css") + packaged("report.css"))


@cache
def packaged(name: str) -> str:
    """Read a style sheet or script that lies beside this file."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def marked(text: str, answers: Iterable[str]) -> Markup:
    """Escape a text, with each place that says an answer marked."""
    wanted = sorted({answer.strip() for answer in answers if len(answer.strip()) > 1}, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<!{WITHIN}){re.escape(answer)}(?!{WITHIN})" for answer in wanted) or r"(?!)", re.IGNORECASE)
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
    found.filters["marked"] = marked
    return found
