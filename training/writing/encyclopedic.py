"""Questions of 2WikiMultihopQA, taken apart by the facts that they rest on."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from training.writing.data_folders import folder as load
from training.writing.kin import KIN
from training.writing.phrases import asked
from training.writing.question_words import ask, fold
from training.writing.style import one, two
from training.writing.written import Written

_EACH: Final = {
    "date of birth": "When was {s} born?",
    "date of death": "When did {s} die?",
    "publication date": "When was {s} released?",
    "place of birth": "Where was {s} born?",
    "country": "In which country is {s} located?",
    "country of origin": "Which country is {s} from?",
    "inception": "When was {s} founded?",
    "country of citizenship": "Which country is {s} from?",
}
_ROLES: Final = (
    "director|performer|composer|author|producer|founder|screenwriter|editor|creator|publisher|father|mother|"
    "husband|wife|spouse|child|son|daughter"
)
_KINDS: Final = "film|song|album|book|company|movie|magazine"


def encyclopedic(data: Path) -> Iterator[Written]:
    """Give the questions of the folder, each with the questions inside it."""
    for item in load(data / "2wikimultihopqa_train").questions:
        question = re.sub(r"\s+('s)\b", r"\1", re.sub(r"\s+", " ", item["question"])).strip()
        yield from (_compared if "comparison" in item["type"] else _bridged)(item, question)


def _compared(item: dict[str, Any], question: str) -> Iterator[Written]:
    subjects = [fact[0] for fact in item["evidences"][:2]]
    named = sorted((spot for subject in subjects if (spot := _spot(subject, question))), key=lambda spot: spot[0])
    if len(named) != 2 or named[0][1] > named[1][0]:
        return
    fact, role = item["evidences"][-1], item["evidences"][0][1] if len(item["evidences"]) == 4 else ""
    each = _EACH.get(fact[1], "")
    if fact[1] == "country of citizenship" and "nationalit" in question:
        each = "What is the nationality of {s}?"
    if fact[1] == "publication date" and re.search(r"\bc[oa]me out\b", question):
        each = "When did {s} come out?"
    how = _how(item, question, subjects)
    if not each or not how:
        return
    who = f"the {role} of {{s}}" if role else "{s}"
    names = [question[start:end] for start, end in named]
    steps = [each.replace("{s}", who).replace("{s}", name) for name in names]
    yield two(question, steps[0], steps[1], "wiki", fold(names[0]), how)
    for name, step in zip(names, steps, strict=True):
        if role:
            yield two(step, f"Who is the {role} of {name}", each.replace("{s}", "{1}"), "wiki_inner", fold(name))
            yield one(ask(f"Who is the {role} of {name}"), "wiki_hop", fold(name))


def _spot(subject: str, question: str) -> tuple[int, int] | None:
    """Find a name in a question, with what stands in brackets after it."""
    bare = re.sub(r"\s*\(.*$", "", subject)
    found = re.search(rf"(?<!\w){re.escape(bare)}(?!\w)(?: \([^)]*\))?", question, re.IGNORECASE)
    if not found:
        return None
    titled = re.search(
        r"(?<=\w )(?:(?:Arch)?(?:Duke|Duchess|duke|duchess)|King|Queen|Prince|Princess|Emperor|Empress|Sultan) $", question[: found.start()]
    )
    return titled.start() if titled else found.start(), found.end()


def _how(item: dict[str, Any], question: str, subjects: list[str]) -> str | None:
    """Tell how the facts make the answer: by the facts, and by the words of the question where the facts do not say."""
    first, second = (re.findall(r"\b\d{3,4}\b", fact[2]) for fact in item["evidences"][-2:])
    if fold(item["answer"]) in ("yes", "no"):
        return "differ" if "different" in question else "same"
    lowered = question.casefold()
    if not re.search(r"\b(?:first|earlier|older|later|younger|last|recently)\b", lowered) or not first or not second:
        return None
    worded = "later" if re.search(r"\b(?:later|younger|last|recently)\b", lowered) else "earlier"
    chosen = [fold(re.sub(r"\s*\(.*$", "", subject)) == fold(re.sub(r"\s*\(.*$", "", item["answer"])) for subject in subjects]
    ordered = [fact[0] for fact in item["evidences"][-2:]]
    if int(first[-1]) == int(second[-1]) or sum(chosen) != 1 or (len(item["evidences"]) == 4 and item["evidences"][0][2] != ordered[0]):
        return worded
    told = "earlier" if (int(first[-1]) < int(second[-1])) == chosen[0] else "later"
    return told if told == worded else None


def _bridged(item: dict[str, Any], question: str) -> Iterator[Written]:
    subject = item["evidences"][0][0]
    group = fold(subject)
    kin = re.fullmatch(r"Who (?:is|was) (?:the (?P<one>[\w -]+?) of (?P<of>.+)|(?P<own>.+)'s (?P<two>[\w-]+(?: [\w-]+)?))\?", question)
    word = kin and (kin["one"] or kin["two"])
    if kin and word in KIN:
        first, second = KIN[word]
        yield two(question, f"Who is the {first} of {kin['of'] or kin['own']}", f"Who is the {second} of {{1}}", "wiki", group)
        return
    spot = _spot(subject, question)
    found = spot and _phrase(question, spot)
    if not found:
        return
    begin, end = found
    phrase = question[begin:end]
    first = asked(phrase if phrase.startswith("the ") or "'s " in phrase else f"the {phrase}")
    yield two(question, first, question[:begin] + "{1}" + question[end:], "wiki", group)
    yield one(first, "wiki_hop", group)


def _phrase(question: str, spot: tuple[int, int]) -> tuple[int, int] | None:
    """Find the phrase around a name that leads on from it."""
    role = rf"(?:{_ROLES}) of (?:the )?(?:(?:{_KINDS}) )?"
    maker = rf"company that (?:published|produced|distributed) (?:the )?(?:(?:{_KINDS}) )?"
    before = re.search(rf"(?:the )?(?:{role}|{maker})$", question[: spot[0]])
    if before:
        return before.start(), spot[1]
    own = re.match(rf"'s? (?:{_ROLES})\b", question[spot[1] :])
    return (spot[0], spot[1] + own.end()) if own else None
