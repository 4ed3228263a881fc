"""Questions of MuSiQue and FanOutQA with the steps that their makers gave, and of 2WikiMultihopQA, taken apart by their facts."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from plugins.embedded.training.relations import WORDINGS
from plugins.embedded.training.source import load_data_folder
from plugins.embedded.training.writing.aligned import heavy, place
from plugins.embedded.training.writing.chains import KIN
from plugins.embedded.training.writing.decomposed import asks, first_of
from plugins.embedded.training.writing.phrases import asked
from plugins.embedded.training.writing.written import Written, ask, fold, one, two, words

_LONGEST: Final = 40


def linked(data: Path) -> Iterator[Written]:
    """Give the questions of MuSiQue: the last hop apart from what it rests on, and so on inwards."""
    for item in load_data_folder(data / "musique_train").questions:
        hops = [natural(step["question"]) for step in item["decomposition"]["steps"]]
        yield from _peeled(item["question"], hops, "musique", fold(item["decomposition"]["steps"][0]["title"]))


def natural(hop: str) -> str:
    """Write a hop as a question."""
    subject, arrow, relation = hop.partition(" >> ")
    if not arrow:
        return ask(re.sub(r"(#\d) (?=['?])", r"\1", hop))
    wordings = [wording for wording in WORDINGS.get(relation.strip(), ()) if ">>" not in wording]
    return wordings[0].replace("{s}", subject.strip()) if wordings else ask(f"What is the {relation.strip()} of {subject.strip()}")


def _peeled(question: str, hops: list[str], source: str, group: str) -> Iterator[Written]:
    if len(hops) == 1:
        if "#" not in hops[0]:
            yield one(ask(question), source + "_hop", group)
        return
    if set(re.findall(r"#\d", hops[-1])) != {f"#{len(hops) - 1}"}:
        return
    span = _nested(question, hops[-1])
    if span and (doubled := re.search(r"\w+ed located$|born located$", question[span[0] : span[1]])):
        span = span[0], span[0] + doubled.end() - len(" located")
    phrase = span and question[span[0] : span[1]].strip(" ,")
    if not span or not phrase or len(heavy(phrase)) < 2 or not re.match(r"(?:the|an?|\w+'s) ", phrase):
        return
    first = asked(phrase)
    second = question[: span[0]] + "{1}" + question[span[1] :]
    yield two(question, first, second, source, group)
    yield from _peeled(first, hops[:-1], source + "_inner", group)


def _nested(question: str, hop: str) -> tuple[int, int] | None:
    """Find what stands in a question where the last hop has its reference: the words around it are the same."""
    before, after = (words(side) for side in re.split(r"#\d", hop, maxsplit=1))
    spots = [(match.start(), match.end(), match[0].casefold()) for match in re.finditer(r"\w+", question)]
    tokens = [word for _, _, word in spots]
    head = next((at for at in range(len(before), -1, -1) if tokens[:at] == before[:at]), 0)
    tail = next((at for at in range(len(after), -1, -1) if not at or tokens[-at:] == after[-at:]), 0)
    if len(before) - head > 0 or len(after) - tail > 0 or head + tail < 2 or len(tokens) - head - tail < 3:
        return None
    return spots[head][0], spots[len(spots) - tail - 1][1]


def fanned(data: Path) -> Iterator[Written]:
    """Give the questions of FanOutQA whose first step stands in them as a phrase."""
    for item in load_data_folder(data / "fanoutqa_dev").questions:
        question, steps = item["question"], item["decomposition"]["steps"]
        span = place(steps[0]["question"], question)
        if not span or len(question.split()) > _LONGEST:
            continue
        first = first_of(question[span[0] : span[1]], steps[0]["question"])
        second = question[: span[0]] + "{1}" + question[span[1] :]
        if first and asks(second):
            yield two(question, first, second, "fanout", fold(question))


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
    for item in load_data_folder(data / "2wikimultihopqa_train").questions:
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
    match = re.search(rf"(?<!\w){re.escape(bare)}(?!\w)(?: \([^)]*\))?", question, re.IGNORECASE)
    if not match:
        return None
    titled = re.search(
        r"(?<=\w )(?:(?:Arch)?(?:Duke|Duchess|duke|duchess)|King|Queen|Prince|Princess|Emperor|Empress|Sultan) $", question[: match.start()]
    )
    return titled.start() if titled else match.start(), match.end()


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
    by_facts = "earlier" if (int(first[-1]) < int(second[-1])) == chosen[0] else "later"
    return by_facts if by_facts == worded else None


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
    span = spot and _phrase(question, spot)
    if not span:
        return
    begin, end = span
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
