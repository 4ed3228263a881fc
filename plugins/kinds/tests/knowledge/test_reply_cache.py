"""The reply cache: a build interrupted by an error, a budget or SIGKILL resumes with the same result."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plugins.kinds.tests.knowledge.graph_model import NAMES, build_with_model, graph_model, graph_model_with, replies
from plugins.kinds.tests.knowledge.valley import VALLEY, dump, graph_file, open_graph
from ramify.kinds.knowledge.build import BUDGET_EXHAUSTED, REPLIES_FILE, ReplyStore
from ramify.kinds.knowledge.graph_file import GRAPH
from ramify.kinds.settings import BuildSettings
from ramify.nodes.asking.ask import current_model
from ramify.tools.errors import IndexingError
from tests.fakes import FakeModel

AT_ONCE = 2


@pytest.fixture(scope="module")
def undisturbed(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, int]:
    """Build without disturbance: the graph's file, and the calls that it took."""
    folder = Path(shutil.copytree(plain, tmp_path_factory.mktemp("undisturbed") / "index"))
    calls = build_with_model(folder)[1].llm_calls
    return dump(folder), calls


class Pulled(RuntimeError):
    """What no code of ours expects."""


def failing(after: int, how: Any) -> FakeModel:
    """Make a model that fails when it has been asked so often."""
    left = iter(range(after))

    def reply(prompt: str, slots: Any) -> Any:
        if next(left, None) is None:
            how()
        return replies(prompt, slots)

    return FakeModel(replies=reply)


def pull() -> None:
    raise Pulled


def kept(folder: Path) -> int:
    with ReplyStore(folder / REPLIES_FILE) as work:
        return int(work._database.execute("SELECT count(*) FROM replies").fetchone()[0])


def test_a_second_run_asks_nothing_and_changes_nothing(folder: Path, undisturbed: tuple[bytes, int]) -> None:
    build_with_model(folder)
    again, usage = build_with_model(folder, chat := graph_model())
    assert (chat.calls, usage.llm_calls, again.rewritten) == ([], 0, 0)
    assert dump(folder) == undisturbed[0]


def test_a_graph_that_is_lost_is_made_of_the_replies(folder: Path, undisturbed: tuple[bytes, int]) -> None:
    for _ in range(2):
        build_with_model(folder)
    (folder / GRAPH).write_bytes(b"rubbish" * 1000)
    assert build_with_model(folder)[1].llm_calls == 0
    assert dump(folder) == undisturbed[0]


@pytest.mark.parametrize("options", [{"seed": 7}, {"temperature": 0.5}, {"num_predict": 512}, {"entity_types": "ship"}], ids=str)
def test_other_options_repeat_the_calls(folder: Path, options: dict[str, Any]) -> None:
    build_with_model(folder)
    build_with_model(folder, chat := graph_model(), **options)
    assert len(chat.asked("extract")) == len(VALLEY)


def test_a_malformed_reply_is_never_cached(folder: Path, undisturbed: tuple[bytes, int]) -> None:
    made, _ = build_with_model(
        folder, graph_model_with(report="?", extract=lambda slots: "?" if slots["title"] == "Vane" else replies("extract", slots))
    )
    assert list(made.unread) == ["vane.md#vane"]
    assert kept(folder) == len(VALLEY) - 1


def test_only_new_text_is_sent_to_the_model(folder: Path) -> None:
    build_with_model(folder)
    open_graph(folder).add_texts([text := "In the fog Nell Garvey of Vane saw the Lapwing."], ids=["fog"])
    made, _ = build_with_model(folder, chat := graph_model())
    assert [slots["text"] for slots in chat.asked("extract")] == [text]
    assert 0 < len(chat.asked("report")) == made.rewritten < made.communities


def test_another_builder_makes_communities_of_its_own(folder: Path, undisturbed: tuple[bytes, int]) -> None:
    build_with_model(folder, "extractive")
    build_with_model(folder)
    assert dump(folder) == undisturbed[0]


