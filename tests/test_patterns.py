"""Regular expressions meet texts of others: none takes time that grows faster than the text, whatever is in it."""

import ast
import importlib
import inspect
import pkgutil
import re
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import ramify.graphs
import ramify.lab
import ramify.nodes
import ramify.prompts
import ramify.studio
import ramify.tools

PACKAGES = (ramify.lab, ramify.graphs, ramify.nodes, ramify.prompts, ramify.studio, ramify.tools)
UNITS = (
    "\n", " ", "\t", "\xa0", "\r\n", "\n\n", " \n", "`", "[", "[1]", "[1],", "[^1]", "[^1]: ", "<", "</", "<a ", "\\", "\\u", '"', "'",
    "(", "()", "{", '{"', "7", "1.", "1,", "1 ", "1-", "1/", "0.", "a", "A", "a.", "A.", "a ", "A ", "a-", "a_", "a: ", "a:", "A of ",
    "of the ", "and ", "not ", "é", "あ", "한", "\u0300", ".", "? ", "!", ";", "; ", ",", "。", "…", "-", "- ", "–", "=", "#", "# ", "\n#",
    "~", "*", "**", "| ", "_", "&", "@a", "$", "%", "/", "://", "a://", "www.", "http://", "+++\n", "---\n", "step ", "page ", "The ",
    "to ", "\ud800", "’", "“",
)  # fmt: skip
STARTS = ("", "a", "1", "# a", "A ", "To ", "[")
END = "!x"
"""What comes at last fits few expressions: they try again from each place."""
CHARS, LONGER = (1_000, 4_000), (2_000, 32_000)
MIN_SECONDS, MAX_EXPONENT = 0.004, 1.5
"""Time that is too short to judge; and the highest power of its length that a text may take: 1 is linear, 2 quadratic time."""
LIMIT_S = 0.5
MATCHED = {"ramify.tools.models.reply_parsing.MEMBER_NAME", "ramify.formats.html._left_out._NAMED_PART"}
"""Passed to a function, or taken from a list, and compared with the start or all of a text."""
_SEARCHING = ("search", "sub", "subn", "findall", "finditer", "split")
_METHODS = (*_SEARCHING, "match", "fullmatch")
_MODULE_FLAGS = {"IGNORECASE", "MULTILINE", "DOTALL", "VERBOSE", "ASCII", "UNICODE"}


class Use(NamedTuple):
    """A regular expression, and how it is used: it searches a text, or is compared with its start or all of it."""

    pattern: re.Pattern[Any]
    method: str
    where: str


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        try:
            yield importlib.import_module(found.name)
        except ImportError:  # its library is not installed
            continue


def _patterns(value: Any, depth: int = 3) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict | list | tuple | set | frozenset):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _patterns(item, depth - 1)


def _inline(call: ast.Call) -> re.Pattern[Any] | None:
    """Return the expression of `re.METHOD("…", …)`; None if it is not a constant."""
    assert isinstance(call.func, ast.Attribute)
    if not call.args or not isinstance(call.args[0], ast.Constant):
        return None
    names = {node.attr for argument in (*call.args[1:], *call.keywords) for node in ast.walk(argument) if isinstance(node, ast.Attribute)}
    flags = re.NOFLAG
    for name in names & _MODULE_FLAGS:
        flags |= re.RegexFlag[name]
    return re.compile(call.args[0].value, flags)


def _resolve(value: Any, names: str) -> Any:
    """Return what a dotted name means in a module; None if it means nothing there."""
    for name in names.split("."):
        value = getattr(value, name, None)
    return value


@cache
def _uses() -> list[Use]:
    methods, places = defaultdict[re.Pattern[Any], set[str]](set), dict[re.Pattern[Any], str]()
    for module in (module for package in PACKAGES for module in _modules(package)):
        for name, value in vars(module).items():
            for pattern in _patterns(value):
                places.setdefault(pattern, f"{module.__name__}.{name}")
        for call in ast.walk(ast.parse(inspect.getsource(module))):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS):
                continue
            owner, method = ast.unparse(call.func.value), "search" if call.func.attr in _SEARCHING else call.func.attr
            used = _inline(call) if owner == "re" else _resolve(module, owner)
            if isinstance(used, re.Pattern):
                methods[used].add(method)
                places.setdefault(used, f"{module.__name__}:{call.lineno}")
    by_default = {pattern: {"match" if where in MATCHED else "search"} for pattern, where in places.items()}
    return [Use(pattern, method, where) for pattern, where in places.items() for method in sorted(methods[pattern] or by_default[pattern])]


class TooSlowError(Exception):
    """An expression has taken too long."""


def _stop(*_: object) -> None:
    raise TooSlowError


def _seconds(use: Use, text: Any) -> float:
    """Return the seconds of one use; infinite beyond a limit of computing time.

    The computing time of a virtual machine leaves out what its host took, and may be 0 for milliseconds of work.
    """
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
    began = time.perf_counter()
    try:
        if use.method == "search":
            for _ in use.pattern.finditer(text):
                pass
        else:
            getattr(use.pattern, use.method)(text)
    except TooSlowError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.perf_counter() - began


def _grows(use: Use, start: str, unit: str, sizes: tuple[int, int] = CHARS) -> bool:
    """Return whether the time grows much faster than the text, of which both `sizes` are tried; short times are measured three times."""

    def text(chars: int) -> Any:
        whole = start + unit * (chars // len(unit)) + END
        return whole.encode(errors="surrogatepass") if isinstance(use.pattern.pattern, bytes) else whole

    short, long = map(text, sizes)
    if (first := _seconds(use, long)) < MIN_SECONDS:
        return False
    slow = min(first, *(_seconds(use, long) for _ in range(2)))
    allowed = (sizes[1] / sizes[0]) ** MAX_EXPONENT
    return slow == float("inf") or (slow >= MIN_SECONDS and slow > allowed * max(min(_seconds(use, short) for _ in range(3)), 1e-4))


@pytest.fixture
def timer() -> Iterator[None]:
    before = signal.signal(signal.SIGVTALRM, _stop)
    yield
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.usefixtures("timer")
@pytest.mark.parametrize("package", [package.__name__ for package in PACKAGES])
def test_expressions_take_time_in_proportion_to_the_text(package: str) -> None:
    known = _uses()
    assert known
    uses = [use for use in known if use.where.startswith(f"{package}.")]
    slow = {use.where: (use, start, unit) for use in uses for start in STARTS for unit in UNITS if _grows(use, start, unit)}
    # A busy machine slows a short one, and now and then a longer one; what grows does so each time.
    assert not {where for where, found in slow.items() if all(_grows(*found, LONGER) for _ in range(2))}


def test_most_expressions_are_found() -> None:
    assert len({use.pattern for use in _uses()}) > 150


@pytest.mark.usefixtures("timer")
def test_an_expression_that_tries_again_from_each_place_is_recognized() -> None:
    assert _grows(Use(re.compile(r"\n*^x", re.MULTILINE), "search", "here"), "", "\n")
    assert _grows(Use(re.compile(r"(a+)+b"), "match", "here"), "", "a")
    assert not _grows(Use(re.compile(r"\n++x"), "match", "here"), "", "\n")
