"""Write examples of the calls of trees that came out right, and pairs of a better and a worse reply to the same call.

    ramify eval DATA --strategy tor,chain --model gguf:FILE --set splitter=model --set temperature=0.7 --sweep seed=0,1,2 --calls --out RUN
    python -m plugins.embedded.training.llm.grown RUN... OUT

OUT/train.jsonl and OUT/kept_out.jsonl are examples as `examples` writes them, with the messages as they were sent: rejection sampling.
OUT/pairs.jsonl has `messages`, `chosen` and `rejected`, for DPO. A tree is right if its answer is a gold answer of the data set, and not
one of two that the question offers, chosen without the documents that tell it. A question that an example of `--apart KEPT_OUT.jsonl`
shows is kept out, too.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from plugins.embedded.training.example import assign_part
from plugins.embedded.training.llm.examples import write_lines
from plugins.embedded.training.llm.rows import read_examples
from plugins.embedded.training.writing.written import fold
from ramify.embedded.arithmetic import is_same_answer
from ramify.lab.results import ResultLine, Run, read_run
from ramify.lab.results.export import export_examples
from ramify.prompts.decide import WAY_FIELDS
from ramify.prompts.prompt import unescape
from ramify.tools.errors import InputError

_ASIDE: Final = frozenset(("thought", "text", "citations", "confidence"))
"""Fields of a reply that do not say what comes of it."""
_CHOSEN: Final = frozenset(name for names in WAY_FIELDS.values() for name in names)
"""Fields that belong to an action."""
_TITLE: Final = re.compile(r'<passage n="(\d+)" title="([^"]*)"')
_MOST: Final = 8
"""At most so many examples of a tree's question and prompt, so that questions asked often do not outweigh the others."""

Line = dict[str, Any]


def grown_examples(runs: Sequence[Run]) -> Iterator[tuple[str, Line]]:
    """Yield the calls of right trees, without those of dropped branches, each with its tree's question; InputError if there are none."""
    questions = {(line.row["dataset"], line.row["id"]): str(line.row["question"]) for line in answered(runs)}
    count: Counter[tuple[str, str, str]] = Counter()
    for chat in export_examples(runs, "sft").examples:
        (*messages, reply), about = chat["messages"], chat["metadata"]
        key = (about["dataset"], about["id"], about["prompt"])
        count[key] += 1
        if count[key] <= _MOST:
            kept = {"prompt": about["prompt"], "source": about["dataset"], "kind": about["strategy"]}
            yield questions[key[:2]], {**kept, "messages": messages, "reply": reply["content"]}


def without_guesses(run: Run) -> Run:
    """Return a run without the right trees that may have been guessed."""
    return replace(run, lines=tuple(line for line in run.lines if line.search_only or not _may_be_guessed(line)))


def _may_be_guessed(line: ResultLine) -> bool:
    """Return whether a right answer is yes, no, or one that the question names, and not all gold documents are cited for it."""
    answer, row = fold(line.row["answer"] or ""), line.row
    offered = answer in ("yes", "no") or f" {answer} " in f" {fold(row['question'])} "
    cited = {passage for branch in row.get("tree") or () for passage in branch["cited"]}
    return line.right and offered and not cited >= set(row.get("gold_documents") or ())


def answered(runs: Iterable[Run]) -> Iterator[ResultLine]:
    """Yield the lines of runs whose answer can be judged."""
    for run in runs:
        yield from (line for lines in run.answered.values() for line in lines if line.has_gold and not line.failed)


