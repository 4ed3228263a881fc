"""A profile: an answer that is not sure enough is withheld, of any other the confidence is fitted, and a difference is told."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import ramify.graphs as graphs
from ramify.graphs.tool import format_answer
from ramify.studio.drawing.terminal import print_answer
from ramify.tools.errors import InputError
from ramify.tools.index import Index
from ramify.tools.profile import Profile, load_profile
from ramify.tools.search.searcher import digest_of
from tests.embeddings import WordEmbeddings
from tests.fakes import FakeModel
from tests.river import QUESTION, but, river


def answering(confidence: float) -> FakeModel:
    """Make a model that is as sure of every answer."""
    return but(decide=lambda slots: {"action": "answer", "answer": "Paris", "confidence": confidence, "citations": [1]})


def profile(threshold: float, **told: Any) -> Profile:
    made_of = {"run": "run", "strategy": "prune", "model": "FakeModel", **told.pop("made_of", {})}
    return Profile.model_validate(
        {"made_of": made_of, "bound": "asked", "risk": 0.1, "delta": 0.1, "seed": 0, "split": 0.5, "questions": 50, "threshold": threshold}
        | told
    )


def ask(confidence: float, given: Any, **options: Any) -> graphs.Result:
    return graphs.ask(QUESTION, model=answering(confidence), index=river(), tau=0.5, profile=given, **options)


def test_an_answer_that_is_not_above_the_threshold_is_withheld_with_the_reason() -> None:
    result = ask(0.8, profile(0.8))
    assert (result.answer, result.confidence, result.confidence_source) == ("Unknown", None, None)
    facts = ("'Paris'", "0.8, is not above 0.8", "at most 10 % of all questions asked are answered wrongly, in expectation")
    assert [fact for fact in facts if fact not in result.withheld] == []
    assert [(one.cited, one.closest) for one in result.citations] == [(False, True)]
    assert result.quoted
    assert result.text.startswith(result.citations[0].quote)
    assert result.tree["0"].answer == "Paris"
    file = StringIO()
    print_answer(result, Console(file=file, width=400))
    assert f"unsure: {result.withheld}" in file.getvalue()
    assert f"Note: unsure: {result.withheld}" in format_answer(result)
    assert result.to_json()["withheld"] == result.withheld


def test_a_surer_answer_is_given_with_its_fitted_confidence() -> None:
    result = ask(0.8, profile(0.7, curve=[[0, 0.1], [0.9, 0.55], [1, 1]], fit="isotonic"))
    assert (result.answer, result.withheld, result.confidence_source) == ("Paris", "", "profile")
    assert result.confidence == pytest.approx(0.5)
    assert ask(0.8, profile(0.7)).confidence == 0.8


def test_a_short_result_has_no_text() -> None:
    result = ask(0.8, profile(0.9), style="short")
    assert (result.answer, result.text, result.sentences) == ("Unknown", "", [])


def test_where_it_was_calibrated_otherwise_a_notice_says_so() -> None:
    model = ask(0.8, profile(0.5)).model
    same = {"model": model, "settings": {"k": 5}}
    assert [one for one in ask(0.8, profile(0.5, made_of=same)).notices if "profile" in one] == []
    other = profile(0.5, made_of={**same, "strategy": "tor", "settings": {"k": 9, "no_such": 1}, "indexes": ["0"]})
    for used in (other, other.model_copy(update={"threshold": 1.0})):
        assert [one for one in ask(0.8, used).notices if "(strategy prune, not tor; k 5, not 9; another index)" in one]


def test_its_tau_counts_where_none_is_set() -> None:
    given = {"model": answering(0.8), "index": river(), "profile": profile(0.5, tau=0.7)}
    assert graphs.ask(QUESTION, **given).tau == 0.7
    assert graphs.ask(QUESTION, **given, tau=0.9).tau == 0.9


def test_a_conversation_and_a_tool_withhold_too(tmp_path: Path) -> None:
    options = {"model": answering(0.8), "index": river(), "tau": 0.5}
    file = tmp_path / "profile.json"
    file.write_text(profile(0.9).model_dump_json())
    assert graphs.Conversation().ask(QUESTION, profile=file.as_posix(), **options).answer == "Unknown"
    told = graphs.research_tool(profile=str(file), **options).invoke({"question": QUESTION})
    assert told.startswith("Answer: Unknown")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is not a valid profile"),
        ("[1]", "is not a valid profile"),
        (json.dumps({"version": 2}), "is not a valid profile"),
        (profile(0.5).model_dump_json().replace('"threshold":0.5', '"threshold":7'), "threshold: Input should be less than or equal to 1"),
        (profile(0.5).model_dump_json().replace('"threshold":0.5', '"threshold":NaN'), "threshold"),
        (profile(0.5).model_dump_json().replace('"curve":[]', '"curve":[[0,1],[1,0]]'), "curve"),
        (profile(0.5).model_dump_json().replace('"version":1', '"version":1,"more":1'), "more: Extra inputs are not permitted"),
    ],
)
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "profile.json"
    file.write_text(content)
    with pytest.raises(InputError) as refused:
        ask(0.8, str(file))
    assert told in str(refused.value)
    assert "ramify calibrate" in refused.value.remedy


def test_a_file_that_is_not_there_and_one_that_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    with pytest.raises(InputError, match="cannot be read"):
        load_profile(file)
    with pytest.raises(InputError, match="not a file"):
        load_profile(tmp_path)
    file.write_text(profile(0.5).model_dump_json())
    assert load_profile(file) == profile(0.5)
    file.write_text(profile(0.25).model_dump_json())
    assert load_profile(file).threshold == 0.25


def test_the_digest_of_an_index_tells_what_it_holds(tmp_path: Path) -> None:
    def built(name: str, text: str) -> str:
        (tmp_path / name / "files").mkdir(parents=True)
        (tmp_path / name / "files" / "a.txt").write_text(text)
        Index.build([tmp_path / name / "files"], tmp_path / name / "index", WordEmbeddings())
        return digest_of(Index.open(tmp_path / name / "index", WordEmbeddings()))

    first = built("one", "The Seine runs through Paris.")
    assert first == built("two", "The Seine runs through Paris.") != built("three", "The Tiber runs through Rome.")
    assert digest_of(river()) == ""
