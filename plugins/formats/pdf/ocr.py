"""Read the text of pictures with Tesseract, if it is installed: a program of its own, run with limits on time, memory and output."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from statistics import mean, median
from tempfile import TemporaryFile
from threading import Timer
from typing import NamedTuple

from ramify.formats.pdf._lines import PrintedLine
from ramify.tools.documents.files import Ocr
from ramify.tools.errors import UsageError

INSTALL_TESSERACT = (
    "install Tesseract (Debian and Ubuntu: apt-get install tesseract-ocr; macOS: brew install tesseract), and read them again"
)
PAGE_SECONDS = 60.0
"""Most time for one page."""
_MAX_OUTPUT = 1 << 23
_USUAL_LANGUAGE = "eng"
_LANGUAGES = re.compile(r"[A-Za-z0-9_/]+(?:\+[A-Za-z0-9_/]+)*")
_MIN_CONFIDENCE, _MIN_LINE_CONFIDENCE = 60.0, 30.0
"""In percent: a word below the first is doubtful; a line whose words have less than the second on average is no text."""
_LARGE_PRINT = 1.6
_USUAL_PITCH, _MAX_PITCH = 1.2, 4.0
"""In multiples of the size: the usual distance of lines, from which their size is concluded, and the greatest one."""
_WORD = 5
"""The level of a word in Tesseract's table; that of a page is 1."""


class OcrError(Exception):
    """A picture cannot be read; the message is the reason."""


class ReadPage(NamedTuple):
    """The lines of a picture, its number of words, of doubtful ones, and the sum of their confidences in percent."""

    lines: list[PrintedLine]
    words: int
    doubtful: int
    confidence: float


def find_ocr(ocr: Ocr) -> tuple[str, str]:
    """Return what reads text in pictures, and what to do if nothing can; UsageError for languages that it does not have."""
    if ocr.languages and not _LANGUAGES.fullmatch(ocr.languages):
        raise UsageError(f"{ocr.languages!r} names no languages", "join Tesseract's names of languages by +, such as eng+deu")
    program = find_tesseract()
    if program is None:
        return "text in pictures and scanned pages is not read: Tesseract is not installed", INSTALL_TESSERACT
    installed = installed_languages(program)
    lacking = [name for name in ocr.languages.split("+") if ocr.languages and name not in installed]
    if lacking and ocr.mode != "never":
        what = f"Tesseract cannot read {', '.join(lacking)}: it has {', '.join(installed) or 'no language'}"
        raise UsageError(what, f"install the language (Debian and Ubuntu: apt-get install tesseract-ocr-{lacking[0]}), or choose another")
    if not installed:
        return f"{program} has no language", "install one (Debian and Ubuntu: apt-get install tesseract-ocr-eng)"
    return f"{program} reads pictures in {', '.join(installed)}", ""


def find_tesseract() -> str | None:
    """Return the path of the program, None if it is not installed."""
    return shutil.which("tesseract")


@cache
def installed_languages(program: str) -> tuple[str, ...]:
    """Return the names of the languages that can be read; none if the program fails."""
    try:
        output = _run([program, "--list-langs"], b"", PAGE_SECONDS).decode("utf-8", "replace")
    except OcrError:
        return ()
    return tuple(name for name in map(str.strip, output.splitlines()[1:]) if _LANGUAGES.fullmatch(name) and name != "osd")


def recognize(picture: bytes, ocr: Ocr, dots: int = 0, seconds: float = PAGE_SECONDS) -> list[ReadPage]:
    """Return the text of each page of a picture, with positions in points. OcrError if it cannot be read.

    dots: of an inch, 0 if unknown.
    """
    program = find_tesseract()
    if program is None:
        raise OcrError("Tesseract is not installed")
    installed = installed_languages(program)
    languages = ocr.languages or (_USUAL_LANGUAGE if _USUAL_LANGUAGE in installed else "+".join(installed))
    if not languages:
        raise OcrError("Tesseract has no language")
    resolution = ["--dpi", str(dots)] if dots else []
    table = _run([program, "-", "-", "-l", languages, *resolution, "-c", "tessedit_create_tsv=1"], picture, seconds)
    return _pages(table.decode("utf-8", "replace"), 72 / (dots or 300))


