"""Training data from the trees of a run: chat examples of right trees, and preference pairs of replies and of whole trees."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any, Literal

from ramify.lab.results import ResultLine, Run
from ramify.nodes.tree import DROPPED, ROOT, Branch, normalized_key, position
from ramify.nodes.tree.answers import PLACEHOLDER
from ramify.prompts.decompose import DECOMPOSE, Pair
from ramify.prompts.lenient_types import reply_fields
from ramify.tools.errors import InputError
from ramify.tools.quoting import truncate_line

ExportFormat = Literal["sft", "dpo", "trees"]
TrainingExample = dict[str, Any]
PATH_PATTERN = re.compile(r"0(\.\d+)*")
NO_CALLS_REMEDY = "run `ramify eval` with --calls and another --out"
SUB_QUESTION_FIELDS = ("first", "second")
MAX_CALLS_SHARE = 2 / 3
"""Of two right trees, the one with at most this share of the other's calls is preferred."""


@dataclass
class TrainingExport:
    """Training examples, and counts of their sources and of what was left out."""

    examples: list[TrainingExample] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, example: TrainingExample, kind: str) -> None:
        """Add an example unless it is a duplicate."""
        text = json.dumps({name: value for name, value in example.items() if name != "metadata"})
        if text in self._known_texts:
            self.counts["duplicates left out"] += 1
            return
        self._known_texts.add(text)
        self.examples.append(example)
        self.counts[kind] += 1

    _known_texts: set[str] = field(default_factory=set)


def export_examples(
    runs: Sequence[Run], form: ExportFormat, strategies: Sequence[str] = (), min_confidence: float | None = None
) -> TrainingExport:
    """Return the training examples of some runs; InputError with the reason if there are none.

    `sft`: the calls of trees with a right answer, without those of dropped branches. `dpo`: decompositions of the same question, kept
    in a tree with a right answer against pruned ones (ToR-RAG's future work), and right against wrong final replies (rejection
    sampling as in CoRAG, arXiv 2501.14342). `trees`: whole trees of the same question, a right one against a wrong one, and of two right
    ones that with clearly fewer calls. Chosen examples are from trees with a confidence of at least `min_confidence`.
    """
    result = TrainingExport()
    lines = [
        (run, line)
        for run in runs
        for lines in run.answered.values()
        for line in lines
        if line.has_gold and not line.failed and (not strategies or line.row["strategy"] in strategies)
    ]
    good = [line for _, line in lines if line.right and (line.row.get("confidence") or 0.0) >= (min_confidence or 0.0)]
    result.counts |= Counter({"right trees": len(good), "trees": len(lines)})
    if form == "sft":
        _add_chats(good, result)
    elif form == "trees":
        _add_trees([line for _, line in lines], good, result)
    else:
        _add_decompositions(lines, good, result)
        _add_answers([line for _, line in lines], good, result)
    if not result.examples:
        raise _no_examples_error(lines, good, form)
    return result


def _no_examples_error(lines: Sequence[tuple[Run, ResultLine]], good: Sequence[ResultLine], form: ExportFormat) -> InputError:
    """Return the error for runs without examples, with the reason."""
    recorded = any(line.row.get("calls") for _, line in lines)
    if not good:
        why = f"of {len(lines):,} answers with a gold, {len(good):,} are right and confident enough"
    elif form == "trees":
        why = "no question was searched and answered twice, once right and once wrong, or both times right with clearly fewer calls"
    elif form == "sft":
        why = f"none of {len(good):,} right trees has recorded calls of branches that were kept"
    else:
        why = "no question has both a decomposition that was kept in a right tree and one that was pruned"
        if not any(line.row.get("calls") for line in good):
            why += ", and no calls are recorded, which pairs of answers require"
    more = "use runs with more questions, strategies that prune (tor), or several seeds (--sweep seed=0,1,2)"
    remedy = more if recorded or form == "trees" or (form == "dpo" and not lines) else f"{NO_CALLS_REMEDY}; {more}"
    return InputError(f"there is nothing to export as {form}: {why}", remedy)


