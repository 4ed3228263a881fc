"""Runs: which questions are asked, and which are not asked again."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.small_data_set import make_model, make_options, make_questions, question_rows, without_times, write_data
from ramify.embedded.reader.reading import read_context
from ramify.graphs.strategies import STRATEGIES, Strategy
from ramify.lab.plan import RunOptions, prepare_run
from ramify.lab.run import execute, load_inputs, pending_tasks, run_tasks
from ramify.lab.search import update_indexes
from ramify.lab.task import RESULTS, ResultLog
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.index.folder import require_manifest


def test_a_custom_strategy_is_measured_like_a_built_in_one(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRATEGIES, "my-own", Strategy("my-own", STRATEGIES["naive"].build))
    wanted = make_options(data, tmp_path / "run", strategies=("my-own",), sweeps={"k": [1]}, limit=2)
    rows = execute(wanted)
    assert {(row["strategy"], row["variant"]) for row in question_rows(rows).values()} == {("my-own", ""), ("my-own", "k=1")}
    assert all(row["error"] is None for row in rows)
    plan = prepare_run(wanted, *load_inputs(wanted))
    assert plan.max_model_calls(plan.tasks()) is None


def test_a_row_has_question_answer_scores_and_tree(data: Path, tmp_path: Path) -> None:
    rows = execute(make_options(data, tmp_path / "run", limit=1, strategies=("naive",), seed=4))
    line = next(row for row in rows if row["strategy"] == "naive")
    assert (line["key"], line["dataset"], line["id"], line["type"], line["gold"], line["seed"]) == (
        *("rivers|naive||q0", "rivers", "q0", "even", "Seine", 4),
    )
    assert (line["answer"], line["em"], line["f1"], line["containment"], line["official"]) == ("Seine", 1, 1, 1, 1)
    assert (line["error"], line["stopped_by"], line["abstained"], line["unanswerable"]) == (None, "finished", False, False)
    assert line["retrieved"][0] == "paris"
    assert line["gold_retrieved"]
    assert line["retrieval"]["recall@5"] == 1
    assert [branch["answer"] for branch in line["tree"]] == ["Seine"]
    assert line["citations"][0]["id"] == "paris"
    assert (line["usage"]["llm_calls"], line["usage"]["retrievals"]) == (1, 1)


def test_the_same_run_twice_gives_the_same_lines(data: Path, tmp_path: Path) -> None:
    options = {"strategies": ("naive", "prune"), "limit": 3, "model": "extractive"}
    first = execute(make_options(data, tmp_path / "one", **options, at_once=1))
    read_context.cache_clear()
    second = execute(make_options(data, tmp_path / "two", **options, at_once=8))
    assert without_times(first) == without_times(second)
    assert len(first) == 3 * 3


@pytest.mark.parametrize("sweeps", [{}, {"k": [3, 4, 5]}], ids=["plain", "with a sweep"])
def test_the_speed_is_known_before_the_many_are_begun(data: Path, tmp_path: Path, sweeps: dict[str, list[int]]) -> None:
    """One question with each strategy to have everything loaded, then others: a question asked before is no measure."""
    model, rows = make_model(), []
    wanted = make_options(data, tmp_path / "run", model, strategies=("naive", "closed-book"), at_once=2, sweeps=sweeps)
    plan = prepare_run(wanted, *load_inputs(wanted))
    update_indexes(plan, wanted)
    tasks = pending_tasks(plan, wanted.out)
    first: list[int] = []
    asyncio.run(run_tasks(tasks, plan, wanted, rows.append, lambda: first.append(len(rows))))
    assert first == [2 + min(8, len(tasks) // 4)]
    early = Counter((row["strategy"], row["id"]) for row in rows[: first[0]])
    assert set(early.values()) == {1}
    assert {key for key, _ in early} == {"naive", "closed-book"}
    assert len(rows) == len(tasks) == len(model.calls)


def test_a_finished_run_makes_no_calls_and_is_left_unchanged(data: Path, tmp_path: Path) -> None:
    model, out = make_model(), tmp_path / "run"
    first = execute(make_options(data, out, model, strategies=("naive",), sweeps={"k": [3, 5]}))
    lines = (out / RESULTS).read_bytes()
    calls = len(model.calls)
    assert execute(make_options(data, out, model, strategies=("naive",), sweeps={"k": [3, 5]})) == first
    assert len(model.calls) == calls == 24
    assert (out / RESULTS).read_bytes() == lines


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "later"])
def test_a_value_of_a_sweep_that_is_the_default_is_not_asked_twice(data: Path, tmp_path: Path, at_once: bool) -> None:
    model, out = make_model(), tmp_path / "run"
    if not at_once:
        execute(make_options(data, out, model, strategies=("naive",)))
    rows = question_rows(execute(make_options(data, out, model, strategies=("naive",), sweeps={"k": [3, 5]}, sample=4)))
    assert Counter(row["variant"] for row in rows.values()) == {"": 12, "k=3": 4, "k=5": 4}
    assert len(model.calls) == 12 + 4
    for row in rows.values():
        if row["variant"] == "k=5":
            own = {"key", "variant"}
            twin = rows[row["key"].replace("|k=5|", "||")]
            assert {name: value for name, value in row.items() if name not in own} == {n: v for n, v in twin.items() if n not in own}


def test_a_sample_is_drawn_by_the_seed_and_is_the_same_for_all_variants(data: Path, tmp_path: Path) -> None:
    def drawn(name: str, seed: int) -> dict[str, set[str]]:
        rows = execute(make_options(data, tmp_path / name, seed=seed, sample=5, sweeps={"timeout": [9.0, 10.0]}))
        ids: dict[str, set[str]] = {}
        for row in question_rows(rows).values():
            ids.setdefault(row["variant"], set()).add(row["id"])
        return ids

    first, again, other = drawn("one", 0), drawn("again", 0), drawn("other", 1)
    assert first == again
    assert len(first[""]) == 12
    assert first["timeout=9"] == first["timeout=10"] != other["timeout=9"]
    assert len(first["timeout=9"]) == 5


def test_a_limit_takes_the_first_and_can_be_raised(data: Path, tmp_path: Path) -> None:
    model, out = make_model(), tmp_path / "run"
    assert {row["id"] for row in execute(make_options(data, out, model, limit=2))} == {"q0", "q1"}
    assert {row["id"] for row in execute(make_options(data, out, model, limit=4))} == {"q0", "q1", "q2", "q3"}
    assert len(model.calls) == 4


def test_ways_of_searching_are_compared_without_a_model(data: Path, tmp_path: Path) -> None:
    rows = execute(RunOptions(datasets=(str(data),), strategies=(), out=tmp_path / "run", retrieval_only=True, limit=3))
    assert {row["strategy"] for row in rows} == {"search"}
    assert {row["variant"] for row in rows} == {"", "dense", "BM25", "mmr=0.75", "dense, mmr=0.75"}
    assert all(row["em"] is None and row["retrieval"]["recall@10"] == 1 and row["gold_retrieved"] for row in rows)
    bm25 = next(row for row in rows if row["variant"] == "BM25" and row["id"] == "q0")
    assert bm25["retrieved"][0] == "paris"


@pytest.mark.parametrize(
    ("options", "sweeps", "names"),
    [
        ({"rerank": "reader", "rerank_k": 12}, {}, ["rerank=reader"]),
        ({}, {"rerank": ["reader", None]}, ["rerank=reader"]),
        ({"rerank": "none"}, {}, []),
    ],
)
def test_rerankers_are_compared_with_the_ways_of_searching(
    data: Path, tmp_path: Path, options: dict[str, Any], sweeps: dict[str, list[Any]], names: list[str]
) -> None:
    wanted: dict[str, Any] = {"strategies": (), "retrieval_only": True, "limit": 2, "options": options, "sweeps": sweeps}
    rows = execute(RunOptions(datasets=(str(data),), out=tmp_path / "run", **wanted))
    assert list(dict.fromkeys(row["variant"] for row in rows)) == ["", "dense", "BM25", "mmr=0.75", "dense, mmr=0.75", *names]
    assert all(row["retrieval"]["recall@10"] == 1 for row in rows)


def test_an_invalid_reranker_is_rejected_before_anything_is_read(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rerank_k=0 is not valid"):
        execute(RunOptions(datasets=(str(data),), strategies=(), out=tmp_path / "run", retrieval_only=True, options={"rerank_k": 0}))
    with pytest.raises(ModelError, match="'no/such' is not on this machine"):
        execute(RunOptions(datasets=(str(data),), strategies=(), out=tmp_path / "run", retrieval_only=True, options={"rerank": "no/such"}))


def test_retrieval_of_strategies_is_scored_without_gold_answers(data: Path, tmp_path: Path) -> None:
    write_data(data, [{**question, "answer": ""} for question in make_questions(2)])
    rows = execute(make_options(data, tmp_path / "run", strategies=("naive",), retrieval_only=True))
    naive = [row for row in rows if row["strategy"] == "naive"]
    assert [row["em"] for row in naive] == [None, None]
    assert all(row["retrieval"]["recall@5"] == 1 for row in naive)


def test_two_data_sets_with_the_same_name_are_rejected(data: Path, tmp_path: Path) -> None:
    other = write_data(tmp_path / "other" / "rivers", make_questions(2))
    with pytest.raises(UsageError, match="two data sets have the name 'rivers'"):
        execute(make_options(data, tmp_path / "run", datasets=(str(data), str(other))))
    assert not (tmp_path / "run").exists()


def test_two_runs_do_not_write_into_one_folder(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with ResultLog(out / RESULTS), pytest.raises(UsageError, match="another run is writing"):
        execute(make_options(data, out))
    assert len(question_rows(execute(make_options(data, out)))) == 12


def test_passages_have_the_requested_length_throughout_a_run(data: Path, tmp_path: Path) -> None:
    wanted = make_options(data, tmp_path / "run", chunk_tokens=40, limit=1)
    execute(wanted)
    [source] = prepare_run(wanted, *load_inputs(wanted)).sources
    assert require_manifest(source.folder).chunk_tokens == 40
    with pytest.raises(UsageError, match="40 tokens"):
        execute(wanted.model_copy(update={"chunk_tokens": 60}))
