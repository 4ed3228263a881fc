"""Training material: which calls and pairs of a run it holds, in the forms that TRL documents."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from plugins.lab.tests.conftest import cache, data
from plugins.lab.tests.few_lines import make_line, read_rows, write_run
from plugins.lab.tests.small_data_set import make_model, make_options
from ramify.lab.plan import RunOptions
from ramify.lab.results import read_run
from ramify.lab.results.export import export_examples
from ramify.lab.run import execute
from ramify.prompts import DECOMPOSE
from ramify.tools.errors import InputError

__all__ = ["cache", "data"]

SPLIT = {"simple": False, "first": "Who built it?", "second": "Where was {1} born?"}


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid")
    role: Literal["system", "user", "assistant"]
    content: str


class Chat(BaseModel):
    """A conversational example of TRL's SFTTrainer."""

    messages: list[Message]


class Preference(BaseModel):
    """A conversational preference with an explicit prompt, of TRL's DPOTrainer."""

    model_config = ConfigDict(extra="forbid")
    prompt: list[Message]
    chosen: list[Message]
    rejected: list[Message]


def branch(path: str, question: str, status: str = "leaf", **more: Any) -> dict[str, Any]:
    return {"path": path, "question": question, "status": status, "answer": "Ada", **more}


def call(prompt: str, question: str, **reply: Any) -> dict[str, Any]:
    return {"prompt": prompt, "question": question, "messages": [{"role": "user", "content": f"{prompt}: {question}"}], "reply": reply}


def tor(number: int, variant: str = "", right: bool = True, **fields: Any) -> dict[str, Any]:
    known = {"question": "Where was its builder born?", "answer": "Ada" if right else "Graz", "em": float(right), "error": None}
    return make_line(number, "tor", variant, **known, confidence=0.8, **fields)


KEPT_AND_PRUNED = [
    branch("0", "Where was its builder born?", "inner"),
    branch("0.0", "When was it built?", "pruned"),
    branch("0.1", "Who paid?", "pruned"),
    branch("0.2", "Who built it?", answer="Edda Rask"),
    branch("0.3", "Where was Edda Rask born?", awaits="0.2"),
]


def export_run(folder: Path, form: Any, **options: Any) -> list[dict[str, Any]]:
    return export_examples([read_run(folder)], form, **options).examples


def test_chats_are_the_calls_of_right_trees_without_those_of_dropped_branches(tmp_path: Path) -> None:
    calls = [
        call("decompose", "Where was its builder born?", simple=False, first="When was it built?", second="Who paid?"),
        call("answer", "Who paid?", answer="Ada"),
        call("decompose", "Where was its builder born?", **SPLIT),
        call("answer", "Where was Edda Rask born?", answer="Ada"),
        call("answer", "Where was Edda Rask born?", answer="Ada"),
    ]
    folder = write_run(tmp_path / "run", tor(1, tree=KEPT_AND_PRUNED, calls=calls), tor(2, right=False, calls=calls))
    result = export_examples([read_run(folder)], "sft")
    chats = [Chat.model_validate(example) for example in result.examples]
    assert [json.loads(chat.messages[-1].content) for chat in chats] == [SPLIT, {"answer": "Ada"}]
    assert result.examples[0]["metadata"] == {"dataset": "hotpotqa", "id": "q0001", "strategy": "tor", "variant": "", "prompt": "decompose"}
    assert result.counts == {
        "right trees": 1,
        "trees": 2,
        "chat examples": 2,
        "calls of dropped branches left out": 2,
        "duplicates left out": 1,
    }


