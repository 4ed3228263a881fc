"""Files that are not what a release holds: one clear line, and nothing written."""

import json
from pathlib import Path

import pytest

from plugins.embedded.tests.training.releases import BOOLQ, COVID, HIGH, HOTPOT, MUSIQUE, PUBMED, STRATEGY, WIKI, squad
from plugins.embedded.training.convert.__main__ import convert
from ramify.tools.errors import InputError

NOWHERE = [{**MUSIQUE["question_decomposition"][0], "paragraph_support_idx": 7}]
BAD = {
    "no JSON": ("squad_dev", "{", "'PATH' is not JSON"),
    "a list": ("squad_dev", [BOOLQ], "'PATH' is [{'question'"),
    "another set": ("boolq_dev", [STRATEGY], "record 1 of 'PATH' has passage None — give the file as released: passage is text"),
    "a label as text": ("boolq_dev", [{**BOOLQ, "answer": "yes"}], "has answer 'yes' — give the file as released: answer is true or false"),
    "no start": (
        "squad_dev",
        squad("1.1", {**HIGH, "answers": [{"text": "812"}]}),
        "answers 1 of qas 1 of paragraphs 1 of data 1 of 'PATH' has",
    ),
    "a title alone": ("squad_dev", {"data": [{"title": "A"}]}, "data 1 of 'PATH' has paragraphs None"),
    "no questions": ("squad_dev", squad("1.1"), "there are no questions in 'PATH'"),
    "no answer": ("covidqa_200423", json.loads(json.dumps(COVID).replace('"answers": [{', '"answers": [], "x": [{')), "has answers []"),
    "no evidences": ("2wikimultihopqa_train", [HOTPOT], "record 1 of 'PATH' has evidences None"),
    "half a triple": ("2wikimultihopqa_train", [{**WIKI, "evidences": [["A", "director"]]}], "has evidences [['A', 'director']]"),
    "the test half": ("hotpotqa_train", [{**HOTPOT, "answer": None}], "record 1 of 'PATH' has no gold answer"),
    "no type": ("hotpotqa_train", [{**HOTPOT, "type": None}], "record 1 of 'PATH' has type None"),
    "a hop to nowhere": (
        "musique_train",
        [{**MUSIQUE, "question_decomposition": NOWHERE}],
        "question_decomposition 1 of record 1 of 'PATH' has paragraph_support_idx 7",
    ),
    "no abstract": ("pubmedqa_labelled", {"1": {**PUBMED, "CONTEXTS": "text"}}, "'1' of 'PATH' has CONTEXTS 'text'"),
    "no record": ("pubmedqa_labelled", {"1": 2}, "'1' of 'PATH' is 2, not a record"),
    "one id twice": ("strategyqa", [STRATEGY, {**STRATEGY, "answer": True}], "record 2 of 'PATH' has the id 'sqa-ab12', as another"),
}


@pytest.mark.parametrize(("name", "content", "message"), BAD.values(), ids=BAD)
def test_a_different_file_is_rejected_by_name(name: str, content: object, message: str, tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        convert(name, [file], tmp_path / "out")
    assert message in str(caught.value).replace(str(file), "PATH")
    assert " — " in str(caught.value), "it does not say what to do"
    assert not (tmp_path / "out").exists(), "a folder was begun"