def _add_chats(good: Iterable[ResultLine], result: TrainingExport) -> None:
    """Add the calls of right trees as chats, without those about dropped branches and those that proposed them."""
    for line in good:
        dropped = _dropped_keys(line)
        for call in _calls(line):
            if {_question_key(text) for text in (call["question"], *_proposed_texts(call["reply"]))} & dropped:
                result.counts["calls of dropped branches left out"] += 1
                continue
            about = {name: line.row.get(name) or "" for name in ("dataset", "id", "strategy", "variant")}
            chat = [*call["messages"], _assistant_message(call["reply"])]
            result.add({"messages": chat, "metadata": {**about, "prompt": call["prompt"]}}, "chat examples")


def _assistant_message(reply: Mapping[str, Any]) -> dict[str, str]:
    return {"role": "assistant", "content": json.dumps(reply, ensure_ascii=False)}


def _proposed_texts(reply: Mapping[str, Any]) -> list[str]:
    """Return the sub-questions and entities that a reply proposes."""
    texts = [text for name in ("questions", "entities") for text in reply.get(name) or ()]
    return [str(text) for text in (*(reply.get(name) for name in SUB_QUESTION_FIELDS), *texts) if text]


def _question_key(text: str) -> str:
    return normalized_key(Branch(path=ROOT, question=text))[1]


def _dropped_keys(line: ResultLine) -> set[str]:
    """Return the keys of the questions that were only asked in dropped branches."""
    keys_by_dropped: dict[bool, set[str]] = {True: set(), False: set()}
    tree = _branches(line)
    for branch in tree.values():
        texts = {branch["question"], _proposed_question(branch, tree) or branch["question"]}
        keys_by_dropped[branch.get("status") in DROPPED] |= set(map(_question_key, texts))
    return keys_by_dropped[True] - keys_by_dropped[False]


def _branches(line: ResultLine) -> dict[str, dict[str, Any]]:
    """Return the valid branches of a line by path, in tree order."""
    branches = [branch for branch in line.row.get("tree") or () if isinstance(branch, dict) and isinstance(branch.get("question"), str)]
    by_path = {branch["path"]: branch for branch in branches if PATH_PATTERN.fullmatch(str(branch.get("path")))}
    return {path: by_path[path] for path in sorted(by_path, key=position)}


def _calls(line: ResultLine) -> list[dict[str, Any]]:
    """Return the recorded calls of a line; InputError if one is not in the format of `ramify eval --calls`."""
    calls = line.row.get("calls") or []
    kinds = {"prompt": str, "question": str, "messages": list, "reply": dict}
    for call in calls if isinstance(calls, list) else [calls]:
        if not (isinstance(call, dict) and all(isinstance(call.get(name), kind) for name, kind in kinds.items())):
            raise InputError(
                f"line {line.number} of results.jsonl has an invalid recorded call: {truncate_line(str(call), 80)!r}", NO_CALLS_REMEDY
            )
    return list(calls)


