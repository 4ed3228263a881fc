"""The documents: their code runs, their drawings are the real ones, their commands exist."""

import json
import os
import re
import shlex
import sys
from pathlib import Path
from pkgutil import resolve_name
from runpy import run_path
from typing import get_args

import pytest

import ramify.graphs as graphs
from ramify.nodes.init_tree import validate_question
from ramify.studio.cli import run
from ramify.tools.plugins import Group
from tests.documented import differences

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)

RAMIFY = str(Path(sys.executable).parent / "ramify")
OFFLINE = {**os.environ, "COLUMNS": "100", "OLLAMA_HOST": "127.0.0.1:9"}


def blocks(path: Path, language: str) -> list[str]:
    """List a document's code blocks of one language."""
    return [code for found, code in FENCE.findall(path.read_text(encoding="utf-8")) if found == language]


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if blocks(path, "python")], ids=lambda path: path.name)
def test_the_python_of_a_document_runs(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    known = dict(graphs.STRATEGIES)
    namespace: dict[str, object] = {"__name__": "document"}
    try:
        for block in blocks(path, "python"):
            exec(compile(block, str(path), "exec"), namespace)  # the project's own documents
    finally:
        graphs.STRATEGIES.clear()
        graphs.STRATEGIES.update(known)


def test_the_pictures_of_the_documents_are_there() -> None:
    shown = [path.parent / name for path in DOCUMENTS for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", path.read_text(encoding="utf-8"))]
    drawn = {path for kind in ("png", "svg") for path in (ROOT / "docs").glob(f"*.{kind}")}
    assert set(shown) == drawn


def test_what_is_drawn_for_the_documents_can_be_drawn_again(tmp_path: Path) -> None:
    drawings = run_path(str(ROOT / "docs" / "drawings.py"))
    drawings["way"].__globals__["HERE"] = tmp_path
    drawings["way"]()
    drawings["names"]()

    def names(folder: Path) -> set[str]:  # where they lie may differ by a digit, and so may which of them are written out
        return set(re.findall(r"<title>(.*?)</title></circle>", (folder / "graph.svg").read_text(encoding="utf-8")))

    assert names(tmp_path) == names(ROOT / "docs") != set()
    assert (tmp_path / "studio_way.svg").read_text(encoding="utf-8") == (ROOT / "docs" / "studio_way.svg").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_reference_has_a_page_for_what_each_package_offers(tmp_path: Path) -> None:
    run_path(str(ROOT / "docs" / "api.py"))["main"](tmp_path)
    pages = {str(page.relative_to(tmp_path)) for page in tmp_path.rglob("*.html")}
    assert pages > {f"ramify/{name}.html" for name in ("graphs", "graphs/wiring", "nodes/decompose", "tools/index", "studio")}
    assert "ask_async" in (tmp_path / "ramify" / "graphs.html").read_text(encoding="utf-8")
    assert not [page for page in pages if "/_" in page]


@pytest.mark.parametrize(
    "path", [*DOCUMENTS, *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG", "SECURITY"))], ids=lambda path: path.name
)
def test_the_links_of_a_document_lead_somewhere(path: Path) -> None:
    for name, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", FENCE.sub("", path.read_text(encoding="utf-8"))):
        target = path.parent / name if name else path
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"


@pytest.mark.parametrize(
    "path", [*DOCUMENTS, ROOT / "CONTRIBUTING.md", *ROOT.glob("t*/**/README.md")], ids=lambda path: str(path.relative_to(ROOT))
)
def test_what_a_document_names_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"\bramify(?:\.[a-z_]+)+(?:\.[A-Z]\w+)?", text)
    named += [f"{module}.{name}" for name, module in re.findall(r"`(\w+)[^`]*` (?:of|from|in) `(ramify[\w.]+)`", text)]
    assert [name for name in named if name not in get_args(Group) and not is_named(name)] == []
    rooms = "plugins|studio|evaluation|graphs|nodes|prompts|tools|tests|benchmarks|training|docs"
    files = re.findall(rf"(?<![\w/.-])(?:{rooms})/[\w./]*\w(?:/|\b)", FENCE.sub("", text))
    real = [name for name in files if "NAME" not in name]
    assert [name for name in real if not (ROOT / name).exists() and not (ROOT / f"{name}.py").exists()] == []


def is_named(name: str) -> bool:
    """Tell whether a dotted name is that of a module, or of something in one."""
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def anchors(path: Path) -> set[str]:
    """List what a document's headings are called in links."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_sequences_of_the_documents_are_drawn_whole() -> None:
    sequences = [drawing for path in DOCUMENTS for drawing in blocks(path, "mermaid") if drawing.startswith("sequenceDiagram")]
    assert sequences
    assert not any(";" in drawing for drawing in sequences), "Mermaid ends a message there, and draws nothing at all"


def test_the_questions_of_the_documents_can_be_asked() -> None:
    commands = [line for path in DOCUMENTS for code in blocks(path, "sh") for line in code.splitlines()]
    asked = [shlex.split(line, comments=True) for line in commands if line.startswith("ramify ask")]
    assert asked
    assert all(validate_question(words[2]) for words in asked)


PAPERS = {
    "papers/acme.txt": "Acme Rockets is a company in Graz. Acme Rockets was founded by Paula Stern. It makes the X rocket.",
    "papers/stern.md": "# Paula Stern\n\nPaula Stern was born in Linz on 3 May 1950.\n",
    "notes.md": "# Notes\n\nThe X rocket is made by Acme Rockets.\n",
}


@pytest.mark.parametrize(
    ("page", "told", "written"),
    [
        ("README.md", ["index", "ask", "ask", "search"], "answer.html"),
        ("docs/indexing.md", ["index", "index", "ask", "inspect"], "graph.html"),
    ],
)
def test_the_commands_for_one_s_own_documents_run(
    page: str, told: list[str], written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in PAPERS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    lines = [line for code in blocks(ROOT / page, "sh") for line in code.splitlines() if line.startswith("ramify ")]
    commands = [shlex.split(line, comments=True) for line in lines[: len(told)]]
    assert [words[1] for words in commands] == told
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_HOST", OFFLINE["OLLAMA_HOST"])
    for words in commands:
        assert run(words[1:]) == 0, capsys.readouterr().err
        assert capsys.readouterr().out
    assert (tmp_path / written).exists()


def test_the_demo_s_output_in_the_readme_is_the_real_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    told = next(code for code in blocks(ROOT / "README.md", "text") if "answer" in code)
    recipe = next(line for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if "ramify ask" in line)
    words = shlex.split(recipe.split("ramify ", 1)[1])
    for name in ("COLUMNS", "OLLAMA_HOST"):
        monkeypatch.setenv(name, OFFLINE[name])
    assert run(words) == 0
    assert differences(told, capsys.readouterr().out) == []


def test_the_tool_s_reply_in_a_document_is_the_real_one() -> None:
    told = next(code for code in blocks(ROOT / "docs/agents.md", "text") if code.startswith("Answer: "))
    tool = graphs.research_tool("prune", model="extractive")
    assert differences(told, tool.invoke({"question": "In which city was the inventor of the ballpoint pen born?"})) == []


SHOWN = "├── 0.0 leaf  Who?\n│   → Bíró  confidence 0.61\n│   filled, confidence 0.615\ncost  5 calls · 8,370 tokens in, 255 out · 4.5 s\n"


@pytest.mark.parametrize(
    ("real", "found"),
    [
        (SHOWN.replace("0.615", "0.609").replace("0.61\n", "0.60\n"), []),
        (SHOWN.replace("4.5 s", "12 s"), []),
        (SHOWN.replace("filled, confidence", "filled,\n│   confidence"), []),
        (SHOWN.replace("0.615", "0.64"), ["'0.615' is '0.64'"]),
        (SHOWN.replace("8,370", "8,371"), ["'8,370' is '8,371'"]),
        (SHOWN.replace("leaf", "pruned"), ["'leaf' is 'pruned'"]),
        (SHOWN.replace("0.0 leaf", "0.0.0 leaf"), ["'0.0' is '0.0.0'"]),
        (SHOWN + "sources", ["'' is 'sources'"]),
    ],
)
def test_documented_output_is_compared_up_to_what_a_machine_changes(real: str, found: list[str]) -> None:
    assert differences(SHOWN, real) == found


def test_the_first_commands_for_measuring_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "my-data"
    folder.mkdir()
    documents = [
        {"id": name, "title": name.title(), "text": text} for name, text in (("ulm", "Ulm lies on the Danube."), ("linz", "Linz is old."))
    ]
    question = {"id": "1", "question": "On which river does Ulm lie?", "answer": "Danube", "supporting": [{"doc_id": "ulm"}]}
    for name, records in (("corpus", documents), ("questions", [question])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_HOST", OFFLINE["OLLAMA_HOST"])
    assert commands_run(1, capsys) == ["eval", "eval", "compare"]


def test_the_commands_for_ones_own_documents_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    tail = "Many people come to see its old streets and its market, and to walk along the water in summer, when the days are long and warm."
    for town in ("Ulm", "Linz"):
        (tmp_path / "docs" / f"{town}.md").write_text(f"# {town}\n\n{town} is a town on the Danube. {tail}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_HOST", OFFLINE["OLLAMA_HOST"])
    assert commands_run(0, capsys) == ["index", "questions", "eval", "eval", "compare"]
    assert (tmp_path / "before" / "report.html").exists()


def commands_run(block: int, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run the commands of a block of docs/evaluation.md, with the embedded model in the place of a server's; return their names."""
    lines = blocks(ROOT / "docs" / "evaluation.md", "sh")[block].replace("ollama:llama3.1:8b", "extractive").splitlines()
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("ramify")]
    for words in commands:
        assert run(words[1:]) == 0, capsys.readouterr().err
        assert capsys.readouterr().out
    return [words[1] for words in commands]
