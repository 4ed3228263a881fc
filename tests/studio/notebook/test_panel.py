"""The settings of the chat."""

from html import unescape
from typing import Any

import pytest

from ramify.graphs import STRATEGIES
from ramify.studio import Chat
from ramify.tools.errors import UsageError
from tests.river import QUESTION, model, river
from tests.studio.notebook.test_chat import answered, html


def chat(strategy: str = "tor", **options: Any) -> Chat:
    return Chat(strategy=strategy, **{"index": river(), "model": model(), **options})


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_strategy_shows_its_own_fields(strategy: str) -> None:
    panel = chat(strategy).panel
    assert {"model", "index", "k"} <= panel.fields.keys()
    assert all(field.box.placeholder.endswith("(default)") and field.box.tooltip for field in panel.fields.values())
    told = html(panel)
    assert f"{strategy}: at most" in told
    assert "keep_alive" in told


async def test_fields_and_lines_are_obeyed() -> None:
    door = chat()
    door.panel.fields["k"].box.value = "1"
    door.panel.others.value = "judged=false\n\nnum_ctx=4096"
    await answered(door)
    branches = door.results[0].tree.values()
    assert max(len(branch.evidence) for branch in branches) == 1
    assert [branch.score for branch in branches] == [None, None, None]
    assert door.panel.options()["num_ctx"] == 4096


async def test_a_wrong_value_is_told_at_once_and_asks_nothing() -> None:
    door = chat()
    door.panel.fields["theta"].box.value = "high"
    assert "theta='high' is not valid" in unescape(html(door.panel))
    door.box.value = QUESTION
    door.send.click()
    assert "theta='high' is not valid" in unescape(html(door.said))
    assert (door.turns, door.box.value) == ([], QUESTION)
    door.panel.fields["theta"].box.value = ""
    assert "is not valid" not in html(door.panel)


@pytest.mark.parametrize(("line", "words"), [("num_ctx", "KEY=VALUE"), ("k=3\nk=4", "twice"), ("leaves=3", "leaves"), ("k=3", "keep one")])
def test_a_wrong_line_is_told(line: str, words: str) -> None:
    panel = chat(k=4).panel
    panel.others.value = line
    assert words in html(panel)


async def test_another_strategy_keeps_what_both_know() -> None:
    door = chat("tor", k=3, theta=0.6)
    door.panel.strategy.value = "prune"
    assert door.panel.options()["k"] == 3
    assert "theta" not in door.panel.options()
    turn = await answered(door)
    assert "prune · FakeModel" in html(turn)
    door.panel.fields["k"].box.value = ""
    door.panel.strategy.value = "tor"
    assert door.panel.options()["theta"] == 0.6
    assert "k" not in door.panel.options()


def test_what_is_given_in_code_is_seen() -> None:
    panel = chat("prune", joint=False, filter={"language": "en"}, tau=0.9).panel
    assert panel.fields["tau"].box.value == "0.9"
    assert "FakeModel" in panel.fields["model"].box.value
    assert panel.others.value == 'joint=false\nfilter={"language": "en"}'
    assert panel.options()["joint"] is False
    assert panel.options()["filter"] == {"language": "en"}


def test_a_wrong_option_is_told_where_it_is_written() -> None:
    with pytest.raises(UsageError, match="taw"):
        Chat(taw=0.9)
    with pytest.raises(UsageError, match="oak"):
        Chat(strategy="oak")
