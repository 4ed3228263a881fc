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
    widget = chat()
    widget.panel.fields["k"].box.value = "1"
    widget.panel.others.value = "judged=false\n\nnum_ctx=4096"
    await answered(widget)
    branches = widget.results[0].tree.values()
    assert max(len(branch.evidence) for branch in branches) == 1
    assert [branch.score for branch in branches] == [None, None, None]
    assert widget.panel.options()["num_ctx"] == 4096


async def test_an_invalid_value_is_rejected_without_asking() -> None:
    widget = chat()
    widget.panel.fields["theta"].box.value = "high"
    assert "theta='high' is not valid" in unescape(html(widget.panel))
    widget.box.value = QUESTION
    widget.send.click()
    assert "theta='high' is not valid" in unescape(html(widget.warning))
    assert (widget.turns, widget.box.value) == ([], QUESTION)
    widget.panel.fields["theta"].box.value = ""
    assert "is not valid" not in html(widget.panel)


@pytest.mark.parametrize(("line", "words"), [("num_ctx", "KEY=VALUE"), ("k=3\nk=4", "twice"), ("leaves=3", "leaves"), ("k=3", "keep one")])
def test_an_invalid_line_is_rejected(line: str, words: str) -> None:
    panel = chat(k=4).panel
    panel.others.value = line
    assert words in html(panel)


async def test_another_strategy_keeps_what_both_know() -> None:
    widget = chat("tor", k=3, theta=0.6)
    widget.panel.strategy.value = "prune"
    assert widget.panel.options()["k"] == 3
    assert "theta" not in widget.panel.options()
    turn = await answered(widget)
    assert "prune · FakeModel" in html(turn)
    widget.panel.fields["k"].box.value = ""
    widget.panel.strategy.value = "tor"
    assert widget.panel.options()["theta"] == 0.6
    assert "k" not in widget.panel.options()


def test_what_is_given_in_code_is_seen() -> None:
    panel = chat("prune", joint=False, filter={"language": "en"}, tau=0.9).panel
    assert panel.fields["tau"].box.value == "0.9"
    assert "FakeModel" in panel.fields["model"].box.value
    assert panel.others.value == 'joint=false\nfilter={"language": "en"}'
    assert panel.options()["joint"] is False
    assert panel.options()["filter"] == {"language": "en"}


def test_an_invalid_option_is_rejected_in_the_cell() -> None:
    with pytest.raises(UsageError, match="taw"):
        Chat(taw=0.9)
    with pytest.raises(UsageError, match="oak"):
        Chat(strategy="oak")
