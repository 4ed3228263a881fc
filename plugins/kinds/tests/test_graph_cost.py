"""What a graph would cost: worked out from a few calls, which a build does not make again."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from plugins.kinds.tests.knowledge.graph_model import build_with_model, graph_model, graph_model_with
from plugins.kinds.tests.knowledge.valley import SMALL, VALLEY, write
from ramify.kinds.building import asks_model, build_graph
from ramify.kinds.cost import PILOT_REPORTS, PILOT_UNITS, Stage, estimate_graph
from ramify.kinds.knowledge.build import REPLIES_FILE
from ramify.kinds.knowledge.elements import Piece, read_pieces, text_units
from ramify.kinds.knowledge.index import GraphIndex
from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from ramify.tools.index.manifest import MANIFEST, PASSAGES, read_index_manifest
from ramify.tools.models.tokens import estimate_tokens as tokens
from tests.fakes import FakeModel
from tests.tools.fakes import WordEncoder

OPTIONS = {**SMALL, "gleanings": 0}


def estimated(folder: Path, chat: FakeModel | str, **options: Any) -> dict[str, Stage]:
    pieces = read_pieces(folder / PASSAGES)
    return {stage.name: stage for stage in estimate_graph(pieces, None, {**OPTIONS, "model": chat, **options}, folder / REPLIES_FILE)}


def long_text(count: int) -> list[Piece]:
    """Make a text of many passages, short and long by turns, so that two that are no neighbours would fit into one unit."""
    texts = [f"Vane {number} lies on the Oskel {'and so on ' * (9 if number % 2 else 1)}." for number in range(count)]
    return [Piece(f"long~{number}", "long", text, ("Long",)) for number, text in enumerate(texts)]


def test_by_rules_it_calls_nothing(folder: Path) -> None:
    stages = estimated(folder, "extractive")
    assert list(stages) == ["names", "reports"]
    assert all(stage.calls == (0, 0) for stage in stages.values())
    assert stages["names"].todo == "12 passages by rules"


def test_it_asks_no_more_than_the_pilot_and_says_what_all_would_be(folder: Path) -> None:
    stages = estimated(folder, chat := graph_model())
    assert len(chat.asked("extract")) == len(VALLEY) <= PILOT_UNITS
    assert chat.asked("report") == [], "the communities are not known yet: a report on others would be thrown away"
    assert stages["names"].calls == (len(VALLEY), len(VALLEY))
    assert stages["names"].todo == "12 units of at most 600 tokens"
    low, high = stages["reports"].calls
    assert 0 < low < high
    assert stages["reports"].seconds[0] > 0
    assert all(stage.tokens[1] >= stage.tokens[0] > 0 for stage in stages.values())


def test_the_build_s_own_calls_lie_within_it(folder: Path) -> None:
    stages = estimated(folder, graph_model())
    (folder / REPLIES_FILE).unlink()
    _, usage = build_with_model(folder)
    assert sum(stage.calls[0] for stage in stages.values()) <= usage.llm_calls <= sum(stage.calls[1] for stage in stages.values())


def test_a_build_does_not_ask_the_pilot_again(folder: Path) -> None:
    estimated(folder, graph_model())
    _, usage = build_with_model(folder, chat := graph_model())
    assert chat.asked("extract") == []
    assert usage.llm_calls == len(chat.asked("report"))


def test_of_a_long_text_the_pilot_is_some_of_its_units_as_they_are(tmp_path: Path) -> None:
    lengthy = long_text(200)
    whole = [unit.text for unit in text_units(lengthy, tokens, 50)]
    assert len(whole) > 2 * PILOT_UNITS
    stages = estimate_graph(lengthy, None, {**OPTIONS, "model": (chat := graph_model()), "unit_tokens": 50}, tmp_path / REPLIES_FILE)
    asked = [slots["text"] for slots in chat.asked("extract")]
    assert 0 < len(asked) <= PILOT_UNITS
    assert set(asked) <= set(whole), "so a build need not ask for them again"
    assert round(stages[0].calls[0]) == len(whole)


def test_a_second_estimate_asks_nothing_and_says_the_same_of_calls(folder: Path) -> None:
    first = estimated(folder, graph_model())
    again = estimated(folder, chat := graph_model())
    assert chat.calls == []
    assert {name: stage[:4] for name, stage in again.items()} == {name: stage[:4] for name, stage in first.items()}


@pytest.mark.parametrize("levels", [1, 2, 9])
def test_reports_alone_are_counted_exactly_and_those_of_the_pilot_are_not_asked_for_again(folder: Path, levels: int) -> None:
    options = {"model": "extractive", "reporter": (chat := graph_model()), "report_levels": levels}
    stages = estimated(folder, "extractive", reporter=chat, report_levels=levels)
    assert {name for name, _ in chat.calls} == {"report"}
    assert len(chat.calls) <= PILOT_REPORTS
    build_graph(folder, {**OPTIONS, **options})
    assert (stages["names"].calls, stages["reports"].calls) == ((0, 0), (len(chat.calls),) * 2)


@pytest.mark.parametrize("options", [{}, {"model": "extractive"}])
def test_a_build_that_estimates_its_cost_first_asks_for_one_report_of_each_community(folder: Path, options: dict[str, Any]) -> None:
    from ramify.kinds.console import add_graph

    chat = graph_model()
    add_graph(folder, {**OPTIONS, "model": chat, "reporter": chat, **options}, recluster=False)
    reports = GraphIndex.open(folder, WordEncoder()).reports.all_reports()
    assert len(chat.asked("report")) == len(reports) > PILOT_REPORTS
    assert {report.made_by for report in reports.values()} == {"FakeModel"}


def test_a_model_that_cannot_do_it_is_reported_before_the_build(folder: Path) -> None:
    with pytest.raises(IndexingError, match="12 of 12 units could not be read"):
        estimated(folder, graph_model_with(extract="no JSON"))


def test_which_builds_ask_a_model() -> None:
    assert not asks_model({})
    assert not asks_model({"model": "extractive", "reporter": "extractive"})
    assert asks_model({"reporter": "ollama:llama3.1:8b"})
    assert asks_model({"model": "ollama:llama3.1:8b", "reporter": "extractive"})


def test_on_the_command_line_nothing_is_built(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ramify.studio.cli import app

    monkeypatch.setattr("ramify.tools.index.build.load_encoder", lambda name: WordEncoder())
    documents = str(write(tmp_path / "documents"))
    result = CliRunner().invoke(app, ["index", documents, "--out", str(tmp_path / "new"), "--kind", "graph", "--estimate"])
    assert result.exit_code == 0, result.output
    assert "12 passages by rules" in result.output
    assert not (tmp_path / "new").exists()
    result = CliRunner().invoke(app, ["index", "--out", str(folder), "--kind", "graph", "--estimate"])
    assert result.exit_code == 0, result.output
    assert read_index_manifest(folder / MANIFEST).kind == "passages"  # type: ignore[union-attr]  # it is there
    assert len(Index.open(folder, WordEncoder())) == len(VALLEY)