def _run(command: Sequence[str], given: bytes, seconds: float) -> bytes:
    """Return a program's output; OcrError if it fails, takes too long or writes too much."""
    with TemporaryFile() as picture, TemporaryFile() as errors:
        picture.write(given)
        picture.seek(0)
        environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        try:
            process = subprocess.Popen(
                command, stdin=picture, stdout=subprocess.PIPE, stderr=errors, env=environment, start_new_session=True
            )
        except OSError as error:
            raise OcrError(f"Tesseract cannot be started: {error.strerror or error}") from error
        timer = Timer(seconds, _kill, [process])
        timer.start()
        assert process.stdout is not None
        try:
            output = process.stdout.read(_MAX_OUTPUT + 1)
            if len(output) > _MAX_OUTPUT:
                _kill(process)
            code = process.wait()
            too_late = not timer.is_alive()
        except BaseException:
            _kill(process)
            process.wait()
            raise
        finally:
            timer.cancel()
            process.stdout.close()
        if too_late:
            raise OcrError(f"Tesseract took longer than {seconds:g} s")
        if len(output) > _MAX_OUTPUT:
            raise OcrError(f"Tesseract wrote more than {_MAX_OUTPUT >> 20} MB")
        if code:
            errors.seek(0)
            *_, last = ["", *errors.read(1 << 16).decode("utf-8", "replace").strip().splitlines()]
            raise OcrError(f"Tesseract failed: {last[:200] or f'code {code}'}")
        return output


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a program and those that it has started."""
    with suppress(OSError):  # it has ended
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _pages(table: str, scale: float) -> list[ReadPage]:
    """Return the pages in Tesseract's table of words; OcrError if it is no such table."""
    header, *rows = table.splitlines() or [""]
    if header.split("\t")[-1] != "text":
        raise OcrError(f"Tesseract wrote no table of words: {header[:80]!r}")
    lines: dict[tuple[int, ...], list[_Word]] = {}
    heights: dict[int, int] = {}
    try:
        for fields in (row.split("\t") for row in rows):
            level, page, *numbers = map(int, fields[:6])
            left, top, width, height = map(int, fields[6:10])
            if level == 1:
                heights[page] = height
            elif level == _WORD and fields[11].strip():
                word = _Word(left, top, left + width, top + height, float(fields[10]), fields[11].strip())
                lines.setdefault((page, *numbers[:3]), []).append(word)
    except (ValueError, IndexError) as error:
        raise OcrError(f"Tesseract's table of words is damaged: {error}") from error
    return [_page([words for (number, *_), words in lines.items() if number == page], height, scale) for page, height in heights.items()]


class _Word(NamedTuple):
    """A word with its box in dots, from the top of the page, and Tesseract's confidence in percent."""

    left: int
    top: int
    right: int
    bottom: int
    confidence: float
    text: str


def _page(lines: Sequence[list[_Word]], height: int, scale: float) -> ReadPage:
    """Return the lines of a page in points; a line has the size of most lines, unless it is much larger."""
    readable = [words for words in lines if mean(word.confidence for word in words) >= _MIN_LINE_CONFIDENCE]
    sizes = [max(word.bottom for word in words) - min(word.top for word in words) for words in readable]
    feet = [median(word.bottom for word in words) for words in readable]
    pitches = [below - above for above, below in pairwise(feet) if 0 < below - above < _MAX_PITCH * median(sizes)]
    usual = median(pitches) / _USUAL_PITCH if pitches else median(sizes) if sizes else 1
    printed = []
    for words, size, foot in zip(readable, sizes, feet, strict=True):
        base = (height - foot) * scale
        ends = min(word.left for word in words) * scale, max(word.right for word in words) * scale
        points = (usual * size / median(sizes) if size > _LARGE_PRINT * median(sizes) else usual) * scale
        printed.append(PrintedLine(*ends, base, base, points, " ".join(word.text for word in words)))
    confidences = [word.confidence for words in readable for word in words]
    return ReadPage(printed, len(confidences), sum(confidence < _MIN_CONFIDENCE for confidence in confidences), sum(confidences))
