"""Replies to the prompts that ask for questions: decompose, next_question, plan, contextualize."""

from collections.abc import Sequence

from ramify.tools.arithmetic.combine import brought_together
from ramify.tools.english import content, names_in, same_question
from ramify.tools.extractive.question_kinds import reads
from ramify.tools.extractive.slots import Reply, Slots
from ramify.tools.folded_text import fold
from ramify.tools.splitting import Split, rewrite, splits
from ramify.tools.unknown import is_unknown

SLOT = "{1}"
_EVEN = 0.5
_DEEPEST = 4
_PARTS_DEEPEST = 3
_QUERIES, _KEYWORDS = 4, 8


def chosen(question: str, dependent: bool = True, rejected: Sequence[str] = (), kept: str = "") -> Split | None:
    """Choose the likeliest way to split a question that may be used and was not tried, with the question that is to be kept in it.

    None where it rather asks for one fact.
    """
    found = splits(question)
    single = next((split.sure for split in found if split.how == "single"), 0.0)
    likelier = [split for split in found if split.how != "single" and single < _EVEN and _usable(split, question, dependent)]
    for split in likelier:
        keeps = not kept or any(fold(part) in fold(kept) for part in (split.first, split.second))
        if keeps and not _tried(split, rejected):
            return split
    return None


def _usable(split: Split, question: str, dependent: bool) -> bool:
    """Tell whether both parts can be asked: none is the question again, and the second waits for the first only where that is allowed."""
    again = any(same_question(part, question) for part in (split.first, split.second))
    return not again and bool(split.first and split.second) and (dependent or SLOT not in split.second)


def _tried(split: Split, rejected: Sequence[str]) -> bool:
    """Tell whether both questions were rejected; where the second builds on the first, some answer stands in it."""
    lines = [fold(line) for line in rejected]
    for part in (split.first, split.second):
        before, _, behind = (fold(piece) for piece in part.rstrip("? ").partition(SLOT))
        if not any(line.startswith(before) and behind in line for line in lines):
            return False
    return True


def split_question(slots: Slots) -> Reply:
    """Split a question into two, or say that it is simple; of a weak pair the better half is kept."""
    split = chosen(slots["question"], bool(slots["dependent"]), list(map(str, slots["rejected"])), str(slots["kept"]))
    if split is None:
        return {"simple": True, "first": "", "second": "", "together": ""}
    return {"simple": False, "first": split.first, "second": split.second, "together": split.how}


def next_question(slots: Slots) -> Reply:
    """Ask the first sub-question without an answer; done when there is none, or when one is Unknown."""
    question = slots["question"]
    asked = [(finding["question"], finding["answer"] or "") for finding in slots["history"]]
    split = chosen(question)
    together = split.how if split else ""
    following = None if any(is_unknown(told) for _, told in asked) else _next(question, asked, 0)
    if following is None or any(same_question(following, before) for before, _ in asked):
        return {"done": True, "question": "", "together": together}
    return {"done": False, "question": following, "together": together}


def _next(question: str, asked: Sequence[tuple[str, str]], depth: int) -> str | None:
    """Give the question to ask for this one; None where it is settled or cannot be."""
    if _settled(question, asked, depth):
        return None
    split = chosen(question) if depth < _DEEPEST else None
    if split is None:
        return question
    if (first := _next(split.first, asked, depth + 1)) is not None:
        return first
    told = _settled(split.first, asked, depth + 1)
    if SLOT in split.second and not told:
        return None
    return _next(split.second.replace(SLOT, told), asked, depth + 1)


def _settled(question: str, asked: Sequence[tuple[str, str]], depth: int) -> str:
    """Give the answer of a question, itself asked or brought together from its parts; empty where there is none."""
    told = next((answer for before, answer in asked if same_question(before, question)), None)
    split = chosen(question) if told is None and depth < _DEEPEST else None
    if split is None:
        return told or ""
    first = _settled(split.first, asked, depth + 1)
    if SLOT in split.second and not first:
        return ""
    questions = split.first, split.second.replace(SLOT, first)
    return brought_together(split.how, questions, (first, _settled(questions[1], asked, depth + 1)))


def plan(slots: Slots) -> Reply:
    """Plan a search: the question, its parts, its names."""
    question = slots["question"]
    names = names_in(question)
    queries = [part for part in dict.fromkeys((*_parts(question, 0), *names)) if not same_question(part, question)]
    keywords = [*names, *sorted(content(question) - content(" ".join(names)))]
    return {"primary": question, "sub_queries": queries[:_QUERIES], "keywords": keywords[:_KEYWORDS], "expected": []}


def _parts(question: str, depth: int) -> list[str]:
    split = chosen(question) if depth < _PARTS_DEEPEST else None
    if split is None:
        return [question]
    if SLOT not in split.second:
        return [*_parts(split.first, depth + 1), *_parts(split.second, depth + 1)]
    return [*_parts(split.first, depth + 1), " ".join(split.second.replace(SLOT, "").split())]


def contextualize(slots: Slots) -> Reply:
    """Write a follow-up so that it stands alone; what was answered is told only where that was sure."""
    question, turns = slots["question"], slots["turns"]
    if not turns or not reads(question):
        return {"question": question}
    sure = [turn["sure"] and not is_unknown(str(turn["answer"])) for turn in turns]
    lines = [line for turn, told in zip(turns, sure, strict=True) for line in (turn["asked"], turn["answer"])[: 1 + told]]
    return {"question": rewrite(question, lines)}
