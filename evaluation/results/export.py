"""Judged trees as training material: chat examples of right trees, and pairs of a better and a worse reply."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

from ramify.evaluation.results import ResultLine, Run
from ramify.nodes.tree import DROPPED, ROOT, Branch, normalized_key, position
from ramify.nodes.tree.answers import HOLE
from ramify.prompts.decompose import DECOMPOSE, Pair
from ramify.prompts.lenient_types import asked_for
from ramify.tools.errors import InputError
from ramify.tools.quoting import truncate_line

Form = Literal["sft", "dpo"]
Example = dict[str, Any]
PATH = re.compile(r"0(\.\d+)*")
NO_CALLS = "run `ramify eval` with --calls and another --out"
PARTS = ("first", "second")


@dataclass
class Export:
    """Training examples, and counts of what they were made from and of what was left out."""

    examples: list[Example] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, example: Example, kind: str) -> None:
        """Add an example, unless it is there already."""
        text = json.dumps({name: value for name, value in example.items() if name != "metadata"})
        if text in self._known:
            self.counts["duplicates left out"] += 1
            return
        self._known.add(text)
        self.examples.append(example)
        self.counts[kind] += 1

    _known: set[str] = field(default_factory=set)


def export(runs: Sequence[Run], form: Form, strategies: Sequence[str] = (), min_confidence: float | None = None) -> Export:
    """Return the training examples of some runs; InputError, which says why, if there are none.

    `sft`: the calls of trees whose answer is right, without those of branches that were dropped. `dpo`: decompositions of the same
    question, kept in a tree whose answer is right against pruned (ToR-RAG's future work), and final replies, right against wrong
    (rejection sampling as in CoRAG, arXiv 2501.14342). What is preferred is of trees that are at least `min_confidence` sure.
    """
    told = Export()
    lines = [
        (run, line)
        for run in runs
        for lines in run.answered.values()
        for line in lines
        if line.scored and not line.failed and (not strategies or line.row["strategy"] in strategies)
    ]
    good = [line for _, line in lines if line.right and (line.row.get("confidence") or 0.0) >= (min_confidence or 0.0)]
    told.counts |= Counter({"right trees": len(good), "trees": len(lines)})
    if form == "sft":
        _chats(good, told)
    else:
        _decompositions(lines, good, told)
        _answers([line for _, line in lines], good, told)
    if not told.examples:
        raise _nothing(lines, good, form)
    return told


def _nothing(lines: Sequence[tuple[Run, ResultLine]], good: Sequence[ResultLine], form: Form) -> InputError:
    """Return the error for runs that give no example, which says why."""
    recorded = any(line.row.get("calls") for _, line in lines)
    if not good:
        why = f"of {len(lines):,} answers with a gold, {len(good):,} are right and sure enough"
    elif form == "sft":
        why = f"none of {len(good):,} right trees has recorded calls that were kept"
    else:
        why = "no question was split both in a way that was kept, in a right tree, and in one that was pruned"
        if not any(line.row.get("calls") for line in good):
            why += ", and no calls are recorded, of which pairs of answers are made"
    more = "take runs with more questions, strategies that prune (tor), or several seeds (--sweep seed=0,1,2)"
    remedy = more if recorded or (form == "dpo" and not lines) else f"{NO_CALLS}; {more}"
    return InputError(f"there is nothing to export as {form}: {why}", remedy)


def _chats(good: Iterable[ResultLine], told: Export) -> None:
    """Add the calls of right trees as chats; not those about a branch that was dropped, nor those that proposed it."""
    for line in good:
        dropped = _dropped(line)
        for call in _calls(line):
            if {_key(text) for text in (call["question"], *_proposed(call["reply"]))} & dropped:
                told.counts["calls of dropped branches left out"] += 1
                continue
            about = {name: line.row.get(name) or "" for name in ("dataset", "id", "strategy", "variant")}
            chat = [*call["messages"], _said(call["reply"])]
            told.add({"messages": chat, "metadata": {**about, "prompt": call["prompt"]}}, "chat examples")


def _said(reply: Mapping[str, Any]) -> dict[str, str]:
    return {"role": "assistant", "content": json.dumps(reply, ensure_ascii=False)}


def _proposed(reply: Mapping[str, Any]) -> list[str]:
    """Return the sub-questions and names that a reply proposes."""
    listed = [text for name in ("questions", "entities") for text in reply.get(name) or ()]
    return [str(text) for text in (*(reply.get(name) for name in PARTS), *listed) if text]


def _key(text: str) -> str:
    return normalized_key(Branch(path=ROOT, question=text))[1]


def _dropped(line: ResultLine) -> set[str]:
    """Return the keys of what was only asked in branches that were dropped."""
    asked: dict[bool, set[str]] = {True: set(), False: set()}
    tree = _branches(line)
    for branch in tree.values():
        texts = {branch["question"], _unfilled(branch, tree) or branch["question"]}
        asked[branch.get("status") in DROPPED] |= set(map(_key, texts))
    return asked[True] - asked[False]


def _branches(line: ResultLine) -> dict[str, dict[str, Any]]:
    """Return the branches of a line by path, in order; not those that are none."""
    branches = [one for one in line.row.get("tree") or () if isinstance(one, dict) and isinstance(one.get("question"), str)]
    found = {one["path"]: one for one in branches if PATH.fullmatch(str(one.get("path")))}
    return {path: found[path] for path in sorted(found, key=position)}


def _calls(line: ResultLine) -> list[dict[str, Any]]:
    """Return the recorded calls of a line; InputError if they are not as `ramify eval --calls` writes them."""
    calls = line.row.get("calls") or []
    kinds = {"prompt": str, "question": str, "messages": list, "reply": dict}
    for call in calls if isinstance(calls, list) else [calls]:
        if not (isinstance(call, dict) and all(isinstance(call.get(name), kind) for name, kind in kinds.items())):
            raise InputError(f"line {line.number} of results.jsonl has a call that is none: {truncate_line(str(call), 80)!r}", NO_CALLS)
    return list(calls)


def _unfilled(branch: Mapping[str, Any], tree: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return a sub-question as it was proposed: with {1} where a sibling's answer was put; None if that is not in it."""
    question, sibling = str(branch["question"]), branch.get("awaits")
    if not sibling or HOLE in question:
        return question
    answer = str(tree.get(sibling, {}).get("answer") or "")
    return question.replace(answer, HOLE, 1) if answer and answer in question else None


def _decompositions(lines: Sequence[tuple[Run, ResultLine]], good: Sequence[ResultLine], told: Export) -> None:
    """Add pairs of decompositions of the same question, rendered again from the trees with the prompt that splits a question."""
    right = set(map(id, good))
    ways: dict[tuple[str, str, bool], dict[str, dict[tuple[str, str], None]]] = {}
    for run, line in lines:
        dependent = _dependent(run, line)
        for question, pair, kept in _splits(line, told):
            found = ways.setdefault((line.row["dataset"], _key(question), dependent), {"asked": {}, "kept": {}, "pruned": {}})
            found["asked"][question, ""] = None
            if not kept or id(line) in right:
                found["kept" if kept else "pruned"][pair] = None
    for (_, _, dependent), found in ways.items():
        question = next(iter(found["asked"]))[0]
        messages = DECOMPOSE.told_with(False, 0).render({"question": question, "dependent": dependent, "rejected": [], "kept": ""})
        prompt = [{"role": "system" if message.type == "system" else "user", "content": str(message.content)} for message in messages]
        for better, worse in product(found["kept"], found["pruned"]):
            if better not in found["pruned"] and worse not in found["kept"]:
                told.add({"prompt": prompt, "chosen": [_split(better)], "rejected": [_split(worse)]}, "pairs of decompositions")


def _split(pair: tuple[str, str]) -> dict[str, str]:
    reply = {"simple": False, "first": pair[0], "second": pair[1]}
    return _said({name: reply[name] for name in asked_for(Pair)})


def _splits(line: ResultLine, told: Export) -> Iterator[tuple[str, tuple[str, str], bool]]:
    """Yield the splits of a tree: the question, its two sub-questions, and whether both were kept; not those of which one half was."""
    tree = _branches(line)
    for path, branch in tree.items():
        below = [one for other, one in tree.items() if other.rpartition(".")[0] == path and one.get("kind", "question") == "question"]
        for first, second in zip(below[::2], below[1::2], strict=False):
            dropped = [one.get("status") in DROPPED for one in (first, second)]
            texts = (_unfilled(first, tree), _unfilled(second, tree))
            if dropped[0] != dropped[1]:
                continue
            if texts[0] is None or texts[1] is None:
                told.counts["splits that cannot be reconstructed"] += 1
            else:
                yield branch["question"], (texts[0], texts[1]), not dropped[0]


def _dependent(run: Run, line: ResultLine) -> bool:
    """Return whether a sub-question might build on the other's answer, which the prompt says."""
    key = line.row["strategy"], line.row.get("variant") or ""
    settings = next(
        (one.get("settings") for one in run.manifest["variants"] if (one.get("strategy"), one.get("variant") or "") == key), None
    )
    return bool((settings or {}).get("dependent", True))


def _answers(lines: Sequence[ResultLine], good: Sequence[ResultLine], told: Export) -> None:
    """Add pairs of final replies to the same prompt about the same question: right against wrong, from recorded calls."""
    better: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in good:
        if call := _final(line):
            better.setdefault((line.row["dataset"], line.row["id"], call["prompt"]), call)
    for line in lines:
        call = None if line.right else _final(line)
        if call and (best := better.get((line.row["dataset"], line.row["id"], call["prompt"]))):
            pair = {"prompt": best["messages"], "chosen": [_said(best["reply"])], "rejected": [_said(call["reply"])]}
            told.add(pair, "pairs of answers")


def _final(line: ResultLine) -> dict[str, Any] | None:
    """Return the last call that gave the answer of a line."""
    return next(
        (call for call in reversed(_calls(line)) if call["reply"].get("answer") and call["reply"]["answer"] == line.row.get("answer")), None
    )
