"""The embedded model's handling of questions: split them, and detect those that it cannot read or that no phrase answers.

The kind of question is predicted by a logistic regression on the encoder's vectors of the question and of its first words.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import as_file, files
from typing import Final, Literal, get_args

from ramify.embedded.arithmetic import combine_answers
from ramify.embedded.encoders.e5 import E5
from ramify.embedded.encoders.packaged import similarities, similarity
from ramify.embedded.extractive import ReplyFields, Slots
from ramify.embedded.reader import multilingual
from ramify.embedded.splitting import Split, find_splits
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.embeddings.named import load_encoder
from ramify.tools.embeddings.pretrained import MINILM
from ramify.tools.english import content_stems, count_stems, find_names, fold, same_question
from ramify.tools.languages import is_english_question
from ramify.tools.no_answer import is_unknown
from ramify.tools.released_weights import verify_weights

_WORD = re.compile(r"\w+")
_MAX_QUOTED_CHARS = 60
"""Characters of a question quoted in an error."""
_IN_KOREAN: Final = f". 한국어: `ramify download {E5}` 명령으로 다국어 모델을 내려받으면 한국어 질문에 답합니다"


def unreadable_reason(question: str) -> str | None:
    """Return why a question cannot be read, with the remedy; None if it can."""
    if is_english_question(question) or multilingual.should_read(question, ()):
        return None
    start = f"{question[:_MAX_QUOTED_CHARS].rstrip()}…" if len(question) > _MAX_QUOTED_CHARS else question
    what = f"{start!r} does not look like English, and the extractive model reads English only (Korean with the multilingual model)"
    return f"{what} — name a language model, such as ollama:llama3.1:8b{_IN_KOREAN if multilingual.is_korean(question) else ''}"


ANSWER_SLOT = "{1}"
_MIN_SINGLE_PROBABILITY = 0.5
_MAX_DEPTH, _MAX_PLAN_DEPTH = 4, 3
_MIN_VALID_POINTS = 3
"""Least points, of five, of a valid pair of sub-questions."""
_MIN_PART_SIMILARITY = 0.25
"""Least similarity of a sub-question to the question."""


def choose_split(question: str, dependent: bool = True, rejected: Sequence[str] = (), kept: str = "") -> Split | None:
    """Return the likeliest usable split that was not rejected and contains the sub-question to keep; None not to split.

    One whose first part only rephrases the question ("Who is X's Y?" as "Who is the Y of X?") is that of the first part, if any.
    """
    split = _usable_split(question, dependent, rejected, kept)
    if split is None or not _rephrases(split, question):
        return split
    split = _usable_split(split.first, dependent, rejected, kept)
    return None if split is None or _rephrases(split, question) else split


def _rephrases(split: Split, question: str) -> bool:
    return count_stems(split.first) == count_stems(question)


def _usable_split(question: str, dependent: bool, rejected: Sequence[str], kept: str) -> Split | None:
    """Return the likeliest split without a part that repeats the question, or a second one that needs the first, unless `dependent`."""
    splits = find_splits(question) if is_english_question(question) else ()
    if next((split.probability for split in splits if split.how == "single"), 0.0) >= _MIN_SINGLE_PROBABILITY:
        return None
    for split in (_with_whole_names(split, question) for split in splits):
        parts = split.first, split.second
        repeats = fold(question) in map(fold, parts)
        usable = split.how != "single" and all(parts) and not repeats and (dependent or ANSWER_SLOT not in split.second)
        if usable and (not kept or any(fold(part) in fold(kept) for part in parts)) and not (rejected and _rejected(split, rejected)):
            return replace(split, how="each") if split.how == "agree" and _asks_both(question, split) else split
    return None


def _asks_both(question: str, split: Split) -> bool:
    """Return whether a question is its two parts, one after the other, which the writer brings together as if they asked for one thing."""
    whole, first, second = ([word for word in _WORD.findall(fold(text)) if word != "and"] for text in (question, split.first, split.second))
    return whole == first + second


def _with_whole_names(split: Split, question: str) -> Split:
    """Return a split whose parts have the names of the question whole, where the writer copied some words into one of them."""
    parts = [split.first, split.second]
    for name in find_names(question):
        fragments = [_longest_fragment(name, part) for part in parts]
        if all(fragments) or not any(fragments) or any(name in part for part in parts):
            continue
        place = fragments.index(next(filter(None, fragments)))
        before, _, behind = parts[place].partition(fragments[place])
        parts[place] = before + name + behind
    return replace(split, first=parts[0], second=parts[1])


def _longest_fragment(name: str, part: str) -> str:
    """Return the most words at the beginning or end of a name that stand together in a part, unless they are function words alone."""
    words, marked = name.split(), f" {re.sub(r'[?,;:]', ' ', part)} "
    runs = [" ".join(run) for count in range(len(words), 0, -1) for run in (words[:count], words[-count:])]
    shared = [run for run in runs if f" {run.rstrip(',')} " in marked and content_stems(run)]
    return max(shared, key=len, default="")


def _rejected(split: Split, rejected: Sequence[str]) -> bool:
    """Return whether both sub-questions were rejected, the second with any answer in its slot."""
    lines = [fold(line) for line in rejected]
    for part in (split.first, split.second):
        before, _, behind = (fold(piece) for piece in part.rstrip("? ").partition(ANSWER_SLOT))
        if not any(line.startswith(before) and behind in line for line in lines):
            return False
    return True


def split_question(slots: Slots) -> ReplyFields:
    """Split a question into two sub-questions, or return that it is simple; a sub-question to keep is preserved.

    Of a bridge that may not be split, because its sub-questions may not depend on each other, `together` says that it is one.
    """
    question, dependent = slots["question"], bool(slots["dependent"])
    split = choose_split(question, dependent, list(map(str, slots["rejected"])), str(slots["kept"]))
    if split is None:
        dependent_split = None if dependent else choose_split(question)
        return {"simple": True, "first": "", "second": "", "together": dependent_split.how if dependent_split else ""}
    return {"simple": False, "first": split.first, "second": split.second, "together": split.how}


def next_question(slots: Slots) -> ReplyFields:
    """Return the first sub-question without an answer; done if there is none, or if an answer is Unknown."""
    question = slots["question"]
    asked = [(finding["question"], finding["answer"] or "") for finding in slots["history"]]
    split = choose_split(question)
    together = split.how if split else ""
    following = None if any(is_unknown(answer) for _, answer in asked) else next_hop(question, asked)
    if following is None or any(same_question(following, before) for before, _ in asked):
        return {"done": True, "question": "", "together": together}
    return {"done": False, "question": following, "together": together}


def next_hop(question: str, asked: Sequence[tuple[str, str]], depth: int = 0) -> str | None:
    """Return the next sub-question for a question; None if it is answered, or cannot be."""
    if answer_to(question, asked, depth):
        return None
    split = choose_split(question) if depth < _MAX_DEPTH else None
    if split is None:
        return question
    if (first := next_hop(split.first, asked, depth + 1)) is not None:
        return first
    answer = answer_to(split.first, asked, depth + 1)
    if ANSWER_SLOT in split.second and not answer:
        return None
    return next_hop(split.second.replace(ANSWER_SLOT, answer), asked, depth + 1)


def answer_to(question: str, asked: Sequence[tuple[str, str]], depth: int = 0) -> str:
    """Return the answer to a question, given or combined from its parts; empty if there is none."""
    given = next((answer for before, answer in asked if same_question(before, question)), None)
    split = choose_split(question) if given is None and depth < _MAX_DEPTH else None
    if split is None:
        return given or ""
    first = answer_to(split.first, asked, depth + 1)
    if ANSWER_SLOT in split.second and not first:
        return ""
    questions = split.first, split.second.replace(ANSWER_SLOT, first)
    return combine_answers(split.how, questions, (first, answer_to(questions[1], asked, depth + 1)))


def plan(slots: Slots) -> ReplyFields:
    """Return a search plan: the question, its parts, its names and keywords."""
    question = slots["question"]
    names = find_names(question)
    queries = [part for part in dict.fromkeys((*_search_parts(question, 0), *names)) if not same_question(part, question)]
    keywords = [*names, *sorted(content_stems(question) - content_stems(" ".join(names)))]
    return {"primary": question, "sub_queries": queries, "keywords": keywords, "expected": []}


def _search_parts(question: str, depth: int) -> list[str]:
    """Return the parts of a question that can be searched now: without those that need the answer to another."""
    split = choose_split(question) if depth < _MAX_PLAN_DEPTH else None
    if split is None:
        return [question]
    parts = [part for part in (split.first, split.second) if ANSWER_SLOT not in part]
    return [query for part in parts for query in _search_parts(part, depth + 1)]


def judge(slots: Slots) -> ReplyFields:
    """Score a pair with its answers on four criteria, 0 to 5, and return the weaker sub-question if only one has an answer."""
    question, pair = slots["question"], (slots["first"], slots["second"])
    answers = [slots["first_answer"] or "", slots["second_answer"] or ""]
    known = [not is_unknown(answer) for answer in answers]
    near = similarities(question, pair)
    repeated = all(known) and fold(answers[0]) == fold(answers[1]) not in ("yes", "no")
    apart = 0.0 if fold(pair[0]) == fold(pair[1]) else min(1.0, 1.25 - similarity(*pair)) - 0.2 * repeated
    return {
        "sufficiency": 5 * sum(known) / 2,
        "non_redundancy": round(5 * max(0.0, apart), 2),
        "consistency": 5.0 if min(near) > _MIN_PART_SIMILARITY else 2.5,
        "decomposition": round(5 * _coverage(question, pair), 2),
        "weaker": "neither" if known[0] == known[1] else str(known.index(False) + 1),
    }


def rubric(slots: Slots) -> ReplyFields:
    """Score a pair: a point for each of five criteria."""
    question, pair = slots["question"], (slots["first"], slots["second"])
    points = {
        "both are questions": all(part.rstrip().endswith("?") for part in pair),
        "both are specific": all(ANSWER_SLOT in part or find_names(part) or len(content_stems(part)) >= 2 for part in pair),
        "both are relevant": ANSWER_SLOT in pair[1] or min(similarities(question, pair)) > _MIN_PART_SIMILARITY,
        "neither repeats the other": len({fold(text) for text in (question, *pair)}) == 3,
        "together they are complete": _coverage(question, pair) >= 0.7,
    }
    wrong = [point for point, met in points.items() if not met]
    score = len(points) - len(wrong)
    reasons = f"Not met: {', '.join(wrong)}." if wrong else "All five criteria are met."
    return {"reasons": reasons, "score": float(score), "verdict": "VALID" if score >= _MIN_VALID_POINTS else "INVALID"}


def _coverage(question: str, pair: Sequence[str]) -> float:
    """Return the share of the question's words in a pair, in [0, 1]; reduced if a part repeats the question."""
    words = content_stems(question)
    share = len(words & content_stems(" ".join(pair))) / len(words) if words else 0.0
    return min(1.0, 0.2 + 0.9 * share) * (0.3 if fold(question) in map(fold, pair) else 1.0)


