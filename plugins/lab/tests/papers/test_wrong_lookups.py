"""PruneRAG reproduced with wrong names looked up: what only a look-up finds is lost, and nothing else."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plugins.lab.tests.conftest import cache, films
from plugins.lab.tests.films import FILMS
from ramify.lab.papers import PAPERS
from ramify.lab.run import execute
from tests.fakes import FakeModel

__all__ = ["cache", "films"]


def reply(prompt: str, slots: Mapping[str, Any]) -> Any:
    """Look up the director of the film that is asked about, and answer from what is shown."""
    director, town = next(told for film, told in FILMS.items() if film in str(slots["question"]))
    if prompt == "decompose":
        return {"simple": True, "first": "", "second": ""}
    if prompt == "entities":
        return {"entities": [director]}
    if prompt == "aggregate":
        told = [finding["answer"] for finding in slots["findings"]]
    else:
        told = [passage["text"] for passage in slots["passages"]]
    known = any(town in text for text in told)
    return {"answer": town if known else "Unknown", "confidence": 0.99 if known else 0.1, "citations": [1] if known else []}


def test_what_only_a_lookup_finds_is_lost(films: Path, tmp_path: Path) -> None:
    options = {"model": FakeModel(replies=reply, logprobs=True), "k": 1}
    prune = PAPERS["prune"].run_options(tmp_path, [str(films)], options)[1]
    assert prune.degrade == {"lookups": (0.1, 0.3, 0.5)}
    rows = execute(prune.model_copy(update={"sweeps": {}, "ablations": (), "degrade": {"lookups": (1.0,)}}))
    found = {name: [row for row in rows if (row["strategy"], row["variant"]) == ("prune", name)] for name in ("", "lookups=0", "lookups=1")}
    assert {name: sum(row["em"] for row in own) for name, own in found.items()} == {"": 4, "lookups=0": 4, "lookups=1": 0}
    for whole, wrong in zip(found[""], found["lookups=1"], strict=True):
        director = next(FILMS[film][0] for film in FILMS if film in whole["question"]).lower().replace(" ", "-")
        assert director in whole["retrieved"]
        assert director not in wrong["retrieved"]
