"""Kinds of index beside each other: what is run on each, what the report says of them, and what is refused."""

from pathlib import Path

import pytest

from plugins.lab.tests.few_lines import read_table
from plugins.lab.tests.films import BOTH, FILMS, NAIVE, film_options, retrieved_by_id, search_options
from ramify.lab._manifest import read_run_manifest
from ramify.lab._variants import index_folder
from ramify.lab.plan import RunOptions, RunPlan, prepare_run
from ramify.lab.report import write_report
from ramify.lab.run import execute, load_inputs
from ramify.lab.search import update_indexes
from ramify.lab.task import RESULTS
from ramify.tools.errors import UsageError
from ramify.tools.search.searcher import open_index
from tests.fakes import FakeModel


def folders(wanted: RunOptions) -> tuple[RunPlan, Path]:
    plan = prepare_run(wanted, *load_inputs(wanted))
    return plan, index_folder(plan.sources[0].folder, "graph")


def test_every_strategy_is_asked_on_each_kind_and_the_report_pairs_them(films: Path, tmp_path: Path) -> None:
    rows = execute(film_options(films, tmp_path / "run", strategies=(NAIVE, "closed-book")))
    assert {(row["strategy"], row["variant"]) for row in rows} == {
        *((NAIVE, ""), (NAIVE, "index-kind=graph"), ("closed-book", "")),
        *(("search", ""), ("search", "index-kind=graph")),
    }
    assert len(rows) == 5 * len(FILMS)
    assert all(row["error"] is None for row in rows)
    golds = [
        [row["gold_retrieved"] for row in rows if (row["strategy"], row["variant"]) == (NAIVE, name)] for name in ("", "index-kind=graph")
    ]
    assert sum(golds[0]) < sum(golds[1]) == len(FILMS), "the names of films lead to their directors"
    write_report(tmp_path / "run")
    markdown = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    head, *table_rows = read_table(markdown, "What is found")
    assert [(cells[0], cells[1], cells[2], cells[3]) for cells in table_rows] == [
        ("films", "naive", "graph", "4"),
        ("films", "search", "graph", "4"),
    ]
    gained = 25 * (sum(golds[1]) - sum(golds[0]))
    assert dict(zip(head, table_rows[0], strict=True))["Δ all gold"].startswith(f"+{gained:.1f} (")
    assert [cells[0] for cells in read_table(markdown, "films: retrieval by kind of index")[1:]] == [
        *("naive, passages", "naive, graph", "search, passages", "search, graph")
    ]
    assert [cells[0] for cells in read_table(markdown, "What is answered")[1:]] == ["films"]
    assert "Sweeps" not in markdown, "kinds are no values of a setting"
    assert "index-kind=graph" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_a_graph_looked_at_flat_finds_what_plain_passages_find(films: Path, tmp_path: Path) -> None:
    auto = execute(film_options(films, tmp_path / "auto"))
    flat = execute(film_options(films, tmp_path / "flat", options={"view": "flat"}))
    assert retrieved_by_id(flat, "index-kind=graph") == retrieved_by_id(flat, "") == retrieved_by_id(auto, "")
    assert retrieved_by_id(flat, "index-kind=graph", "search") == retrieved_by_id(auto, "", "search")
    assert retrieved_by_id(auto, "index-kind=graph") != retrieved_by_id(auto, "")


def test_without_the_option_a_run_is_what_it_was(films: Path, tmp_path: Path) -> None:
    rows = execute(search_options(films, tmp_path / "run", kinds=None))
    assert {row["variant"] for row in rows} == {"", "dense", "BM25", "mmr=0.75", "dense, mmr=0.75"}
    assert "index_kinds" not in (read_run_manifest(tmp_path / "run") or {})
    write_report(tmp_path / "run")
    assert "Kinds of index" not in (tmp_path / "run" / "report.md").read_text(encoding="utf-8")


def test_a_kind_can_be_added_to_a_run_and_nothing_is_asked_twice(films: Path, tmp_path: Path) -> None:
    model, out = FakeModel(replies=lambda prompt, slots: {"answer": "Brennock", "confidence": 0.9, "citations": [1]}), tmp_path / "run"
    execute(film_options(films, out, None, model))
    first, asked = (out / RESULTS).read_bytes(), len(model.calls)
    added = execute(film_options(films, out, BOTH, model))
    lines = (out / RESULTS).read_bytes()
    assert lines.startswith(first)
    assert len(model.calls) == 2 * asked
    for kinds in (BOTH, None):
        assert execute(film_options(films, out, kinds, model)) == added
    assert (out / RESULTS).read_bytes() == lines
    assert len(model.calls) == 2 * asked
    assert (read_run_manifest(out) or {})["index_kinds"] == list(BOTH)


@pytest.mark.parametrize(("before", "after"), [(None, ("graph",)), (BOTH, ("graph", "passages")), (("graph",), None)])
def test_what_a_run_is_compared_with_stays(films: Path, tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> None:
    execute(search_options(films, tmp_path / "run", before, limit=1))
    with pytest.raises(UsageError, match=r"index kind '\w+', not '\w+'"):
        execute(search_options(films, tmp_path / "run", after, limit=1))


def test_a_graph_is_made_once_and_again_only_where_it_is_not_of_these_passages(films: Path, tmp_path: Path) -> None:
    asked = film_options(films, tmp_path / "run")
    plan, graph = folders(asked)
    units: list[str] = []
    update_indexes(plan, asked, lambda done, total, unit: units.append(unit))
    assert "reports" in units
    before = {file.name: file.stat().st_mtime_ns for file in graph.iterdir()}
    update_indexes(plan, asked)
    assert {file.name: file.stat().st_mtime_ns for file in graph.iterdir()} == before
    content = (graph / "graph.sqlite").read_bytes()
    (graph / "graph.sqlite").write_bytes(b"torn")
    update_indexes(plan, asked)
    assert (graph / "graph.sqlite").read_bytes() == content
    manifest = graph / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"passages.sqlite": "', '"passages.sqlite": "0'), encoding="utf-8")
    update_indexes(plan, asked)
    assert open_index(graph).manifest.kind == "graph"
    assert open_index(plan.sources[0].folder).manifest.kind == "passages"
