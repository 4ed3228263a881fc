"""The original releases, on samples in their formats."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from plugins.lab.tests.load.sample_sets import SAMPLES, read_documents
from ramify.lab.load import load_dataset
from ramify.lab.metrics import contained_facts, retrieval_scores

DISTRACTOR = SAMPLES / "hotpotqa" / "hotpot_dev_distractor_v1.json"


def test_hotpotqa_with_distractors(tmp_path: Path) -> None:
    hotpot = load_dataset(DISTRACTOR, tmp_path)
    texts = read_documents(hotpot)
    bridge, comparison = hotpot.questions
    assert (hotpot.name, hotpot.hits_by, len(texts)) == ("hotpot_dev_distractor_v1", "document", 5)
    assert (bridge.id, bridge.answer, bridge.type, bridge.metadata) == ("5aaa0001", "Ebbing", "bridge", {"level": "medium"})
    assert [texts[document]["title"] for document in bridge.gold_documents] == ["River Arl", "Lake Morrow"]
    assert texts[bridge.gold_documents[0]]["text"] == "The Arl is a river of Westmark. It rises on Mount Tarn and flows into Lake Morrow."
    assert bridge.gold_facts == ("It rises on Mount Tarn and flows into Lake Morrow.", "The town of Ebbing lies on its shore.")
    assert comparison.gold_facts == ("The Arl is a river of Westmark.", "The Osk is a river of Eastmark."), "there is no sentence 7"
    assert hotpot.caveats[0].startswith("The corpus is the 5 paragraphs that came with the questions")
    assert hotpot.documents[0].is_relative_to(tmp_path)


def test_hotpotqa_full_wiki_finds_gold_that_came_with_another_question(tmp_path: Path) -> None:
    hotpot = load_dataset(DISTRACTOR.with_name("hotpot_dev_fullwiki_v1.json"), tmp_path)
    texts = read_documents(hotpot)
    titles = [[texts.get(document, {"title": None})["title"] for document in question.gold_documents] for question in hotpot.questions]
    assert titles == [["River Arl", "Lake Morrow"], ["River Arl", "River Osk"], ["Mount Tarn", None]]
    assert "Gold paragraphs that came with no question: 1 of 5" in hotpot.caveats[1]


def test_2wikimultihopqa_with_the_other_names_of_answers(tmp_path: Path) -> None:
    wiki = load_dataset(SAMPLES / "2wikimultihopqa", tmp_path)
    compositional, comparison = wiki.questions
    assert wiki.name == "2wikimultihopqa-dev"
    assert compositional.golds == ("Westmark", "Kingdom of Westmark", "Westmarker")
    assert compositional.metadata["evidences"][0] == ["The Long Ferry", "director", "Ada Venn"]
    assert comparison.golds == ("The Paper Mill",)
    assert len(read_documents(wiki)) == 4


@pytest.mark.parametrize("sample", [DISTRACTOR, SAMPLES / "2wikimultihopqa" / "dev.json"], ids=["hotpotqa", "2wikimultihopqa"])
@pytest.mark.parametrize("shape", ["columns", "content", "strings", "lines"])
def test_later_shapes_of_the_same_release_read_the_same(sample: Path, shape: str, tmp_path: Path) -> None:
    records = [reshaped(record, shape) for record in json.loads(sample.read_text(encoding="utf-8"))]
    file = tmp_path / "other" / sample.name
    file.parent.mkdir()
    file.write_text("\n".join(json.dumps(record) for record in records) if shape == "lines" else json.dumps(records), encoding="utf-8")
    if (aliases := sample.with_name("id_aliases.json")).exists():
        shutil.copy(aliases, file.parent)
    assert load_dataset(file, tmp_path) == load_dataset(sample, tmp_path)


def reshaped(record: dict[str, Any], shape: str) -> dict[str, Any]:
    titles, sentences = map(list, zip(*record["context"], strict=True))
    gold, numbers = map(list, zip(*record["supporting_facts"], strict=True))
    columns = {"context": {"title": titles, "sentences": sentences}, "supporting_facts": {"title": gold, "sent_id": numbers}}
    changes: dict[str, dict[str, Any]] = {
        "columns": {**columns, "id": record["_id"], "_id": None},
        "content": {**columns, "context": {"title": titles, "content": sentences}, "id": record["_id"], "_id": None},
        "strings": {name: json.dumps(record[name]) for name in columns},
        "lines": {},
    }
    return {name: value for name, value in {**record, **changes[shape]}.items() if value is not None}


def test_musique_distinguishes_paragraphs_with_the_same_title(tmp_path: Path) -> None:
    musique = load_dataset(SAMPLES / "musique" / "musique_ans_v1.0_dev.jsonl", tmp_path)
    texts = read_documents(musique)
    two, three = musique.questions
    assert (musique.name, len(texts)) == ("musique_ans_v1.0_dev", 6)
    assert (two.id, two.type, two.golds) == ("2hop__100_200", "2hop", ("Ebbing", "Ebbing, Westmark"))
    assert [step["answer"] for step in two.metadata["decomposition"]] == ["Lake Morrow", "Ebbing"]
    assert [texts[document]["title"] for document in three.gold_documents] == ["River Osk", "River Osk", "Ada Venn"]


def test_unanswerable_duplicates_of_musique_are_left_out(tmp_path: Path) -> None:
    full = load_dataset(SAMPLES / "musique" / "musique_full_v1.0_dev.jsonl", tmp_path)
    assert [question.id for question in full.questions] == ["2hop__100_200", "3hop1__300_400_500"]
    assert "Questions marked unanswerable are left out (1)" in full.caveats[1]
    assert len(read_documents(full)) == 7, "their paragraphs stay, to be told from the right ones"


def test_multihop_rag_counts_by_facts(tmp_path: Path) -> None:
    news = load_dataset(SAMPLES / "multihop_rag", tmp_path)
    texts = read_documents(news)
    inference, temporal, null = news.questions
    assert (news.name, news.hits_by, len(texts)) == ("multihop_rag", "fact", 3)
    assert (inference.id, inference.type, inference.answer) == ("mhr-q0001", "inference_query", "Karl Brandt")
    assert null.unanswerable
    assert not null.supporting
    assert not temporal.unanswerable
    article = texts[inference.gold_documents[0]]
    assert (article["source"], article["published_at"]) == ("The Morrow Post", "2023-10-02T08:00:00+00:00")
    facts_by_document = [contained_facts(texts[document]["text"], inference.gold_facts) for document in reversed(inference.gold_documents)]
    assert [len(facts) for facts in facts_by_document] == [2, 1], "a fact is found across a line's end"
    assert retrieval_scores(facts_by_document, inference.gold_facts)["recall@5"] == 1


def test_ids_of_documents_depend_on_nothing_but_the_documents(tmp_path: Path) -> None:
    records = json.loads(DISTRACTOR.read_text(encoding="utf-8"))
    file = tmp_path / "turned" / DISTRACTOR.name
    file.parent.mkdir()
    file.write_text(json.dumps(records[::-1]), encoding="utf-8")
    before, turned = load_dataset(DISTRACTOR, tmp_path), load_dataset(file, tmp_path)
    assert {question.id: question for question in turned.questions} == {question.id: question for question in before.questions}
    assert read_documents(turned) == read_documents(before)
    assert turned.documents != before.documents, "another order is another file, which does not take the place of the first"
