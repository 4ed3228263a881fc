"""Material for the writer: questions become phrases and back, examples keep to their form, no text is on two sides."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from plugins.embedded.training.writing.chains import chains
from plugins.embedded.training.writing.comparisons import comparisons
from plugins.embedded.training.writing.follow_ups import rewrites, shortened
from plugins.embedded.training.writing.material import material, vocabulary
from plugins.embedded.training.writing.written import Written, others, part

FOLDERS = (
    "2wikimultihopqa_train musique_train hotpotqa_train fanoutqa_dev break_dev break_dev_lowlevel squad_dev squadshifts "
    "nq_oracle_dev qed_dev boolq_train boolq_dev fairytaleqa tatqa_text techdocs_faq covidqa_200423 pubmedqa_labelled "
    "qamr_dev_test clapnq_dev selqa_ass canard_dev cast_ikat_rewrites mtrag_rewrites gecor_camrest kvret_cqr followup_nlidb "
    "disflqa techdocs_spans office_spans written"
)


FILM, PERSON = "Salt Road", "Odile Marchetti"


def item(question: str, answer: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": question,
        "question": question,
        "answer": answer,
        "type": "",
        "supporting": [],
        "decomposition": None,
        "metadata": {},
        **more,
    }


def steps(operators: str, *texts: str) -> dict[str, Any]:
    return {"operators": operators.split(), "steps": [{"question": f"return {text}"} for text in texts]}


QUESTIONS = {
    "2wikimultihopqa_train": [
        item(
            "When was the director of film Salt Road born?",
            "1 May 1930",
            type="compositional",
            evidences=[[FILM, "director", PERSON], [PERSON, "date of birth", "1 May 1930"]],
        ),
        item(
            "Who was born later, Henk Varga or Irena Kolar?",
            "Irena Kolar",
            type="comparison",
            evidences=[["Henk Varga", "date of birth", "12 June 1902"], ["Irena Kolar", "date of birth", "9 August 1950"]],
        ),
    ],
    "break_dev": [
        item(
            "Who was the husband of the painter who opened the gallery in Lyon?",
            decomposition=steps("select project", "the painter who opened the gallery in Lyon", "husband of #1"),
        ),
        item(
            "Which film was released first, Salt Road or Paper Harbour?",
            decomposition=steps(
                "select select comparison", "when was Salt Road released", "when was Paper Harbour released", "which was first of #1 , #2"
            ),
        ),
    ],
    "canard_dev": [
        item(
            "When was she born?",
            "When was Odile Marchetti born?",
            metadata={"history": [PERSON, "Life", "Who made the film?", PERSON], "turn": 2},
        )
    ],
    "squad_dev": [
        item("Who opened the old mill of Ostrel?", PERSON),
        item("Which prize did Odile Marchetti win in Nantes?", "the Golden Quay"),
    ],
}


def write(path: Path, name: str, records: Sequence[dict[str, Any]]) -> None:
    path.mkdir(parents=True, exist_ok=True)
    with gzip.open(path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("writing")
    texts = [
        (FILM, "Salt Road is a 1961 French film."),
        (PERSON, "Odile Marchetti was a French director."),
        ("Henk Varga", "Henk Varga was an actor."),
    ]
    corpus = [{"id": title, "title": title, "text": text, "metadata": {}} for title, text in texts]
    for name in FOLDERS.split():
        write(
            root / name,
            "questions",
            QUESTIONS.get(name, [item(f"Who closed the yard of {name}?", "Ada Venn")]) if name not in ROWS else ROWS[name],
        )
        write(root / name, "corpus", corpus if name == "2wikimultihopqa_train" else [])
    return root


OTHERS = ("musique_train", "fanoutqa_dev", "break_dev_lowlevel", "cast_ikat_rewrites", "mtrag_rewrites")
ROWS: dict[str, list[dict[str, Any]]] = {name: [] for name in (*OTHERS, "gecor_camrest", "kvret_cqr", "followup_nlidb", "disflqa")}


@pytest.fixture(scope="module")
def made(data: Path) -> list[Written]:
    return list(material(data, 0.06))


def told(made: list[Written], question: str) -> tuple[str, tuple[str, ...]]:
    return next((written.how, written.steps) for written in made if written.question == question)


def test_questions_are_split_as_people_and_facts_say(made: list[Written]) -> None:
    film = told(made, "When was the director of film Salt Road born?")
    assert film == ("bridge", ("Who is the director of film Salt Road?", "When was {1} born?"))
    assert told(made, "Who was born later, Henk Varga or Irena Kolar?") == (
        "later",
        ("When was Henk Varga born?", "When was Irena Kolar born?"),
    )
    husband = told(made, "Who was the husband of the painter who opened the gallery in Lyon?")
    assert husband == ("bridge", ("Which painter opened the gallery in Lyon?", "Who was the husband of {1}?"))
    first = told(made, "Which film was released first, Salt Road or Paper Harbour?")
    assert first == ("earlier", ("When was Salt Road released?", "When was Paper Harbour released?"))


def test_every_example_keeps_to_its_form(made: list[Written]) -> None:
    assert {written.how for written in made} >= {
        "single",
        "bridge",
        "agree",
        "earlier",
        "later",
        "more",
        "less",
        "before",
        "after",
        "exceeds",
        "same",
    }
    assert {written.how for written in made} >= {"differ", "both", "either", "which", "rewrite"}
    for written in made:
        count = {"single": 0, "rewrite": 1}.get(written.how, 2)
        assert len(written.steps) == count
        assert [step.count("{1}") for step in written.steps] == ([0, 1] if written.how == "bridge" else [0] * count)
        assert "{s}" not in str(written)
        assert "{x}" not in str(written)


def test_the_two_questions_of_a_comparison_differ_by_the_things_alone(data: Path) -> None:
    for written in comparisons(data, 200):
        if written.how in ("earlier", "later", "more", "less", "before", "after", "exceeds", "which"):
            first, second = (step.rstrip("?").split() for step in written.steps)
            assert first[0] == second[0]
            assert first != second


def test_material_is_the_same_each_time_and_no_text_is_on_two_sides(data: Path, made: list[Written]) -> None:
    assert list(material(data, 0.06)) == made
    sides: dict[str, set[str]] = {}
    for written in made:
        sides.setdefault(written.question.casefold() + written.history, set()).add(part(written))
    assert all(len(side) == 1 for side in sides.values())


def test_what_is_written_is_copied_but_for_a_small_vocabulary(made: list[Written]) -> None:
    known = vocabulary(made)
    assert len(known) <= 400
    assert all(known.issuperset(others(written)) for written in made)
    copied = sum(len(step.split()) for written in made for step in written.steps)
    assert sum(len(others(written)) for written in made) < 0.5 * copied


def test_chains_give_the_hops_inside_them_as_well(data: Path) -> None:
    written = list(chains(data, 60))
    assert {example.source for example in written} == {"chain", "chain_inner", "chain_hop"}
    assert {example.how for example in written if example.source == "chain_hop"} == {"single"}


def test_follow_ups_say_what_they_mean(data: Path) -> None:
    written = next(rewrites(data))
    assert written.steps == ("When was Odile Marchetti born?",)
    assert written.history.splitlines()[-1] == PERSON


def test_of_long_turns_the_beginning_is_kept() -> None:
    kept = shortened(["one", "two " * 200, "three"], 2)
    assert kept[-1] == "three"
    assert len(kept[0]) <= 350
