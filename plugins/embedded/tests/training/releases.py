"""Small releases, each in the format of the original, about places that there are not."""

import json
from pathlib import Path
from typing import Any

ARL = "The Arl is a river of Westmark. It rises on Mount Tarn, and Mount Tarn is 812 metres high."
FERRY = ["The Long Ferry is a 1961 film directed by Ada Venn.", " It was shot on the Arl."]
VENN = ["Ada Venn (born 3 May 1920) was a Westmark director."]
PAPER = "Spores and fever\n\nAbstract: Fever follows. Text: Spores cause the fever. In adults the fever is mild."


def squad(version: str, *asked: dict[str, Any]) -> dict[str, Any]:
    return {"version": version, "data": [{"title": "River_Arl", "paragraphs": [{"context": ARL, "qas": [*asked]}]}]}


def asked(identity: str | int, question: str, *answers: tuple[str, int], **more: Any) -> dict[str, Any]:
    return {"id": identity, "question": question, "answers": [{"text": text, "answer_start": start} for text, start in answers], **more}


RISES = asked("5a01", "Where does the Arl rise?", ("Mount Tarn", ARL.rindex("Mount")), ("on Mount Tarn", ARL.index("on Mount")))
"""The first answer is the second mention."""
HIGH = asked("5a02", "How high is Mount Tarn?", ("812 metres", ARL.index("812")))
CONTEXT = [["The Long Ferry", FERRY], ["Ada Venn", VENN], ["Osk", ["The Osk is a river of Eastmark."]]]
HOTPOT: dict[str, Any] = {
    "_id": "5aaa0001",
    "question": "When was the director of The Long Ferry born?",
    "answer": "3 May 1920",
    "type": "bridge",
    "level": "easy",
    "supporting_facts": [["The Long Ferry", 0], ["Ada Venn", 0]],
    "context": CONTEXT,
}
WIKI = {
    **HOTPOT,
    "type": "compositional",
    "evidences": [["The Long Ferry", "director", "Ada Venn"], ["Ada Venn", "date of birth", "3 May 1920"]],
    "answer_id": None,
    "qa_pairs": [{"question": "Which person made The Long Ferry?", "answer": "Ada Venn made The Long Ferry."}],
}
MUSIQUE: dict[str, Any] = {
    "id": "2hop__11_22",
    "question": "When was the director of The Long Ferry born?",
    "answer": "3 May 1920",
    "answer_aliases": ["May 1920"],
    "answerable": True,
    "paragraphs": [
        {"idx": number, "title": title, "paragraph_text": "".join(text), "is_supporting": title != "Osk"}
        for number, (title, text) in enumerate(CONTEXT)
    ],
    "question_decomposition": [
        {"id": 11, "question": "The Long Ferry >> director", "answer": "Ada Venn", "paragraph_support_idx": 0},
        {"id": 22, "question": "When was #1 born?", "answer": "3 May 1920", "paragraph_support_idx": 1},
    ],
}
BOOLQ = {"question": "is the arl in westmark", "title": "Arl", "answer": True, "passage": ARL}
CONDA = {
    "QuestionID": "q10",
    "original cue": "rarely",
    "PassageEditID": 0,
    "label": "DON'T KNOW",
    "sentence1": "The Arl rarely freezes.",
    "sentence2": "Does the Osk freeze?",
}
STRATEGY = {
    "qid": "ab12",
    "term": "Arl",
    "description": "river of Westmark",
    "question": "Could a ship sail from the Arl to Osk?",
    "answer": False,
    "facts": ["The Arl ends in a lake.", "The Osk ends in the sea."],
    "decomposition": ["Where does the Arl end?", "Is #1 joined to the Osk?"],
    "evidence": [[[["Arl-1"]]]],
}
PUBMED = {
    "QUESTION": "Is fever caused by spores?",
    "CONTEXTS": ["Spores were counted.", "Fever rose with them."],
    "LABELS": ["METHODS", "RESULTS"],
    "MESHES": ["Fever"],
    "YEAR": "2001",
    "final_decision": "maybe",
    "LONG_ANSWER": "It may be.",
}
COVID = {
    "data": [{"paragraphs": [{"context": PAPER, "document_id": 1, "qas": [asked(262, "What causes it?", ("Spores cause the fever.", 9))]}]}]
}

FILES: dict[str, dict[str, Any]] = {
    "squad_dev": {
        "dev-v1.1.json": squad("1.1", RISES, HIGH),
        "dev-v2.0.json": squad(
            "v2.0",
            {**RISES, "answers": [*RISES["answers"][1:], {"text": "Tarn", "answer_start": ARL.rindex("Tarn")}], "is_impossible": False},
            asked("5ad1", "Where does the Arl end?", is_impossible=True, plausible_answers=[{"text": "Westmark", "answer_start": 22}]),
        ),
    },
    "covidqa_200423": {"200423_covidQA.json": COVID},
    "boolq_dev": {"dev.jsonl": [BOOLQ, {**BOOLQ, "question": "is the arl dry", "answer": False}]},
    "condaqa_dev_test": {
        "condaqa_dev.json": [CONDA],
        "condaqa_test.json": [{**CONDA, "sentence2": "Does the Arl freeze?", "label": "YES"}],
    },
    "strategyqa": {"train.json": [STRATEGY], "dev.json": [{**STRATEGY, "qid": "cd34", "answer": True}]},
    "pubmedqa_labelled": {"ori_pqal.json": {"21645374": PUBMED, "16418930": {**PUBMED, "final_decision": "no"}}},
    "2wikimultihopqa_train": {"train.json": [WIKI]},
    "hotpotqa_train": {"hotpot_train_v1.1.json": [HOTPOT, {**HOTPOT, "_id": "5aaa0002", "answer": "no", "type": "comparison"}]},
    "musique_train": {"musique_ans_v1.0_train.jsonl": [MUSIQUE, {**MUSIQUE, "id": "2hop__11_33", "answerable": False}]},
}
LINES = ("boolq_dev", "condaqa_dev_test", "musique_train")
"""Releases with a record a line, whatever their files are called."""


def released(name: str, folder: Path) -> list[Path]:
    """Write the files of a release."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in FILES[name].items():
        text = "".join(json.dumps(record) + "\n" for record in content) if name in LINES else json.dumps(content, indent=1)
        (folder / file).write_text(text, encoding="utf-8")
    return [folder / file for file in FILES[name]]
