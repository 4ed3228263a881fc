"""Follow-ups as people rewrote them so that they stand alone."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from training.example import seeded
from training.writing.data_folders import folder as load
from training.writing.question_words import fold, recased, words
from training.writing.single import group_of, leans, plainly_single
from training.writing.written import Written

_LINES: Final = 6
_BEFORE: Final = 3
_CHARACTERS: Final = 1200
_MOST: Final = {"gecor_camrest": 1000, "disflqa": 1500, "kvret_cqr": 700}
_FOLDERS: Final = ("canard_dev", "cast_ikat_rewrites", "mtrag_rewrites", "gecor_camrest", "kvret_cqr", "followup_nlidb", "disflqa")

_QUESTION = re.compile(r"(?:who|what|which|when|where|why|how|is|are|was|were|does|did|do)\b", re.IGNORECASE)
_OF_ARTICLE = re.compile(r"\b(?:article|interesting|anything else|something else)\b", re.IGNORECASE)


def rewrites(data: Path) -> Iterator[Written]:
    """Give the follow-ups of every folder that has some."""
    for name in _FOLDERS:
        items = [item for item in load(data / name).questions if item["metadata"].get("year", 0) < 2023]
        items = seeded("rewrites", name).sample(items, min(len(items), _MOST.get(name, len(items))))
        for item in items:
            written = _rewrite(data, name, item)
            if written and _covered(written):
                yield written


def _rewrite(data: Path, name: str, item: dict[str, Any]) -> Written | None:
    turns = [re.sub(r"\s+", " ", turn).strip() for turn in item["metadata"]["history"]]
    question = re.sub(r"\s+", " ", item["question"]).strip()
    if not question or not item["answer"] or len(question) > 400 or (name == "canard_dev" and _OF_ARTICLE.search(question)):
        return None
    titles, turns = (turns[:2], turns[2:]) if name == "canard_dev" else ([], turns)
    rng = seeded("rewrite", item["id"])
    needed = set(words(item["answer"])) & set(words(" ".join(titles))) - set(words(" ".join([*turns[-_LINES:], question])))
    shown = [] if not needed and rng.random() < 0.7 else titles
    history = "\n".join([*shown, *shortened(turns, _LINES - len(shown))])
    answer = recased(_tidy(item["answer"]), [question, history])
    if not history and name != "disflqa" and fold(answer) != fold(question):
        return None
    return Written(name, _group(data, name, item), question, history, "rewrite", (answer,))


def shortened(turns: list[str], lines: int) -> list[str]:
    """Keep the last turns, and of long ones the beginning."""
    kept: list[str] = []
    left = _CHARACTERS
    for turn in reversed(turns[-lines:]):
        cut = turn if len(turn) <= 350 else turn[:350].rsplit(" ", 1)[0]
        if len(cut) > left:
            break
        left -= len(cut)
        kept.insert(0, cut)
    return kept


def _tidy(answer: str) -> str:
    text = re.sub(r"\s+([?.!,;:])", r"\1", re.sub(r"\s+", " ", answer)).strip()
    text = re.sub(r"[.,]\?$", "?", text[:1].upper() + text[1:])
    return text.rstrip(". ") + "?" if _QUESTION.match(text) and not text.endswith("?") else text


def _group(data: Path, name: str, item: dict[str, Any]) -> str:
    if name == "canard_dev":
        return fold(item["metadata"]["history"][0])
    if name == "disflqa":
        return _squad_titles(data).get(item["metadata"]["squad_id"]) or fold(item["answer"])
    if item["metadata"].get("topic"):
        return fold(str(item["metadata"]["topic"]))
    return fold((item["metadata"]["history"] or [item["question"]])[0])


@lru_cache(maxsize=1)
def _squad_titles(data: Path) -> dict[str, str]:
    folder = load(data / "squad_dev")
    return {item["id"]: group_of(folder, item) for item in folder.questions}


def _covered(written: Written) -> bool:
    """Tell whether a rewrite is made of words that were said, but for a few."""
    said = set(words(written.question)) | set(words(written.history))
    told = words(written.steps[0])
    missing = [word for word in told if word not in said]
    return 3 <= len(told) <= 45 and len(missing) <= max(2, 0.25 * len(told))


def unchanged(data: Path, count: int) -> Iterator[Written]:
    """Put questions that stand alone after a history that they have nothing to do with: they stay as they are."""
    folders = [load(data / name) for name in ("squad_dev", "squadshifts", "nq_oracle_dev", "tatqa_text")]
    pools = [[(folder, item) for item in folder.questions if item["answer"] and _alone(item["question"])] for folder in folders]
    technical = [(load(data / "techdocs_faq"), item) for item in load(data / "techdocs_faq").questions if _alone(item["question"])]
    full = [some for some in pools if len(some) > _BEFORE]
    for number in range(count if full else 0):
        rng = seeded("unchanged", number)
        folder, item = rng.choice(rng.choice([*full, *([technical] if technical else [])]))
        group = group_of(folder, item)
        before = [other for _, other in rng.sample(rng.choice(full), rng.randint(1, _BEFORE))]
        turns = [line for other in before for line in (other["question"], str(other["answer"]))]
        question = re.sub(r"\s+", " ", item["question"]).strip()
        yield Written("unchanged", group, question, "\n".join(shortened(turns, _LINES)), "rewrite", (_asked(question),))


def _asked(question: str) -> str:
    return question[:1].upper() + question[1:].rstrip("?. ") + "?"


def _alone(question: str) -> bool:
    return plainly_single(question) and not leans(question) and len(question.split()) >= 5
