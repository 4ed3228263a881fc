"""Measure how long a report of many results takes: to write, and to load and show in a headless Chromium.

    python plugins/lab/benchmarks/report.py [--results 2000] [--times 5]

Needs Debian's `chromium` and `pip install playwright` (no browser is downloaded). A page counts as shown when its list and the first
question with its tree have been painted. Exit code 1 where the slowest load takes longer than `--limit` seconds.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from ramify.lab.report import write_report

sys.path.insert(0, str(Path(__file__).parents[3]))
from plugins.lab.tests.made_run import STRATEGIES, make_run

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")
DATASETS = ("hotpotqa", "multihop_rag")
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"


def time_report(folder: Path, results: int) -> float:
    """Write a run of `results` results and return the seconds that its report takes."""
    make_run(folder, -(-results // (len(STRATEGIES) * len(DATASETS))), DATASETS)
    began = time.perf_counter()
    write_report(folder)
    return time.perf_counter() - began


def time_display(browser: Browser, page: Path) -> float:
    """Return the seconds from the navigation until the first question with its tree is painted."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(f"file://{page}", wait_until="commit")
    tab.wait_for_selector("#lines .detail article.card")
    milliseconds = tab.evaluate(PAINTED)
    tab.close()
    return float(milliseconds) / 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=int, default=2000)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--limit", type=float, default=3.0)
    arguments = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("error: no chromium on this machine — apt install chromium", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
        seconds = time_report(Path(folder), arguments.results)
        page = Path(folder) / "report.html"
        count = sum(1 for _ in (Path(folder) / "results.jsonl").open(encoding="utf-8"))
        browser = player.chromium.launch(executable_path=chromium, args=list(FLAGS))
        loads = [time_display(browser, page) for _ in range(arguments.times)]
        browser.close()
        size = page.stat().st_size / 1e6
    print(f"{count:,} results: report written in {seconds:.1f} s, {size:.1f} MB")
    print(f"loaded and shown in {statistics.median(loads):.2f} s (median of {arguments.times}; slowest {max(loads):.2f} s)")
    return 0 if max(loads) <= arguments.limit else 1


if __name__ == "__main__":
    sys.exit(main())