def test_a_kept_decomposition_is_preferred_to_a_pruned_one(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", tor(1, tree=KEPT_AND_PRUNED), tor(1, "seed=1", tree=KEPT_AND_PRUNED))
    pairs = [Preference.model_validate(example) for example in export_run(folder, "dpo")]
    assert len(pairs) == 1
    assert json.loads(pairs[0].chosen[0].content) == SPLIT
    assert json.loads(pairs[0].rejected[0].content) == {"simple": False, "first": "When was it built?", "second": "Who paid?"}
    slots = {"question": "Where was its builder born?", "dependent": True, "rejected": [], "kept": ""}
    assert [message.content for message in pairs[0].prompt] == [
        message.content for message in DECOMPOSE.with_options(False, 0).render(slots)
    ]


def test_pairs_are_found_across_trees_and_only_right_ones_are_preferred(tmp_path: Path) -> None:
    kept, pruned = [KEPT_AND_PRUNED[place] for place in (0, 3, 4)], KEPT_AND_PRUNED[:3]
    across = write_run(tmp_path / "across", tor(1, tree=kept), tor(1, "seed=1", right=False, tree=pruned))
    assert len(export_run(across, "dpo")) == 1
    with pytest.raises(InputError, match="both a decomposition"):
        export_run(write_run(tmp_path / "wrong", tor(1, tree=pruned), tor(1, "seed=1", right=False, tree=kept)), "dpo")


def test_a_right_answer_is_preferred_to_a_wrong_one_of_the_same_prompt(tmp_path: Path) -> None:
    def last(answer: str) -> list[dict[str, Any]]:
        return [call("finalize", "Where was its builder born?", answer=answer)]

    rows = [tor(1, calls=last("Ada")), tor(1, "seed=1", right=False, calls=last("Graz")), tor(2, right=False, calls=last("Graz"))]
    [pair] = [Preference.model_validate(example) for example in export_run(write_run(tmp_path / "run", *rows), "dpo")]
    assert [json.loads(side[0].content)["answer"] for side in (pair.chosen, pair.rejected)] == ["Ada", "Graz"]


def test_only_some_strategies_and_only_sure_trees(tmp_path: Path) -> None:
    calls = [call("answer", "Where was its builder born?", answer="Ada")]
    folder = write_run(
        tmp_path / "run",
        tor(1, calls=calls),
        make_line(1, "naive", em=1.0, error=None, confidence=0.2, calls=[call("answer", "Who?", answer="Ada")]),
    )
    assert len(export_run(folder, "sft")) == 2
    assert [example["metadata"]["strategy"] for example in export_run(folder, "sft", strategies=["naive"])] == ["naive"]
    assert [example["metadata"]["strategy"] for example in export_run(folder, "sft", min_confidence=0.5)] == ["tor"]
    with pytest.raises(InputError, match="of 2 answers with a gold, 0 are right"):
        export_run(folder, "sft", min_confidence=0.9)


def test_the_error_for_a_run_without_calls_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--calls"):
        export_run(write_run(tmp_path / "run", tor(1)), "sft")


@pytest.mark.parametrize("calls", ["none", [1], [{"prompt": "answer"}]])
def test_invalid_calls_are_rejected(tmp_path: Path, calls: Any) -> None:
    with pytest.raises(InputError, match="invalid recorded call"):
        export_run(write_run(tmp_path / "run", tor(1, calls=calls)), "sft")


def searched(calls: int) -> dict[str, Any]:
    return {"usage": {"llm_calls": calls, "retrievals": 2}}


def test_a_right_tree_is_preferred_to_a_wrong_one_of_the_same_question(tmp_path: Path) -> None:
    folder = write_run(
        tmp_path / "run",
        tor(1, tree=KEPT_AND_PRUNED, **searched(9)),
        make_line(1, "prune", em=0.0, error=None, answer="Graz", tree=[branch("0", "Where?")], **searched(3)),
        tor(2, right=False, tree=KEPT_AND_PRUNED, **searched(3)),
    )
    [pair] = export_run(folder, "trees")
    assert (pair["question"], pair["why"]) == ("Where was its builder born?", "right against wrong")
    assert pair["chosen"] == {"answer": "Ada", "calls": 9, "tree": KEPT_AND_PRUNED}
    assert (pair["rejected"]["answer"], pair["rejected"]["calls"]) == ("Graz", 3)
    assert [pair["metadata"][side]["strategy"] for side in ("chosen", "rejected")] == ["tor", "prune"]


@pytest.mark.parametrize(("calls", "pairs"), [((4, 6), 1), ((5, 6), 0), ((6, 6), 0), ((9, 2), 1)])
def test_of_two_right_trees_that_with_clearly_fewer_calls_is_preferred(tmp_path: Path, calls: tuple[int, int], pairs: int) -> None:
    rows = [tor(1, variant, tree=KEPT_AND_PRUNED, **searched(count)) for variant, count in zip(("", "seed=1"), calls, strict=True)]
    wrong = tor(2, right=False, tree=[], **searched(1)), tor(2, "seed=1", tree=KEPT_AND_PRUNED, **searched(1))
    made = [pair for pair in export_run(write_run(tmp_path / "run", *rows, *wrong), "trees") if "both right" in pair["why"]]
    assert [(pair["chosen"]["calls"], pair["rejected"]["calls"]) for pair in made] == [(min(calls), max(calls))] * pairs


def test_only_sure_trees_are_preferred_and_those_without_a_search_are_left_out(tmp_path: Path) -> None:
    unsearched = make_line(1, "closed-book", em=0.0, error=None, usage={"llm_calls": 1, "retrievals": 0})
    folder = write_run(tmp_path / "run", tor(1, tree=KEPT_AND_PRUNED, **searched(9)), unsearched)
    with pytest.raises(InputError, match="once right and once wrong"):
        export_run(folder, "trees")
    both = write_run(tmp_path / "both", tor(1, **searched(9)), tor(1, "seed=1", right=False, **searched(9)))
    assert len(export_run(both, "trees", min_confidence=0.5)) == 1
    with pytest.raises(InputError, match="0 are right and confident enough"):
        export_run(both, "trees", min_confidence=0.9)


def test_a_run_records_the_calls_as_they_were_sent(data: Path, tmp_path: Path) -> None:
    model = make_model()
    asked: RunOptions = make_options(data, tmp_path / "run", model, calls=True, limit=2)
    execute(asked)
    recorded = [recorded_call for row in read_rows(tmp_path / "run") for recorded_call in row.get("calls", [])]
    sent = [[str(message.content) for message in messages] for messages in model.heard]
    assert sorted([message["content"] for message in recorded_call["messages"]] for recorded_call in recorded) == sorted(sent)
    assert {recorded_call["reply"]["answer"] for recorded_call in recorded} <= {"Seine", "Tiber"}
    assert len(export_run(tmp_path / "run", "sft")) == 2