QuestionKind = Literal["", "how to", "list", "explain"]
QUESTION_KINDS: Final[tuple[QuestionKind, ...]] = get_args(QuestionKind)
"""In the order of the rows of the weight matrix."""
KIND_WEIGHTS_FILE: Final = "kinds.safetensors"
KIND_WEIGHTS_SHA256 = "31cea5ccc57afff7a6c847badfcb4581f12ba178d716df50df787593e6d24c32"
_REMEDY: Final = "reinstall ramify"
MIN_OPEN_PROBABILITY: Final = 0.7
"""Least total probability of the other kinds for a question to count as open, not answerable by a phrase."""
_MAX_QUESTION_CHARS: Final = 400
"""Longer questions are truncated at the beginning."""
_ASKS_FOR_NUMBER: Final = re.compile(r"(?:and\s)?how (?:many|much)\b", re.IGNORECASE)
_FIRST_WORDS: Final = 5
"""Number of first words that are encoded separately."""
_CACHE_SIZE: Final = 4096


def question_features(questions: Sequence[str]) -> Matrix:
    """Return the features of questions, (questions, 2 x width): the vectors of each question and of its first five words. Blocking."""
    import numpy as np

    encoder = load_encoder(MINILM)
    begins = [" ".join(question.split()[:_FIRST_WORDS]) for question in questions]
    return np.hstack([encoder.encode_documents(list(questions)), encoder.encode_documents(begins)])