def _proposed_question(branch: Mapping[str, Any], tree: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return a sub-question as it was proposed, with {1} instead of the sibling's answer; None if it does not contain that answer."""
    question, sibling = str(branch["question"]), branch.get("awaits")
    if not sibling or PLACEHOLDER in question:
        return question
    answer = str(tree.get(sibling, {}).get("answer") or "")
    return question.replace(answer, PLACEHOLDER, 1) if answer and answer in question else None


def _add_decompositions(lines: Sequence[tuple[Run, ResultLine]], good: Sequence[ResultLine], result: TrainingExport) -> None:
    """Add pairs of decompositions of the same question, rendered from the trees with the prompt that splits questions."""
    right = set(map(id, good))
    ways: dict[tuple[str, str, bool], dict[str, dict[tuple[str, str], None]]] = {}
    for run, line in lines:
        dependent = _is_dependent(run, line)
        for question, pair, is_kept in _find_splits(line, result):
            splits = ways.setdefault((line.row["dataset"], _question_key(question), dependent), {"asked": {}, "kept": {}, "pruned": {}})
            splits["asked"][question, ""] = None
            if not is_kept or id(line) in right:
                splits["kept" if is_kept else "pruned"][pair] = None
    for (_, _, dependent), splits in ways.items():
        question = next(iter(splits["asked"]))[0]
        messages = DECOMPOSE.with_options(False, 0).render({"question": question, "dependent": dependent, "rejected": [], "kept": ""})
        prompt = [{"role": "system" if message.type == "system" else "user", "content": str(message.content)} for message in messages]
        for better, worse in product(splits["kept"], splits["pruned"]):
            if better not in splits["pruned"] and worse not in splits["kept"]:
                result.add(
                    {"prompt": prompt, "chosen": [_split_message(better)], "rejected": [_split_message(worse)]}, "pairs of decompositions"
                )


def _split_message(pair: tuple[str, str]) -> dict[str, str]:
    reply = {"simple": False, "first": pair[0], "second": pair[1]}
    return _assistant_message({name: reply[name] for name in reply_fields(Pair)})


def _find_splits(line: ResultLine, result: TrainingExport) -> Iterator[tuple[str, tuple[str, str], bool]]:
    """Yield the splits of a tree: question, sub-questions, and whether both were kept; those with only one kept are left out."""
    tree = _branches(line)
    for path, branch in tree.items():
        below = [child for other, child in tree.items() if other.rpartition(".")[0] == path and child.get("kind", "question") == "question"]
        for first, second in zip(below[::2], below[1::2], strict=False):
            dropped = [child.get("status") in DROPPED for child in (first, second)]
            texts = (_proposed_question(first, tree), _proposed_question(second, tree))
            if dropped[0] != dropped[1]:
                continue
            if texts[0] is None or texts[1] is None:
                result.counts["splits that cannot be reconstructed"] += 1
            else:
                yield branch["question"], (texts[0], texts[1]), not dropped[0]


def _is_dependent(run: Run, line: ResultLine) -> bool:
    """Return whether the prompt allowed a sub-question to depend on the other one's answer."""
    key = line.row["strategy"], line.row.get("variant") or ""
    settings = next(
        (entry.get("settings") for entry in run.manifest["variants"] if (entry.get("strategy"), entry.get("variant") or "") == key), None
    )
    return bool((settings or {}).get("dependent", True))


def _add_answers(lines: Sequence[ResultLine], good: Sequence[ResultLine], result: TrainingExport) -> None:
    """Add pairs of right and wrong final replies to the same prompt and question, from recorded calls."""
    better: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in good:
        if call := _final_call(line):
            better.setdefault((line.row["dataset"], line.row["id"], call["prompt"]), call)
    for line in lines:
        call = None if line.right else _final_call(line)
        if call and (best := better.get((line.row["dataset"], line.row["id"], call["prompt"]))):
            pair = {
                "prompt": best["messages"],
                "chosen": [_assistant_message(best["reply"])],
                "rejected": [_assistant_message(call["reply"])],
            }
            result.add(pair, "pairs of answers")


def _final_call(line: ResultLine) -> dict[str, Any] | None:
    """Return the last call whose reply is the answer of a line; None if there is none."""
    return next(
        (call for call in reversed(_calls(line)) if call["reply"].get("answer") and call["reply"]["answer"] == line.row.get("answer")), None
    )


def _add_trees(lines: Iterable[ResultLine], good: Iterable[ResultLine], result: TrainingExport) -> None:
    """Add pairs of whole trees of the same question, without those that nothing was searched for."""
    preferable = set(map(id, good))
    by_question: dict[tuple[str, str], list[ResultLine]] = {}
    for line in lines:
        if (line.row.get("usage") or {}).get("retrievals"):
            by_question.setdefault((line.row["dataset"], line.row["id"]), []).append(line)
    for same_question in by_question.values():
        for chosen, rejected in permutations(same_question, 2):
            if id(chosen) not in preferable:
                continue
            calls = chosen.row["usage"]["llm_calls"], rejected.row["usage"]["llm_calls"]
            if not rejected.right:
                _add_tree_pair(chosen, rejected, f"right against {rejected.outcome}", "pairs of a right and a wrong tree", result)
            elif calls[0] <= MAX_CALLS_SHARE * calls[1]:
                _add_tree_pair(chosen, rejected, f"both right, {calls[0]} calls against {calls[1]}", "pairs by calls", result)


def _add_tree_pair(chosen: ResultLine, rejected: ResultLine, why: str, kind: str, result: TrainingExport) -> None:
    row = chosen.row
    sides = {"chosen": chosen.row, "rejected": rejected.row}
    trees = {side: {"answer": of["answer"], "calls": of["usage"]["llm_calls"], "tree": of["tree"]} for side, of in sides.items()}
    made_by = {side: {name: of.get(name) or "" for name in ("strategy", "variant")} for side, of in sides.items()}
    metadata = {"dataset": row["dataset"], "id": row["id"], **made_by}
    result.add({"question": row["question"], **trees, "why": why, "metadata": metadata}, kind)
