"""GraphRAG reproduced with a language model: it builds the graphs, answers, and judges."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plugins.kinds.tests.knowledge.graph_model import replies
from plugins.kinds.tests.knowledge.valley import VALLEY
from plugins.lab.tests.conftest import cache
from ramify.lab.commands._evaluating import run_reproduction
from ramify.lab.papers import PAPERS
from ramify.lab.prompts.prefer import CRITERIA
from tests.fakes import FakeModel

__all__ = ["cache"]


@pytest.fixture
def valley(tmp_path: Path, cache: None) -> Path:
    folder = tmp_path / "valley"
    folder.mkdir()
    corpus = [{"id": title.lower().replace(" ", "-"), "title": title, "text": text} for title, text in VALLEY.items()]
    asked = [{"id": "q1", "question": "What are the main themes?", "type": "open"}]
    for name, records in (("corpus.jsonl", corpus), ("questions.jsonl", asked)):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return folder


def reply(prompt: str, slots: Mapping[str, Any]) -> Any:
    if prompt == "map_report":
        return {"points": ["80 | 1 | The valley has bridges."]}
    if prompt == "prefer":
        longer = "1" if len(slots["passages"][0]["text"]) >= len(slots["passages"][1]["text"]) else "2"
        return {**dict.fromkeys(CRITERIA, longer), "reasons": "It says more."}
    if prompt in ("reduce", "answer", "finalize"):
        return {"answer": "Bridges, ships and music [1].", "confidence": 0.8, "citations": [1]}
    return replies(prompt, slots)


def test_a_model_builds_answers_and_judges_and_nothing_is_asked_twice(valley: Path, tmp_path: Path) -> None:
    chat, out = FakeModel(replies=reply), tmp_path / "graph"
    paper = PAPERS["graph"]
    orders = paper.run_options(out, [str(valley)], {"model": chat})
    run_reproduction(paper, orders, out, repeats=1)
    graphs = [json.loads(line) for line in (out / "graphs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["build"]["unit_tokens"], row["build"]["gleanings"]) for row in graphs][:5] == [*((600, n) for n in range(4)), (1200, 0)]
    assert {row["made_by"] for row in graphs} == {"FakeModel"}
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "### valley: size of units and gleanings" in report
    assert "### valley: directness" in report
    counts = {prompt: len(chat.asked(prompt)) for prompt in ("extract", "report", "map_report", "prefer")}
    assert all(counts.values())
    assert not any(chat.asked(prompt) for prompt in ("answer", "finalize", "write")), "every condition answers with the prompt of `global`"
    searched = [slots for slots in chat.asked("reduce") if len(slots["passages"]) > 1]
    assert any("Ivor Kells: Ivor Kells was a miner" in text["text"] for slots in searched for text in slots["passages"]), (
        "SS reads passages"
    )
    run_reproduction(paper, orders, out, repeats=1)
    assert {prompt: len(chat.asked(prompt)) for prompt in counts} == counts
