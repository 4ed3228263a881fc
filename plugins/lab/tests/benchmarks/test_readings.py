"""The material that the reader is measured on: held-out data, and generated sentences that contain their answers."""

import gzip
import json
from pathlib import Path

from plugins.embedded.training.example import Example, assign_part
from plugins.embedded.training.source import load_data_folder
from plugins.lab.benchmarks.readings.case import Case, example_case, held_out_questions, quote
from plugins.lab.benchmarks.readings.kinds import full_of_numbers
from plugins.lab.benchmarks.readings.probes import births, commands, deaths
from ramify.tools.names import contains_name


def test_made_sentences_hold_their_answers_and_ask_for_one_of_two() -> None:
    born, died, commanded = list(births()), list(deaths()), list(commands())
    assert len(born) == len(died) == len({case.question for case in born}) == 20
    for case in (*born, *died, *commanded):
        assert any(contains_name(case.passages[0]["text"], answer) for answer in case.answers), case.question
    assert all(one.passages == other.passages and one.answers != other.answers for one, other in zip(born, died, strict=True))


def test_only_questions_about_held_out_documents_are_used(tmp_path: Path) -> None:
    sides = {str(number): assign_part(str(number)) for number in range(60)}
    documents = [{"id": key, "title": None, "text": "A text."} for key in sides]
    measured = [key for key, side in sides.items() if side == "measure"]
    pairs = [*((key,) for key in sides), (measured[0], measured[1]), (measured[0], next(key for key in sides if key not in measured))]
    questions = [{"id": "-".join(pair), "question": "Who?", "supporting": [{"doc_id": key} for key in pair]} for pair in pairs]
    for name, records in (("corpus", documents), ("questions", [*questions, {"id": "q", "question": "Who?", "supporting": []}])):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
    kept = {item["id"] for item in held_out_questions(load_data_folder(tmp_path))}
    assert kept == {*measured, f"{measured[0]}-{measured[1]}"}


def test_an_example_is_answered_from_its_context() -> None:
    text = "Solaris: a film by Andrei Tarkovsky."
    span = Example("relation", "d", "Who directed Solaris?", text, "span", ((text.index("Andrei"), text.index(".")),))
    assert example_case(span) == Case("Who directed Solaris?", (quote("", text),), ("Andrei Tarkovsky",))
    assert example_case(Example("other", "d", "Who?", text, "", (), False)).answers == ()


def test_a_number_is_among_numbers_where_there_are_many() -> None:
    many = (quote("", "In 2019 sales were $4.1 million, in 2018 3.9 and in 2017 3.2."),)
    assert full_of_numbers(Case("What were sales in 2019?", many, ("$4.1 million",)))
    assert not full_of_numbers(Case("What rose?", many, ("sales",)))
    assert not full_of_numbers(Case("When?", (quote("", "It was in 2019."),), ("2019",)))
