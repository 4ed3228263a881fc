"""Public releases become data folders that training reads."""

import gzip
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from plugins.embedded.tests.training.releases import ARL, FILES, HOTPOT, PAPER, released
from plugins.embedded.training.convert.__main__ import RELEASES, convert, main
from plugins.embedded.training.example import Example
from plugins.embedded.training.material import FOLDERS
from plugins.embedded.training.public_sets import (
    linked_hop_examples,
    paper_examples,
    whole_question_examples,
    wiki_hop_examples,
    yes_no_examples,
)
from plugins.embedded.training.public_sets import squad_span_examples as squad_examples
from plugins.embedded.training.source import Folder, load_data_folder
from ramify.tools.errors import InputError

ROOT = Path(__file__).parents[4]


def converted(name: str, home: Path) -> Folder:
    convert(name, released(name, home / "release"), home / name)
    return load_data_folder(home / name)


def said(examples: Iterator[Example]) -> set[tuple[str, str]]:
    """Give questions with what an example answers: its first span, or yes, no, none."""
    return {(example.question, example.context[slice(*example.spans[0])] if example.spans else example.kind) for example in examples}


MATERIAL: dict[str, tuple[Callable[[Folder], Iterator[Example]], set[tuple[str, str]]]] = {
    "squad_dev": (
        squad_examples,
        {("Where does the Arl rise?", "Mount Tarn"), ("How high is Mount Tarn?", "812 metres"), ("Where does the Arl end?", "none")},
    ),
    "covidqa_200423": (paper_examples, {("What causes it?", "Spores cause the fever.")}),
    "boolq_dev": (yes_no_examples, {("Is the arl in westmark?", "yes"), ("Is the arl dry?", "no")}),
    "condaqa_dev_test": (yes_no_examples, {("Does the Osk freeze?", "none"), ("Does the Arl freeze?", "yes")}),
    "strategyqa": (yes_no_examples, {("Could a ship sail from the Arl to Osk?", "no"), ("Could a ship sail from the Arl to Osk?", "yes")}),
    "pubmedqa_labelled": (yes_no_examples, {("Is fever caused by spores?", "none"), ("Is fever caused by spores?", "no")}),
    "2wikimultihopqa_train": (
        partial(wiki_hop_examples, wordings=99),
        {("Which person made The Long Ferry?", "Ada Venn"), ("Ada Venn >> date of birth", "3 May 1920")},
    ),
    "hotpotqa_train": (whole_question_examples, {(HOTPOT["question"], "3 May 1920"), (HOTPOT["question"], "no")}),
    "musique_train": (linked_hop_examples, {("Who directed The Long Ferry?", "Ada Venn"), ("When was Ada Venn born?", "3 May 1920")}),
}


@pytest.mark.parametrize("name", RELEASES)
def test_a_converted_release_gives_training_its_examples(name: str, tmp_path: Path) -> None:
    make, wanted = MATERIAL[name]
    assert wanted <= said(make(converted(name, tmp_path)))


def test_each_folder_that_training_reads_can_be_made_or_is_named_as_one_that_cannot() -> None:
    assert sorted(RELEASES) == sorted(FILES)
    assert set(RELEASES) <= set(FOLDERS)
    section = (
        (ROOT / "plugins/embedded/training/README.md").read_text(encoding="utf-8").partition("cannot make yet")[2].partition("\n## ")[0]
    )
    assert [name for name in FOLDERS if name not in RELEASES and f"`{name}`" not in section] == []


@pytest.mark.parametrize("name", RELEASES)
def test_the_same_release_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    files = released(name, tmp_path / "release")
    for folder in ("first", "first", "second"):
        convert(name, files, tmp_path / folder)
    written = [{file.name: file.read_bytes() for file in (tmp_path / folder).iterdir()} for folder in ("first", "second")]
    assert written[0] == written[1]
    assert set(written[0]) == {"corpus.jsonl.gz", "questions.jsonl.gz"}, "nothing else may be left"
    assert all(content[4:8] == bytes(4) for content in written[0].values()), "the time is in the file"


def test_the_versions_of_squad_are_merged_by_question(tmp_path: Path) -> None:
    rises, high, ends = converted("squad_dev", tmp_path).questions
    assert (rises["answer"], rises["answer_aliases"]) == ("Mount Tarn", ["on Mount Tarn", "Tarn"])
    assert [answer["start"] for answer in rises["answers"]] == [ARL.rindex("Mount"), ARL.index("on Mount"), ARL.rindex("Tarn")]
    assert [question["metadata"]["versions"] for question in (rises, high, ends)] == [["1.1", "2.0"], ["1.1"], ["2.0"]]
    assert (ends["type"], ends["answer"], ends["answers"]) == ("unanswerable", "", [])


def test_an_answer_is_looked_for_where_its_place_is_wrong(tmp_path: Path) -> None:
    (question,) = converted("covidqa_200423", tmp_path).questions
    assert question["answers"] == [{"text": "Spores cause the fever.", "start": PAPER.index("Spores cause")}]


def test_ids_are_those_that_the_shipped_weights_were_trained_with(tmp_path: Path) -> None:
    """An id deals its document to training or to measuring, so none of them may change."""
    assert {next(iter(converted(name, tmp_path / name).documents)) for name in RELEASES} == {
        *("squad-f655398d0f74", "covidqa-7c0e546d6f27", "boolq-f655398d0f74", "conda-4fd849009d25", "sqa-ab12-0", "pmq-21645374"),
        *("2wk-1ba55b2dd48b", "hpq-1ba55b2dd48b", "msq-1ba55b2dd48b"),
    }


def test_signs_and_spaces_do_not_make_another_document(tmp_path: Path) -> None:
    title, sentences = HOTPOT["context"][0]
    other = {**HOTPOT, "_id": "5aaa0003", "context": [[title.upper(), [sentence.replace(" ", "  ") for sentence in sentences]]]}
    file = tmp_path / "hotpot.json"
    file.write_text(json.dumps([HOTPOT, {**other, "supporting_facts": [[title.upper(), 0]]}]), encoding="utf-8")
    convert("hotpotqa_train", [file], tmp_path / "out")
    folder = load_data_folder(tmp_path / "out")
    assert len(folder.documents) == 3
    assert folder.questions[1]["supporting"][0]["doc_id"] == folder.questions[0]["supporting"][0]["doc_id"]


def test_what_cannot_be_written_leaves_no_folder_that_seems_whole(tmp_path: Path) -> None:
    files = released("boolq_dev", tmp_path / "release")
    convert("boolq_dev", files, tmp_path / "out")
    (tmp_path / "out" / "corpus.jsonl.gz").unlink()
    (tmp_path / "out" / "corpus.jsonl.gz").mkdir()
    with pytest.raises(InputError, match="cannot write"):
        convert("boolq_dev", files, tmp_path / "out")
    assert not (tmp_path / "out" / "questions.jsonl.gz").exists()


def test_the_command_reports_its_output_or_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = released("strategyqa", tmp_path / "release")
    zipped = tmp_path / "train.json.gz"
    zipped.write_bytes(gzip.compress(files[0].read_bytes()))
    main(["strategyqa", str(zipped), str(files[1]), "--out", str(tmp_path / "out")])
    assert capsys.readouterr().out == f"{tmp_path / 'out'}: 4 documents, 2 questions\n"
    with pytest.raises(SystemExit, match=r"^error: .*nowhere.* cannot be read .* — give a file"):
        main(["strategyqa", str(tmp_path / "nowhere"), "--out", str(tmp_path / "other")])
