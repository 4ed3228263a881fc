"""Questions and searches made worse: drawn with the seed, the same for every strategy, more of it with a larger share."""

import re
from pathlib import Path

import pytest

from plugins.lab.tests.small_data_set import make_options
from ramify.lab._degraded import Degradation, DegradationKind, DegradedIndex, paraphrase
from ramify.lab.dataset import Question
from ramify.lab.plan import list_variants
from ramify.lab.report import write_report
from ramify.lab.run import execute
from ramify.lab.search import SEARCH_STRATEGY
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from tests.embeddings import WordEmbeddings

TITLES = ("Ann Roth", "Bo Lind", "Ida Penn", "Li Yu", "Tarnholm", "Oskel", "Vane", "Mirefell")
ASKED = Question(id="q1", question="Where was the author of Lark Hill born?", answer="Tarnholm")
LONG = "Which film was released earlier, the one by the famous author of Lark Hill or the one made in the city of Vane?"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    texts = [f"{name} is told of in number {number % 3}." for number, name in enumerate(TITLES)]
    metadata = [{"source": f"{number}.txt", "title": name} for number, name in enumerate(TITLES)]
    return Index.from_texts(texts, WordEmbeddings(), metadata, path=tmp_path_factory.mktemp("worse") / "index")


def search_ids(index: Index, query: str, how: DegradationKind, share: float, seed: int = 0) -> list[str]:
    worse = DegradedIndex(index, ASKED, Degradation(kind=how, share=share), seed)
    return [str(passage.metadata["title"]) for passage in worse.search([query], 4)[0]]


def plain_ids(index: Index, query: str) -> list[str]:
    return [str(passage.metadata["title"]) for passage in index.search([query], 4)[0]]


def test_a_name_in_a_sub_question_is_searched_as_another_and_the_question_as_it_is(index: Index) -> None:
    assert plain_ids(index, "Where was Ida Penn born?")[0] == "Ida Penn"
    assert search_ids(index, "Where was Ida Penn born?", "entities", 1.0)[0] != "Ida Penn"
    assert search_ids(index, "Ida Penn", "entities", 1.0)[0] != "Ida Penn"
    assert search_ids(index, ASKED.question, "entities", 1.0) == plain_ids(index, ASKED.question)


def test_only_a_name_that_is_looked_up_by_itself_is_another_for_look_ups(index: Index) -> None:
    assert search_ids(index, "Ida Penn", "lookups", 1.0)[0] != "Ida Penn"
    assert search_ids(index, "Where was Ida Penn born?", "lookups", 1.0) == plain_ids(index, "Where was Ida Penn born?")
    assert search_ids(index, "Ida Penn", "lookups", 0.0) == plain_ids(index, "Ida Penn")


@pytest.mark.parametrize("how", ["retriever", "distractors"])
def test_all_passages_are_replaced_by_others_at_a_share_of_one_and_none_at_zero(index: Index, how: DegradationKind) -> None:
    query = "Ida Penn is told of"
    assert search_ids(index, query, how, 0.0) == plain_ids(index, query)
    worse = search_ids(index, query, how, 1.0)
    assert len(worse) == len(set(worse)) == 4
    assert not set(worse) & set(plain_ids(index, query))


@pytest.mark.parametrize("how", ["retriever", "distractors"])
def test_a_larger_share_includes_a_smaller_one(index: Index, how: DegradationKind) -> None:
    kept = [set(plain_ids(index, "told of")) & set(search_ids(index, "told of", how, share)) for share in (0.2, 0.5, 0.8)]
    assert kept[0] >= kept[1] >= kept[2]


def test_it_is_drawn_with_the_seed(index: Index) -> None:
    draws = [tuple(search_ids(index, "told of", "retriever", 0.5, seed)) for seed in (0, 0, *range(1, 8))]
    assert draws[0] == draws[1]
    assert len(set(draws)) > 1


def test_a_paraphrase_keeps_names_and_words_and_changes_more_with_a_larger_share() -> None:
    assert paraphrase(LONG, 0.0, "0") == LONG
    worse = paraphrase(LONG, 1.0, "0")
    assert "movie was issued" in worse
    assert "Lark Hill" in worse
    assert worse.endswith("Vane?")
    half = paraphrase(LONG, 0.5, "0")
    changed = [
        sum(one != other for one, other in zip(re.findall(r"\w+", LONG), re.findall(r"\w+", text), strict=True)) for text in (half, worse)
    ]
    assert 0 < changed[0] < changed[1]


def changed_words(text: str) -> int:
    """Count the words that are no longer in their place."""
    words = zip(re.findall(r"\w+", LONG), re.findall(r"\w+", text), strict=True)
    return sum(one != other for one, other in words)


def test_a_run_has_each_strategy_with_each_share_and_a_curve_from_none_on(data: Path, tmp_path: Path) -> None:
    wanted = make_options(
        data, tmp_path / "run", strategies=("naive", "closed-book"), degrade={"retriever": (1.0,), "paraphrase": (0.5,)}, limit=4
    )
    rows = execute(wanted)
    variants = {(row["strategy"], row["variant"]) for row in rows if row["strategy"] != SEARCH_STRATEGY}
    assert variants == {
        *(("naive", name) for name in ("", "retriever=0", "retriever=1", "paraphrase=0", "paraphrase=0.5")),
        *(("closed-book", name) for name in ("", "paraphrase=0", "paraphrase=0.5")),
    }
    by_variant = {(row["variant"], row["id"]): row for row in rows if row["strategy"] == "naive"}
    assert all(by_variant["retriever=0", key]["retrieved"] == row["retrieved"] for (name, key), row in by_variant.items() if not name)
    assert any(by_variant["retriever=1", key]["retrieved"] != row["retrieved"] for (name, key), row in by_variant.items() if not name)
    again = execute(wanted)
    assert len(again) == len(rows), "a finished run asks nothing more"
    write_report(tmp_path / "run")
    report = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    assert "## Degraded questions and searches" in report
    assert "naive, 0 |" in report
    assert "## Sweeps" not in report


@pytest.mark.parametrize(
    ("degrade", "more", "message"),
    [
        ({"typos": (0.1,)}, {}, "'typos'"),
        ({"retriever": (1.5,)}, {}, "retriever=1.5"),
        ({"retriever": (0.1,)}, {"strategies": (), "retrieval_only": True}, "measures strategies"),
    ],
)
def test_invalid_shares_are_rejected_before_anything_is_read(
    data: Path, tmp_path: Path, degrade: dict[str, tuple[float, ...]], more: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        list_variants(make_options(data, tmp_path / "run", degrade=degrade, **more))