@pytest.mark.parametrize("after", [0, 1, 7, 12, 15])
def test_after_an_error_only_the_remaining_calls_are_made(folder: Path, undisturbed: tuple[bytes, int], after: int) -> None:
    with pytest.raises(Pulled):
        build_with_model(folder, failing(after, pull), max_concurrency=AT_ONCE)
    assert open_graph(folder).manifest.kind == "passages", "the index is as it was"
    before = kept(folder)
    assert after - AT_ONCE < before <= after
    assert build_with_model(folder)[1].llm_calls == undisturbed[1] - before
    assert dump(folder) == undisturbed[0]


class TestBudgets:
    @pytest.mark.parametrize("calls", [3, 12, 15])
    def test_end_a_build_with_a_usable_graph_that_says_so(self, folder: Path, undisturbed: tuple[bytes, int], calls: int) -> None:
        made, usage = build_with_model(folder, max_calls=calls)
        assert usage.llm_calls == calls
        assert len(made.unread) == max(0, len(VALLEY) - calls)
        assert set(made.unread.values()) <= {BUDGET_EXHAUSTED}
        reports = graph_file(folder)
        by = [report.made_by for report in reports.all_reports().values()]
        assert by.count("extractive") == made.replaced == made.communities - max(0, calls - len(VALLEY))
        assert {name for name, why in reports.facts.items() if why == BUDGET_EXHAUSTED} == {f"unread {id}" for id in made.unread}
        index = open_graph(folder)
        assert index.search(["Where is Vane?"], 3)[0]
        assert [level.communities for level in index.reports.levels]
        again, usage = build_with_model(folder)
        assert usage.llm_calls == undisturbed[1] - calls
        assert (again.unread, again.replaced) == ({}, 0)
        assert dump(folder) == undisturbed[0]

    def test_of_an_update_leave_communities_as_they_were(self, folder: Path) -> None:
        build_with_model(folder)
        before = graph_file(folder).partition()
        open_graph(folder).add_texts(
            ["In the fog Nell Garvey of Vane saw the Lapwing.", "Nell Garvey met Orla Finch in Vane."], ids=["fog", "met"]
        )
        made, _ = build_with_model(folder, max_calls=1)
        assert len(made.unread) == 1
        assert build_with_model(folder)[0].unread == {}
        assert graph_file(folder).partition() == before

    def test_of_tokens_and_seconds_hold_as_well(self, folder: Path) -> None:
        made, usage = build_with_model(folder, max_tokens=9_000)
        assert usage.tokens <= 9_000
        assert made.unread or made.replaced
        made, usage = build_with_model(folder, FakeModel(replies=replies, latency=60.0), max_seconds=0.3, max_concurrency=1)
        assert made.rewritten == made.replaced > 0

    def test_of_zero_are_reported_in_one_line(self, folder: Path) -> None:
        with pytest.raises(IndexingError, match=r"the budget was used up before .* — raise max_calls, max_tokens or max_seconds"):
            build_with_model(folder, FakeModel(replies=replies, latency=60.0), max_seconds=0.3)
        assert open_graph(folder).manifest.kind == "passages"


def kill_after(index: str, calls: str) -> None:
    """Build until killed in the middle of a call; run in a process of its own."""
    build_with_model(Path(index), failing(int(calls), lambda: os.kill(os.getpid(), signal.SIGKILL)), max_concurrency=AT_ONCE)


CHILD = "import sys; from plugins.kinds.tests.knowledge.test_reply_cache import kill_after; kill_after(*sys.argv[1:])"


@pytest.mark.parametrize("calls", [5, 16])
def test_after_a_kill_only_unfinished_calls_are_repeated(folder: Path, undisturbed: tuple[bytes, int], calls: int) -> None:
    killed = subprocess.run([sys.executable, "-c", CHILD, str(folder), str(calls)], cwd=Path(__file__).parents[4], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    _, usage = build_with_model(folder)
    assert usage.llm_calls <= undisturbed[1] - calls + AT_ONCE
    assert dump(folder) == undisturbed[0]
    assert set(graph_file(folder).graph().names) == NAMES


def test_the_model_s_name_is_part_of_the_key(folder: Path) -> None:
    class Other(FakeModel):
        """Another model."""

    build_with_model(folder)
    build_with_model(folder, other := Other(replies=replies))
    assert current_model(BuildSettings(model=other)).name == "Other"
    assert len(other.asked("extract")) == len(VALLEY)
    assert graph_file(folder).facts["made_by"] == "Other"