def open_question_kind(question: str) -> QuestionKind:
    """Return the kind of an open question; empty for one that asks for a fact, or is not English. Blocking."""
    return _open_question_kind(" ".join(question.split())[-_MAX_QUESTION_CHARS:]) if is_english_question(question) else ""


_NOT_LISTED = {
    "how to": "it asks how something is done, and no steps were found that the embedded model can quote for that",
    "list": "it asks for a list, and no items were found that the embedded model can quote for that",
    "explain": "it asks for an explanation, and no sentences were found that the embedded model can quote for that",
}
"""Why nothing was quoted for an open question, by its kind."""


def why_unquoted(question: str) -> str:
    """Return why nothing was quoted for an open question; empty for other questions. Blocking."""
    kind = open_question_kind(question)
    return _NOT_LISTED[kind] if kind else ""


@lru_cache(maxsize=_CACHE_SIZE)
def _open_question_kind(question: str) -> QuestionKind:
    import numpy as np

    if not question or _ASKS_FOR_NUMBER.match(question):
        return ""
    weights, bias = _weights()
    scores = weights @ question_features([question])[0] + bias
    likely = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    return QUESTION_KINDS[1 + int(likely[1:].argmax())] if likely[1:].sum() >= MIN_OPEN_PROBABILITY else ""


@lru_cache(maxsize=1)
def _weights() -> tuple[Matrix, Matrix]:
    from safetensors.numpy import load_file

    with as_file(files(__package__) / KIND_WEIGHTS_FILE) as path:
        packed = load_file(verify_weights(path, KIND_WEIGHTS_SHA256, "the classifier of questions", _REMEDY))
    return packed["weight"], packed["bias"]
