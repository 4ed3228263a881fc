"""A key in the environment or in an address, and a server that repeats it: it is in nothing that a user passes on."""

import base64
from pathlib import Path
from urllib.parse import quote

import pytest
from markupsafe import Markup

from plugins.lab.tests.conftest import cache, data
from ramify.lab.report import _plots
from ramify.tools.models import clear_cache, servers
from tests.faults import fault
from tests.studio.conftest import Ramify
from tests.tools.echo_server import echoing

__all__ = ["cache", "data"]

SECRET = "Zx9qL27vTr4Wm81pKdHs"
SLASHED = "Zx9qL27v/Tr4Wm81/pKdHs"
WAYS = {
    "environment": ("openai:m", "http://{}/v1"),
    "query": ("openai:m", f"http://{{}}/v1?key={SECRET}"),
    "bare query": ("openai:m", f"http://{{}}/v1?{SECRET}"),
    "path": ("openai:m", f"http://{{}}/{SECRET}/v1"),
    "password": ("openai:m", f"http://me:{SECRET}@{{}}/v1"),
    "password with a slash": ("openai:m", f"http://me:{SLASHED}@{{}}/v1"),
    "password with a slash, encoded": ("openai:m", f"http://me:{quote(SLASHED, safe='')}@{{}}/v1"),
    "Ollama's environment": ("ollama:m", "http://{}"),
    "Ollama's path": ("ollama:m", f"http://{{}}/{SECRET}"),
    "Ollama's password": ("ollama:m", f"http://me:{quote(SLASHED, safe='')}@{{}}"),
    "Ollama's password with a slash": ("ollama:m", f"http://me:{SLASHED}@{{}}"),
}


def pieces(secret: str) -> set[str]:
    """Eight letters in a row are too many."""
    return {secret[start : start + 8] for start in range(len(secret) - 7)}


FORBIDDEN = {
    *pieces(SECRET),
    *pieces(SLASHED),
    *pieces(quote(SLASHED, safe="")),
    *(piece for one in (SECRET, SLASHED) for piece in pieces(base64.b64encode(f"me:{one}".encode()).decode().rstrip("="))),
}


DRAWN = ("query", "password")
"""Where the report's plots are drawn, which takes most of the time: they have the names that its tables have."""
CASES = [(way, (400, 500, 200)[number % 3]) for number, way in enumerate(WAYS)]


@pytest.mark.parametrize(("way", "status"), [*CASES, ("environment", 500), ("query", 400), ("path", 500), ("Ollama's password", 500)])
@fault(
    "secrets",
    "key in an address, path, user or the environment, and a server that fails",
    sees="the error without the key",
    kept="the key is in no output and no file",
    code=1,
)
def test_no_secret_is_printed_or_written(
    ramify: Ramify, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, status: int
) -> None:
    monkeypatch.setattr(servers, "RETRY_PAUSES_S", ())
    if way not in DRAWN:
        monkeypatch.setattr(_plots, "render_svg", lambda *given, **named: Markup(""))
    for name in ("OPENAI_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.setenv(name, SECRET)
    model, form = WAYS[way]
    with echoing(status) as (place, heard):
        reached = ["--model", model, "--base-url", form.format(place)]
        clear_cache()
        told = ramify("ask", "Who?", "--strategy", "naive", "--index", "demo", "--json", "--html", tmp_path / "page.html", *reached)
        asked = ramify("eval", data, "--strategy", "closed-book,naive", "--limit", 1, "--out", tmp_path / "run", *reached)
        swept = ["--sweep", f"base_url={form.format(place)}", "--limit", "1", "--out", str(tmp_path / "swept")]
        again = ramify("eval", data, "--strategy", "closed-book", *swept, "--model", model)
    if heard and status in (400, 500):
        assert "***" in told.out + told.err
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".html", ".json", ".jsonl", ".md")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in files}
    texts |= {f"said {number}": text for number, one in enumerate((told, asked, again)) for text in (one.out + one.err,)}
    assert {place: piece for place, text in texts.items() for piece in FORBIDDEN if piece in text} == {}
    if heard:
        assert any(piece in sent for sent in heard for piece in FORBIDDEN), "the server had something to repeat"
    assert bool(heard) == ("with a slash" not in way or "encoded" in way)
