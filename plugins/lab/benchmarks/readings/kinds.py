"""Questions by kind of question and of text, of the tenth of the training material that is only measured."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from plugins.embedded.training.material import load_material, part_of_example
from plugins.embedded.training.source import load_data_folder
from plugins.lab.benchmarks.readings.case import Case, example_case, held_out_questions, question_case
from plugins.lab.benchmarks.readings.probes import births, commands, deaths

_NUMBER = re.compile(r"\d[\d.,]*")
_NUMBERS = 6
"""Minimum count of numbers in a passage that is full of them."""
_DOMAINS = {"new_wiki": "newer Wikipedia articles", "reddit": "forum posts (Reddit)", "amazon_reviews": "product reviews (Amazon)"}
_ASKED = ("squad_dev", "squadshifts", "nq_oracle_dev", "tatqa_text")


def kinds(data: Path) -> Iterator[tuple[str, Callable[[], Iterator[Case]]]]:
    """Return each row's name, and how its questions are made."""
    train = data / "train"
    yield "who did it (Who …?, as people asked)", lambda: (case for case in people(train) if case.question[:4].casefold() == "who ")
    yield "relations (who founded what; questions made by program)", lambda: made(train, "relation", "relation_reversed")
    yield "a number among numbers", lambda: (case for case in people(train) if full_of_numbers(case))
    for domain, name in _DOMAINS.items():
        yield name, lambda domain=domain: shifted(train, domain)  # type: ignore[misc]  # bound at once
    yield "news, single sentences (Wikinews; of a set that was not trained on)", lambda: news(train)
    yield "search questions (Natural Questions)", lambda: of_folder(train, "nq_oracle_dev")
    yield "financial reports (TAT-QA)", lambda: of_folder(train, "tatqa_text")
    yield "technical documentation, a passage that only looks alike", lambda: made(train, "techdocs_faq_other")
    yield "commands and settings (made sentences)", commands
    yield "Where was X born? beside where X died (made sentences)", births
    yield "Where did X die? of the same sentences", deaths


def of_folder(train: Path, name: str) -> Iterator[Case]:
    folder = load_data_folder(train / name)
    return (question_case(folder, item) for item in held_out_questions(folder))


def people(train: Path) -> Iterator[Case]:
    """Return what people asked of a passage that answers it."""
    return (case for name in _ASKED for case in of_folder(train, name) if case.answers)


def full_of_numbers(case: Case) -> bool:
    """Return whether one number is asked for where there are many."""
    return bool(_NUMBER.match(case.answers[0].lstrip("$£€"))) and len(set(_NUMBER.findall(case.passages[0]["text"]))) >= _NUMBERS


def shifted(train: Path, domain: str) -> Iterator[Case]:
    folder = load_data_folder(train / "squadshifts")
    return (question_case(folder, item) for item in held_out_questions(folder) if item["metadata"]["domain"] == domain)


def news(train: Path) -> Iterator[Case]:
    folder = load_data_folder(train / "qamr_dev_test")
    return (question_case(folder, item) for item in folder.questions if item["metadata"]["source"] == "wikinews")


def made(train: Path, *sources: str) -> Iterator[Case]:
    return (example_case(example) for example in load_material(train, sources) if part_of_example(example) == "measure")
