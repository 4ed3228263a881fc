"""Training material from a small folder of each kind: right answers, no answer where there is none, no text on two sides."""

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from plugins.embedded.tests.training.samples import write_all
from plugins.embedded.training import technical
from plugins.embedded.training.example import Example
from plugins.embedded.training.material import load_material, part_of_example
from plugins.embedded.training.source import Document, WordIndex, load_data_folder
from plugins.embedded.training.technical import document_group
from ramify.tools.english import fold

ROOT = Path(__file__).parents[4]
ASKED = {
    "When was the Ostrel Bridge opened?": "1931",
    "How long is the bridge across the river?": "240 metres",
    "What causes loom fever?": "wet wool",
    "Who directed Salt Road?": "Odile Marchetti",
    "Who made the film Salt Road?": "Odile Marchetti",
    "When was Odile Marchetti born?": "1 May 1930",
    "Who directed Paper Harbour?": "Tomas Brandl",
    "In which town was Tomas Brandl born?": "Bremen",
    "In which town was the director of Glass Ferry born?": "Szeged",
    "How deep is lake ss?": "48 metres",
    "Who closed the yard of nq?": "Ada Venn",
}
"""Questions of the samples, as they are or with an earlier answer filled in, or in one of the wordings of their relation."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("data") / "train")


@pytest.fixture(scope="module")
def made(data: Path) -> list[Example]:
    return list(load_material(data))


def said(example: Example) -> set[str]:
    return {example.context[start:end] for start, end in example.spans}


def example(group: str, question: str = "Who?", source: str = "squad") -> Example:
    return Example(source, group, question, "Nobody.", "none")


def test_every_folder_gives_material_of_every_kind(made: list[Example]) -> None:
    sources = {example.source for example in made}
    assert sources >= {"squad", "squad_other", "papers", "hops", "hops_step", "hops_both", "linked", "whole", "relation", "claim", "cloze"}
    assert sources >= {"boolq_dev", "condaqa_dev_test", "strategyqa", "pubmedqa_labelled", "agreement", "relation_other", "relation_untold"}
    assert sources >= {"squadshifts", "squadshifts_other", "fairytaleqa", "nq_oracle_dev", "qed_dev", "tatqa_text", "boolq_train"}
    assert sources >= {f"{name}{other}" for name in ("techdocs_faq", "selqa_ass", "squad_du_test") for other in ("", "_other")}
    assert {example.kind for example in made} == {"span", "yes", "no", "none", ""}


@pytest.mark.parametrize("among", [{"squad"}, {"hops_step", "cloze_other"}, {"nowhere"}])
def test_some_sources_are_made_as_they_are_among_all(data: Path, made: list[Example], among: set[str]) -> None:
    assert list(load_material(data, among)) == [example for example in made if example.source in among]


def test_a_context_bears_on_what_it_answers_and_another_does_not(made: list[Example]) -> None:
    for example in made:
        other = example.source.endswith("_other")
        assert example.bears is not other if other or example.kind in ("span", "yes", "no") else example.bears in (None, True), example
    assert all(example.bears is not None for example in made if not example.kind)


def test_of_a_long_passage_what_is_around_the_answer_is_read(made: list[Example]) -> None:
    (closed,) = [example for example in made if example.question == "Who closed the yard of fa?" and example.kind == "span"]
    assert closed.context.startswith("The Lake: ")
    assert len(closed.context) < 1000


def test_questions_that_need_context_are_skipped(made: list[Example]) -> None:
    assert not [example for example in made if example.question == "Why does it?"]


def test_only_a_span_has_places_and_they_lie_in_its_context(made: list[Example]) -> None:
    for example in made:
        assert bool(example.spans) == (example.kind == "span"), example
        assert all(0 <= start < end <= len(example.context) for start, end in example.spans), example
        assert all(answer == answer.strip() for answer in said(example)), example


@pytest.mark.parametrize(("question", "answer"), ASKED.items())
def test_a_question_s_span_says_its_answer(made: list[Example], question: str, answer: str) -> None:
    matching = [example for example in made if example.question == question and example.kind == "span"]
    assert matching
    assert all(said(example) == {answer} for example in matching)


def test_an_answer_that_stands_twice_is_meant_where_the_question_s_words_are(made: list[Example]) -> None:
    (opened,) = [example for example in made if example.question == "When was the Ostrel Bridge opened?" and example.kind == "span"]
    assert opened.context[: opened.spans[0][0]].endswith("was opened in ")


def test_unanswerable_questions_have_kind_none(made: list[Example]) -> None:
    assert [example.kind for example in made if example.question == "Who paid for the bridge?"] == ["none"]
    assert {
        example.kind for example in made if example.group in {"co-ferries", "pu-ferries"} and example.question == "Are ferries common?"
    } == {"none"}


def test_a_yes_or_no_of_the_data_stays_what_it_is(made: list[Example]) -> None:
    kinds = {(example.source, example.question): example.kind for example in made if not example.source.endswith("_other")}
    assert [kinds["condaqa_dev_test", f"Are {name} common?"] for name in ("otters", "looms", "ferries")] == ["yes", "no", "none"]
    both = [example for example in made if example.question == "Were Salt Road and Glass Ferry made by one person?"]
    assert [example.kind for example in both] == ["no", "no"]
    assert both[0].context != both[1].context


def test_a_similar_passage_does_not_contain_the_answer(made: list[Example]) -> None:
    others = [example for example in made if example.source.endswith("_other")]
    assert {example.kind for example in others} == {"none", ""}
    right = {example.question: said(example) for example in made if example.kind == "span"}
    comparable = [other for other in others if other.question in right and other.source != "relation_other"]
    assert len(comparable) > 20
    for other in comparable:
        assert not any(fold(answer) in fold(other.context) for answer in right[other.question]), other


def test_a_relation_is_asked_of_a_passage_that_does_not_speak_of_its_subject(made: list[Example]) -> None:
    right = {example.question: example.context.partition(":")[0] for example in made if example.source == "relation"}
    others = [example for example in made if example.source == "relation_other"]
    assert others
    assert all(right[other.question] not in other.context for other in others)


def test_a_document_is_on_one_side_whatever_is_asked_of_it() -> None:
    assert part_of_example(example("a")) == part_of_example(example("a", "When?", "cloze"))
    sides = Counter(part_of_example(example(str(number))) for number in range(5000))
    assert 400 < sides["measure"] < 600
    assert 175 < sides["choose"] < 325


def test_an_example_is_on_the_side_of_the_document_that_it_reads(data: Path, made: list[Example]) -> None:
    documents = {key: document for folder in data.iterdir() for key, document in load_data_folder(folder).documents.items()}
    documents |= {
        document_group(document): document for name in technical.FOLDERS for document in load_data_folder(data / name).documents.values()
    }
    for sample in made:
        if sample.source == "records":  # made without a document
            continue
        document = documents[sample.group]
        begins = (
            sample.context.startswith(f"{document.title}: {document.text}")
            or sample.context.removeprefix(f"{document.title}: ") in document.text
        )
        turned = sample.source in {"hops_both", "whole"} and sample.context.endswith(document.text)
        assert begins or turned, sample


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_material_is_the_same_in_every_process(data: Path, made: list[Example], seed: str) -> None:
    code = "from pathlib import Path; "
    code += f"from plugins.embedded.training.material import load_material; print([*load_material(Path({str(data)!r}))])"
    environment = os.environ | {"PYTHONHASHSEED": seed}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(made)


def test_a_similar_passage_shares_words_without_the_answer() -> None:
    texts = {"right": "A tall bridge of iron, by Okonjo.", "near": "A tall bridge of stone, by Varga.", "far": "A loom weaves cloth."}
    documents = WordIndex(Document(key, None, text) for key, text in texts.items())
    question, choose = "Who built the tall bridge of iron?", random.Random(0)
    assert [document.id for document in documents.nearest(question, 2)] == ["right", "near"]
    chosen = documents.of(question, ["Okonjo"], set(), choose)
    assert chosen is not None
    assert chosen.id == "near"
    assert documents.of(question, [], {"right", "near"}, choose) is None
    assert documents.of(question, ["Okonjo", "varga"], set(), choose) is None
