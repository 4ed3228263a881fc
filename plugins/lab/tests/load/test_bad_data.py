"""Data that cannot be used, one's own or a release that is damaged: one clear line that quotes what is wrong and says what to do."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.load.sample_sets import SAMPLES, load_error
from ramify.lab.load import load_dataset
from ramify.tools.errors import InputError

ONE = {"id": "1", "question": "Where?", "answer": "Here"}
DOCUMENT = {"id": "d", "title": "D", "text": "Something."}
RELEASED = {
    "hotpotqa/hotpot_dev_distractor_v1.json": [
        ({"answer": None}, "record 1 of 'PATH' has no gold answer — give it one"),
        ({"context": "{"}, "record 1 of 'PATH' has context '{' — give the file as released: context is a list of [title, [sentence, …]]"),
        ({"context": [["A", "B", "C"]]}, "record 1 of 'PATH' has context [['A', 'B', 'C']]"),
        ({"context": [["A", "B"]]}, "record 1 of 'PATH' has context [['A', 'B']]"),
        (
            {"supporting_facts": 3},
            "has supporting_facts 3 — give the file as released: supporting_facts is a list of [title, sentence number]",
        ),
        ({"_id": "5aaa0002"}, "two questions have the id '5aaa0002'"),
        ({"question": ""}, "has question ''"),
    ],
    "musique/musique_ans_v1.0_dev.jsonl": [
        ({"paragraphs": ["text"]}, "line 1 of 'PATH' has paragraphs ['text'] — give the file as released"),
        ({"answer": ""}, "line 1 of 'PATH' has no gold answer"),
        ({"id": "3hop1__300_400_500"}, "two questions have the id '3hop1__300_400_500'"),
    ],
    "multihop_rag/MultiHopRAG.json": [
        ({"query": " "}, "record 1 of 'PATH' has query ' '"),
        ({"evidence_list": [{"title": "A"}]}, "has evidence_list [{'title': 'A'}] — give the file as released"),
        (
            {"evidence_list": [{"title": "No such", "fact": "f"}]},
            "record 1 of 'PATH' rests on 'No such', which is not in the corpus beside it",
        ),
    ],
}


def write_folder(folder: Path, questions: Any, corpus: Any = (DOCUMENT,)) -> Path:
    """Write a folder of one's own; a text is written as it is."""
    for name, content in (("questions", questions), ("corpus", corpus)):
        text = content if isinstance(content, str) else "".join(json.dumps(record) + "\n" for record in content)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ("", "'PATH/questions.jsonl' is empty"),
        ("\n \n", "'PATH/questions.jsonl' is empty"),
        ("[]", "'PATH/questions.jsonl' holds no records"),
        (f'{json.dumps(ONE)}\n{{"id": ', "line 2 of 'PATH/questions.jsonl' is not JSON"),
        ("[1, 2", "'PATH/questions.jsonl' is not JSON"),
        ("3", "line 1 of 'PATH/questions.jsonl' is 3, not a record"),
        ("[" * 100_000, "is not JSON"),
        ("version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer, not the data — fetch the data with `git lfs pull`"),
        ([ONE, {**ONE, "id": 1}], "two questions have the id '1' (line 1 of 'PATH/questions.jsonl', line 2 of 'PATH/questions.jsonl')"),
        ([{**ONE, "question": "  "}], "line 1 of 'PATH/questions.jsonl' has question '  ' — give every question 'question' as text"),
        ([{**ONE, "question": None}], "has question None"),
        ([{**ONE, "id": ""}], "has id ''"),
        ([{**ONE, "answer": ""}], "line 1 of 'PATH/questions.jsonl' has no gold answer — give it one"),
        ([{**ONE, "answer": ["Here"]}], "has answer ['Here']"),
        ([{**ONE, "answer_aliases": "There"}], "has answer_aliases 'There' — give 'answer_aliases' as a list"),
        ([{**ONE, "metadata": "two hops"}], "has metadata 'two hops' — give it as an object"),
        ([{**ONE, "supporting": ["d"]}], "has supporting ['d'] — give it as a list of {doc_id, title, fact or facts}"),
        ([{**ONE, "supporting": [{"doc_id": "e"}]}], "names the gold document 'e', which is not in 'PATH/corpus.jsonl' — add the document"),
        ([{"q": "Where?", "a": "Here"}], "is not in a known format: its records have the fields a, q — give records with id, question"),
    ],
)
def test_questions_that_cannot_be_used(questions: Any, said: str, tmp_path: Path) -> None:
    assert said in load_error(write_folder(tmp_path, questions))


