"""The report's page in a real browser: it shows the lines that were asked for, and nothing in them can become markup."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from plugins.lab.tests.few_lines import make_line, read_rows, write_run
from plugins.lab.tests.made_run import make_run
from ramify.lab.report import write_report

HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">&amp;\u2028\x00$x$"
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--virtual-time-budget=4000", "--dump-dom")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


def browse(folder: Path, place: str = "") -> str:
    """Return the page as the browser has made it."""
    asked = [str(CHROMIUM), *OPTIONS, f"--user-data-dir={folder / 'profile'}", f"file://{folder / 'report.html'}{place}"]
    return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_run(tmp_path_factory.mktemp("runs") / "run", 30)
    write_report(folder)
    return folder


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which everything that is text wants to be markup."""
    branch = {"path": "0", "parent": None, "kind": "question", "status": HOSTILE, "confidence": 0.5, "score": None}
    tree = [{**branch, "question": HOSTILE, "answer": HOSTILE, "note": HOSTILE, "evidence": [HOSTILE], "cited": [HOSTILE]}]
    words = dict.fromkeys(("id", "question", "type", "gold", "answer", "dataset"), HOSTILE)
    line = {**words, "aliases": [HOSTILE], "citations": [{"id": HOSTILE, "source": HOSTILE, "text": HOSTILE}], "notices": [HOSTILE]}
    rows = [make_line(1, HOSTILE, HOSTILE, **line, tree=tree, error=None), make_line(1, HOSTILE, "", **{**line, "error": HOSTILE}, tree=[])]
    rows += [make_line(1, "naive", f"{HOSTILE}={value}", **line, tree=tree, error=None) for value in (1, 2)]
    folder = write_run(tmp_path_factory.mktemp("runs") / "run", *rows, model=HOSTILE, command=HOSTILE)
    described = json.loads((folder / "manifest.json").read_text())
    described["datasets"][0] |= {"name": HOSTILE, "caveats": [HOSTILE], "path": HOSTILE}
    (folder / "manifest.json").write_text(json.dumps(described))
    write_report(folder)
    return folder


def links(folder: Path, text: str) -> list[str]:
    """Return where the cells of a text lead."""
    page = (folder / "report.html").read_text().replace("&amp;", "&")
    return re.findall(rf'<a href="([^"]*)">{re.escape(text)}</a>', page)


def numbers(page: str) -> list[int]:
    """Return the lines that the browser's list shows."""
    return [int(number) for number in re.findall(r'data-line="(\d+)"', page)]


def test_the_page_loads_nothing_and_allows_only_its_own_script(run: Path) -> None:
    page = (run / "report.html").read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert policy[1].startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert not re.findall(r"<link|<img|<iframe|@import|url\(http| src=", page)


def test_text_stays_text_in_both_files(hostile: Path) -> None:
    page = (hostile / "report.html").read_text()
    assert page.count("<script") == page.count("</script>") == 3
    assert "<img" not in page
    lines = [line for line in (hostile / "report.md").read_text().splitlines() if not line.startswith("    ")]  # code is never markup
    assert not [line for line in lines if re.search(r"(?<!\\)[<`]", line)]


@in_a_browser
def test_text_stays_text_in_the_browser(hostile: Path) -> None:
    page = browse(hostile)
    assert "data-ready" in page
    assert "<title>taken" not in page
    assert "<img" not in page
    assert "&lt;img src=x" in page.partition('class="detail"')[2]


@in_a_browser
def test_a_figure_leads_to_exactly_its_lines(run: Path) -> None:
    place = next(link for link in links(run, "prune") if "multihop_rag" in link)
    wanted = [number for number, row in enumerate(read_rows(run), 1) if (row["dataset"], row["strategy"]) == ("multihop_rag", "prune")]
    assert sorted(numbers(browse(run, place))) == wanted


@in_a_browser
def test_wins_of_one_over_another_are_linked(run: Path) -> None:
    place = "#lines?dataset=hotpotqa&first=prune%7C&second=naive%7C&won=first"
    rows = [(number, row) for number, row in enumerate(read_rows(run), 1) if row["dataset"] == "hotpotqa"]
    naive = {row["id"] for _, row in rows if row["strategy"] == "naive" and row["em"] == 1}
    wanted = [number for number, row in rows if row["strategy"] == "prune" and row["em"] == 1 and row["id"] not in naive]
    page = browse(run, place)
    assert wanted
    assert sorted(numbers(page)) == wanted
    assert 'class="runs two"' in page


@in_a_browser
def test_a_card_shows_the_line_its_answer_and_its_tree(run: Path) -> None:
    trees = [(number, tree_row) for number, tree_row in enumerate(read_rows(run), 1) if tree_row["strategy"] == "tor"]
    number, row = next((number, tree_row) for number, tree_row in trees if any(branch["status"] == "pruned" for branch in tree_row["tree"]))
    page = browse(run, f"#lines?dataset={row['dataset']}&first=tor%7C&line={number}").partition('class="detail"')[2]
    assert f"results.jsonl line {number}" in page
    assert row["gold"] in page
    assert page.count("<article class=") == 1 + len(row["tree"])
    assert '<span class="status">pruned</span>' in page
    assert "judged 0.25, below 0.4" in page


@in_a_browser
def test_finding_by_words_and_by_outcome(run: Path) -> None:
    rows = list(enumerate(read_rows(run), 1))
    failed = [number for number, row in rows if row["error"]]
    assert sorted(numbers(browse(run, "#lines?outcome=failed"))) == failed
    matching = [number for number, row in rows if "question 23:" in row["question"].lower()]
    assert sorted(numbers(browse(run, "#lines?find=23%3A%20QUESTION"))) == matching
