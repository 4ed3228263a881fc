"""Yes and no: BoolQ (Clark et al. 2019), CondaQA (Ravichander et al. 2022), StrategyQA (Geva et al. 2021), PubMedQA (Jin et al. 2019)."""

from collections.abc import Sequence
from pathlib import Path

from ramify.evaluation.load.records import Record, read_records, text_of
from ramify.tools.errors import InputError
from training.convert.folder import Gathered, fingerprint
from training.convert.original import given, read_object, texts

_YES_NO = ("yes", "no", "don't know")


def boolq_dev(files: Sequence[Path]) -> Gathered:
    """Read BoolQ: a question, a passage and its title, true or false."""
    gathered = Gathered()
    for number, record in enumerate(record for file in files for record in read_records(file)):
        text = given(record, "passage", str)
        document = gathered.document(f"boolq-{fingerprint(text)}", given(record, "title", str), text)
        answer = "yes" if given(record, "answer", bool) else "no"
        gathered.ask(
            record, f"boolq-dev-{number}", given(record, "question", str), answer, "yes_no", [gathered.support(document)]
        )  # the release has no ids but the order
    return gathered


def condaqa_dev_test(files: Sequence[Path]) -> Gathered:
    """Read CondaQA: a passage about a negation, as it was or edited, and a question about what follows from it."""
    gathered = Gathered()
    for record in (record for file in files for record in read_records(file)):
        text, question, label = given(record, "sentence1", str), given(record, "sentence2", str), text_of(record, "label")
        document = gathered.document(f"conda-{fingerprint(text)}", None, text, cue=record.value.get("original cue"))
        answer = label.casefold() if label.casefold() in _YES_NO else label
        identity = f"conda-{fingerprint(f'{text}|{question}')}"
        gathered.ask(record, identity, question.strip(), answer, "yes_no_dontknow", [gathered.support(document)])
    return gathered


def strategyqa(files: Sequence[Path]) -> Gathered:
    """Read StrategyQA: the facts that an answer rests on are its documents."""
    gathered = Gathered()
    for record in (record for file in files for record in read_records(file)):
        identity, term = f"sqa-{given(record, 'qid', str)}", given(record, "term", str)
        supporting = []
        for number, fact in enumerate(texts(record, "facts")):
            document = gathered.document(f"{identity}-{number}", term, fact, description=record.value.get("description"))
            supporting.append(gathered.support(document, [fact]))
        gathered.ask(
            record,
            identity,
            given(record, "question", str),
            "yes" if given(record, "answer", bool) else "no",
            "yes_no",
            supporting,
            decomposition={"steps": [{"question": step} for step in texts(record, "decomposition")]},
        )
    return gathered


def pubmedqa_labelled(files: Sequence[Path]) -> Gathered:
    """Read PubMedQA: abstracts without their conclusion, which a title asks for."""
    gathered = Gathered()
    for file in files:
        for number, value in read_object(file).value.items():
            if not isinstance(value, dict):
                raise InputError(f"{number!r} of {str(file)!r} is {value!r:.80}, not a record", "give the file as released")
            record = Record(f"{number!r} of {str(file)!r}", value)
            question, text = given(record, "QUESTION", str), "\n".join(texts(record, "CONTEXTS"))
            document = gathered.document(f"pmq-{number}", question, text, year=value.get("YEAR"), labels=value.get("LABELS"))
            answer = given(record, "final_decision", str)
            gathered.ask(record, f"pmq-q{number}", question, answer, "yes_no_maybe", [gathered.support(document)])
    return gathered