def make_pairs(runs: Sequence[Run], examples: Iterable[tuple[str, Line]]) -> Iterator[tuple[str, Line]]:
    """Yield a pair for each call whose reply was one thing in right trees and another in wrong ones alone: the most frequent of each."""
    better: dict[str, list[str]] = defaultdict(list)
    asked: dict[str, tuple[str, Line]] = {}
    for question, example in examples:
        key = _key(example["messages"])
        better[key].append(example["reply"])
        asked.setdefault(key, (question, example))
    worse: dict[str, list[str]] = defaultdict(list)
    for line in answered(runs):
        for call in line.row.get("calls") or () if _is_wrong(line) else ():
            if (key := _key(call["messages"])) in asked:
                worse[key].append(json.dumps(call["reply"], ensure_ascii=False))
    for key, replies in worse.items():
        question, example = asked[key]
        right = {_outcome(reply) for reply in better[key]}
        if wrong := [reply for reply in replies if _outcome(reply) not in right]:
            kept = {name: example[name] for name in ("prompt", "source", "kind", "messages")}
            yield question, {**kept, "chosen": _most_frequent(better[key]), "rejected": _most_frequent(wrong)}


def _is_wrong(line: ResultLine) -> bool:
    """Return whether an answer is none of the gold answers in another form either, such as that of a date."""
    golds = (gold for gold in (line.row["gold"], *line.row["aliases"]) if gold)  # none, if the documents do not tell it
    return not line.right and not any(is_same_answer(line.row["answer"], gold, by_meaning=False) for gold in golds)


def _key(messages: Sequence[Mapping[str, str]]) -> str:
    return json.dumps(messages, sort_keys=True)


def _outcome(reply: str) -> str:
    """Return what a reply comes to, without thoughts, case, and the fields of actions that it does not choose."""
    said: dict[str, Any] = json.loads(reply)
    unused = _CHOSEN.difference(WAY_FIELDS[said["action"]]) if "action" in said else set[str]()
    return fold(json.dumps({name: value for name, value in said.items() if name not in _ASIDE | unused}, ensure_ascii=False))


def _most_frequent(replies: Sequence[str]) -> str:
    """Return a reply with the most frequent outcome, the first of them."""
    outcome = Counter(map(_outcome, replies)).most_common(1)[0][0]
    return next(reply for reply in replies if _outcome(reply) == outcome)


def kept_out(examples: Iterable[tuple[str, Line]]) -> set[str]:
    """Return the questions that are only measured, by their words or by a passage that a reply of their trees cites."""
    return {question for question, example in examples if any(assign_part(group) == "measure" for group in _groups(question, example))}


def _groups(question: str, example: Line) -> Iterator[str]:
    yield fold(question)
    titles = dict(_TITLE.findall(example["messages"][-1]["content"]))
    for number in json.loads(example["reply"]).get("citations") or ():
        if title := titles.get(str(number)):
            yield fold(unescape(title))


def main(given: list[str] | None = None) -> None:
    """Write the examples and the pairs, and print how many there are of each prompt."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a run of `ramify eval --calls`")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--apart", type=Path, help="file of examples that are kept out: their questions are, too")
    options = parser.parse_args(given)
    read = [read_run(folder) for folder in options.runs]
    runs = [without_guesses(run) for run in read]
    if guessed := sum(len(run.lines) for run in read) - sum(len(run.lines) for run in runs):
        print(f"{guessed} right answers are left out: yes, no, or one that the question names, without all documents that tell it")
    try:
        examples = list(grown_examples(runs))
    except InputError as error:
        raise SystemExit(str(error)) from error
    shown = [unescape(example["messages"][-1]["content"]) for example in read_examples(options.apart)] if options.apart else []
    out = kept_out(examples) | {question for question, _ in examples if any(question in text for text in shown)}
    files = {
        "train": [example for question, example in examples if question not in out],
        "kept_out": [example for question, example in examples if question in out],
        "pairs": [pair for question, pair in make_pairs(runs, examples) if question not in out],
    }
    options.out.mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        write_lines(options.out / f"{name}.jsonl", lines)
    counts = {name: Counter(line["prompt"] for line in lines) for name, lines in files.items()}
    for prompt in sorted({prompt for by_prompt in counts.values() for prompt in by_prompt}):
        print(f"{prompt:16}", *(f"{name} {by_prompt[prompt]:6}" for name, by_prompt in counts.items()))


if __name__ == "__main__":
    main()
