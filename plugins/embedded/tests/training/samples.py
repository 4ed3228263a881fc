"""A small data folder of each kind that the reader is trained on, in the shape of the real ones."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]

FILMS = [
    ("Salt Road", "Odile Marchetti", "French", "1961"),
    ("Glass Ferry", "Henk Varga", "Hungarian", "1934"),
    ("Winter Orchard", "Odile Marchetti", "French", "1967"),
    ("Paper Harbour", "Tomas Brandl", "German", "1972"),
]
PEOPLE = [
    ("Odile Marchetti", "born 1 May 1930", "French", "Lyon"),
    ("Henk Varga", "born 12 June 1902", "Hungarian", "Szeged"),
    ("Tomas Brandl", "born 30 March 1925", "German", "Bremen"),
    ("Irena Kolar", "born 9 August 1950", "French", "Nantes"),
]
REGIONS = {"wi": "the north", "ho": "the south", "mu": "the west"}
"""So that no text is in two folders."""


def document(key: str, title: str | None, text: str) -> Record:
    return {"id": key, "title": title, "text": text, "metadata": {}}


def question(key: str, asked: str, answer: str, about: Sequence[str], **more: Any) -> Record:
    supporting = [{"doc_id": doc_id, "title": None, "fact": None} for doc_id in about]
    return {"id": key, "question": asked, "answer": answer, "answer_aliases": [], "supporting": supporting, "decomposition": None, **more}


def write(path: Path, documents: Sequence[Record], questions: Sequence[Record]) -> Path:
    path.mkdir(parents=True)
    for name, records in (("corpus", documents), ("questions", questions)):
        with gzip.open(path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
    return path


def encyclopedia(prefix: str) -> list[Record]:
    films = [
        document(
            f"{prefix}-film-{number}",
            title,
            f"{title} is a {year} {nation} drama film directed by {director}. It was shot in {REGIONS[prefix]}.",
        )
        for number, (title, director, nation, year) in enumerate(FILMS)
    ]
    people = [
        document(
            f"{prefix}-person-{number}",
            name,
            f"{name} ({born}) is a {nation} actor, who was born in {town}. The family later lived in {REGIONS[prefix]}.",
        )
        for number, (name, born, nation, town) in enumerate(PEOPLE)
    ]
    return films + people


def squad() -> tuple[list[Record], list[Record]]:
    title = "Ostrel Bridge"
    documents = [
        document("sq-0", title, "The Ostrel Bridge was opened in 1931. Mirela Okonjo designed the bridge, and 1931 was a wet year."),
        document("sq-1", title, "The bridge is 240 metres long. Two lanes cross the river on it, and a path for walkers was added later."),
        document("sq-2", title, "The river below the bridge is called Ostrel. Boats with sails pass below when the water is low."),
    ]
    questions = [
        question("q-0", "When was the Ostrel Bridge opened?", "1931", ["sq-0"], type="span"),
        question("q-1", "How long is the bridge across the river?", "240 metres", ["sq-1"], type="span"),
        question("q-2", "Who paid for the bridge?", "", ["sq-0"], type="unanswerable"),
    ]
    return documents, questions


def paper() -> tuple[list[Record], list[Record]]:
    text = "Loom fever is a made-up illness. " * 40 + "It is caused by wet wool. " + "The weavers of the valley told of it. " * 60
    answer = {"text": "wet wool", "start": text.index("wet wool")}
    return [document("pa-0", None, text)], [question("p-0", "What causes loom fever?", "wet wool", ["pa-0"], answers=[answer], type="span")]


def yes_no(prefix: str, none: str) -> tuple[list[Record], list[Record]]:
    subjects = ["otters", "looms", "ferries", "bells", "kites", "mills"]
    documents = [document(f"{prefix}-{name}", name.title(), f"In the valley of {prefix} {name} are common and old.") for name in subjects]
    answers = ["yes", "no", none] * 2
    questions = [
        question(f"{prefix}-{n}", f"are {n} common", answer, [f"{prefix}-{n}"]) for n, answer in zip(subjects, answers, strict=True)
    ]
    return documents, questions


def spans(prefix: str, title: str | None, asked: str) -> tuple[list[Record], list[Record]]:
    """Give questions with where their answers stand, one in a passage longer than what is read of it."""
    short = f"Lake {prefix} is 48 metres deep. Its water is cold, and no ferry has crossed lake {prefix} since the war."
    near = f"A ferry crosses lake {prefix} in summer. Its water is warm, and the lake is 12 km long."
    long = f"Boats were built at {prefix}. " * 30 + f"The yard of {prefix} was closed by Ada Venn. " + f"Nothing is left of {prefix}. " * 30
    documents = [document(f"{prefix}-{number}", title, text) for number, text in enumerate((short, near, long))]
    answers = [("48 metres", short), ("Ada Venn", long)]
    questions = [
        question(
            f"{prefix}-q{number}",
            asked_of,
            answer,
            [f"{prefix}-{at}"],
            type="span",
            answers=[{"text": answer, "start": text.index(answer)}],
        )
        for number, (asked_of, at, (answer, text)) in enumerate(
            zip((asked, f"who closed the yard of {prefix}"), (0, 2), answers, strict=True)
        )
    ]
    return documents, [{**item, "metadata": {}} for item in questions]


def ranked(prefix: str) -> tuple[list[Record], list[Record]]:
    """Give questions with a passage that answers them as a whole, and others that look as if."""
    topics = ("starts", "stops", "resets")
    documents = [document(f"{prefix}-{topic}", f"{prefix} {topic}", f"The {prefix} agent {topic} with the node.") for topic in topics]
    questions = [
        question(f"{prefix}-q-{topic}", f"how is it that the {prefix} agent {topic}", "", [f"{prefix}-{topic}"]) for topic in topics
    ]
    negatives = [f"{prefix}-{topic}" for topic in topics]
    leaning = question(f"{prefix}-q", "why does it", "", [negatives[0]], metadata={"negatives": [], "context_dependent": True})
    return documents, [*({**item, "metadata": {"negatives": negatives}} for item in questions), leaning]


def hops() -> tuple[list[Record], list[Record]]:
    same = question("w-1", "Do Odile Marchetti and Irena Kolar share a nationality?", "yes", ["wi-person-0", "wi-person-3"], evidences=[])
    steps = {"steps": [{"question": "Who made the film Salt Road?", "answer": "Odile Marchetti"}]}
    evidences = [["Salt Road", "director", "Odile Marchetti"], ["Odile Marchetti", "date of birth", "May 1, 1930"]]
    bridge = question("w-0", "When was the director of Salt Road born?", "May 1, 1930", ["wi-film-0", "wi-person-0"], evidences=evidences)
    return encyclopedia("wi"), [{**bridge, "decomposition": steps}, same]


def whole() -> tuple[list[Record], list[Record]]:
    bridge = question("h-0", "In which town was the director of Glass Ferry born?", "Szeged", ["ho-film-1", "ho-person-1"], type="bridge")
    compared = question("h-1", "Were Salt Road and Glass Ferry made by one person?", "no", ["ho-film-0", "ho-film-1"], type="comparison")
    return encyclopedia("ho"), [bridge, compared]


def linked() -> tuple[list[Record], list[Record]]:
    steps = [
        {"question": "Paper Harbour >> director", "answer": "Tomas Brandl", "doc_id": "mu-film-3"},
        {"question": "In which town was #1 born?", "answer": "Bremen", "doc_id": "mu-person-2"},
    ]
    asked = "In which town was the director of Paper Harbour born?"
    return encyclopedia("mu"), [question("m-0", asked, "Bremen", ["mu-film-3", "mu-person-2"], decomposition={"steps": steps})]


def by_hand(prefix: str) -> tuple[list[Record], list[Record]]:
    """Give one question of each kind that was written over a manual."""
    switch = f"The {prefix} daemon listens on port 4711.\nIts log stays in {prefix}.log unless --quiet is given."
    other = f"The {prefix} client opens port 9000.\nFirst stop the client.\nThen remove its lock."
    documents = [document(f"{prefix}-0", f"{prefix}d", switch), document(f"{prefix}-1", f"{prefix} client", other)]

    def written(number: int, asked: str, answer: str | None, kind: str, at: int = 0, **more: Any) -> Record:
        types = {
            "number": "span",
            "field": "span",
            "yes": "yes_no",
            "no": "yes_no",
            "two_hop": "two_hop",
            "none": "none",
            "how_to": "how_to",
        }
        metadata = {"kind": kind, **more.pop("metadata", {})}
        supporting = [{"doc_id": f"{prefix}-{at}", "title": None, "fact": more.pop("fact", None)}]
        line = question(f"{prefix}-w{number}", asked, answer or "", [], type=types.get(kind, kind), metadata=metadata, **more)
        return {**line, "answer": answer, "supporting": supporting}

    steps = [
        {"question": f"Which port does the {prefix} client open?", "answer": "9000", "doc_id": f"{prefix}-1", "start": other.index("9000")},
        {"question": "What listens beside {1}?", "answer": "4711", "doc_id": f"{prefix}-0", "start": switch.index("4711")},
    ]
    lines = other.split("\n")[1:]
    return documents, [
        written(0, f"Which port does the {prefix} daemon use?", "4711", "number",
                answers=[{"text": "4711", "start": switch.index("4711")}]),
        written(1, f"Does {prefix} --quiet keep the log away?", "yes", "yes", fact=switch.split("\n")[1]),
        written(5, f"Is the {prefix} log kept with --quiet?", "no", "no", fact=switch.split("\n")[1]),
        written(6, f"What is the port of the {prefix} client?", "9000", "field", 1,
                answers=[{"text": "9000", "start": other.index("9000")}]),
        written(2, f"On which port is the {prefix} log sent?", None, "none"),
        written(3, f"What listens beside the port of the {prefix} client?", "4711", "two_hop", decomposition={"steps": steps}),
        written(4, f"How do I remove the {prefix} client?", None, "how_to", 1,
                metadata={"sentences": [{"text": line, "start": other.index(line)} for line in lines]}),
    ]  # fmt: skip


def write_all(root: Path) -> Path:
    """Write all folders."""
    made = {
        "squad_dev": squad(),
        "covidqa_200423": paper(),
        "boolq_dev": yes_no("bo", "yes"),
        "condaqa_dev_test": yes_no("co", "don't know"),
        "strategyqa": yes_no("st", "no"),
        "pubmedqa_labelled": yes_no("pu", "maybe"),
        "2wikimultihopqa_train": hops(),
        "hotpotqa_train": whole(),
        "musique_train": linked(),
        "squadshifts": spans("ss", None, "how deep is lake ss"),
        "fairytaleqa": spans("fa", "The Lake", "How deep is lake fa?"),
        "nq_oracle_dev": spans("nq", None, "how deep is lake nq"),
        "qed_dev": spans("qe", None, "how deep is lake qe"),
        "tatqa_text": spans("ta", "", "How deep is lake ta?"),
        "boolq_train": yes_no("bt", "no"),
        "techdocs_faq": ranked("te"),
        "selqa_ass": ranked("se"),
        "squad_du_test": ranked("sd"),
        "techdocs_spans": by_hand("aud"),
        "office_spans": by_hand("bex"),
        "written": by_hand("cim"),
    }
    for name, (documents, questions) in made.items():
        write(root / name, documents, questions)
    return root