@pytest.mark.parametrize(
    ("corpus", "said"),
    [
        ("", "nothing readable in 'PATH/corpus.jsonl' (corpus.jsonl: empty)"),
        ([DOCUMENT, DOCUMENT], "two documents of 'PATH/corpus.jsonl' have the id 'd'"),
        ([{**DOCUMENT, "id": "d~2"}], "has the id 'd~2' — give it one that does not end in ~NUMBER"),
        (f"{json.dumps(DOCUMENT)}\nnonsense\n", "corpus.jsonl#2 of 'PATH/corpus.jsonl' cannot be read (not a JSON record)"),
    ],
)
def test_documents_that_cannot_be_used(corpus: Any, said: str, tmp_path: Path) -> None:
    assert said in load_error(write_folder(tmp_path, [ONE], corpus))


def test_a_folder_without_what_is_needed(tmp_path: Path) -> None:
    assert "there is no file or folder 'PATH' — check the path" in load_error(tmp_path / "nowhere")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "there are no questions in 'PATH' — give a folder with questions.jsonl or questions.jsonl.gz" in load_error(empty)
    write_folder(empty, [ONE])
    (empty / "corpus.jsonl").unlink()
    assert "there is no corpus beside 'PATH/questions.jsonl' — put corpus.jsonl or corpus.jsonl.gz there" in load_error(empty)
    (empty / "questions.jsonl.gz").write_bytes(b"\x1f\x8b nothing")
    (empty / "questions.jsonl").unlink()
    assert "'PATH/questions.jsonl.gz' cannot be read" in load_error(empty)
    assert "holds 2 files of records (hotpot_dev_distractor_v1.json, hotpot_dev_fullwiki_v1.json) — name one of them" in load_error(
        SAMPLES / "hotpotqa"
    )


def test_binary_is_no_data_set(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"\xff\xfe\x00\x01\x80")
    assert "'PATH' cannot be read" in load_error(file)


def test_questions_without_answers_serve_for_retrieval_alone(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [{**ONE, "answer": "", "supporting": [{"doc_id": "d"}]}])
    assert "has no gold answer" in load_error(folder)
    [question] = load_dataset(folder, tmp_path, retrieval_only=True).questions
    assert (question.answer, question.unanswerable, question.gold_documents) == ("", False, ("d",))
    assert "has no gold answer" in load_error(write_folder(tmp_path, [{**ONE, "answer": None}]), retrieval_only=True)


def test_a_lone_surrogate_is_replaced_as_in_the_index(tmp_path: Path) -> None:
    document = '{"id": "d\\ud800", "text": "Something \\udfff."}\n'
    question = '{"id": "1", "question": "Where\\ud83d?", "answer": "Here", "supporting": [{"doc_id": "d\\ud800"}]}\n'
    dataset = load_dataset(write_folder(tmp_path, question, document), tmp_path)
    assert dataset.questions[0].question == "Where??"
    assert dataset.questions[0].gold_documents == ("d?",)


def test_a_folder_to_work_in_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "work").write_text("a file", encoding="utf-8")
    with pytest.raises(InputError, match=r"work.* cannot be created .* — name a folder"):
        load_dataset(SAMPLES / "multihop_rag", tmp_path / "work")


@pytest.mark.parametrize(("sample", "change", "said"), [(name, *case) for name, cases in RELEASED.items() for case in cases])
def test_a_release_that_is_damaged(sample: str, change: dict[str, Any], said: str, tmp_path: Path) -> None:
    shutil.copytree((SAMPLES / sample).parent, tmp_path / "release")
    file = tmp_path / "release" / Path(sample).name
    text = file.read_text(encoding="utf-8")
    records = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    records[0] |= change
    file.write_text(json.dumps(records) if text.startswith("[") else "\n".join(map(json.dumps, records)), encoding="utf-8")
    assert said in load_error(file)


def test_multihop_rag_needs_its_articles(tmp_path: Path) -> None:
    file = Path(shutil.copy(SAMPLES / "multihop_rag" / "MultiHopRAG.json", tmp_path))
    assert "there is no corpus beside 'PATH' — put the corpus.json of the same release there" in load_error(file)


def test_musique_with_nothing_to_be_answered(tmp_path: Path) -> None:
    lines = (SAMPLES / "musique" / "musique_full_v1.0_dev.jsonl").read_text(encoding="utf-8").splitlines()
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(json.dumps({**json.loads(line), "answerable": False}) for line in lines), encoding="utf-8")
    assert "marks every question as unanswerable" in load_error(file)
