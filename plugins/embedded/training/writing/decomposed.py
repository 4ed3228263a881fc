"""Questions that people took apart (QDMR): steps as noun phrases, made into questions with the words of the question itself."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from plugins.embedded.training.example import seeded_random
from plugins.embedded.training.source import load_data_folder
from plugins.embedded.training.writing.aligned import heavy, place
from plugins.embedded.training.writing.contrasted import contrasted, filtered
from plugins.embedded.training.writing.phrases import AUXILIARIES, BE, PREPOSITIONS, PRESENT, asked, base, opens, past
from plugins.embedded.training.writing.single import plainly_single
from plugins.embedded.training.writing.written import Written, ask, fold, one, several, two, words

_REFERENCE = re.compile(r"#(\d+)")
_DULL: Final = frozenset(several("name names title date dates year years time number amount type kind size first lowest highest last"))
_WH = re.compile(
    r"\b(?:who|whom|whose|what|which|when|where|why|how|name|list|find|show|give|tell|is|are|was|were|does|did|do|in|on|for|at|to|from|by)\b",
    re.IGNORECASE,
)
_RELATES = re.compile(r"\b(?:of|who|that|which|whose|where|by|from|\w{3,}ed)\b|['’]s\b")
_MOST: Final = {"break_dev": 5000, "break_dev_lowlevel": 350}


def decomposed(data: Path) -> Iterator[Written]:
    """Give the questions of every folder with steps that fit cleanly, and the questions inside them."""
    for name, most in _MOST.items():
        items = [
            item
            for item in load_data_folder(data / name).questions
            if item["metadata"].get("text_question", True) and item["type"] not in ("atis", "spider")
        ]
        count = 0
        for item in seeded_random("decomposed", name).sample(items, len(items)):
            made = list(_split(item, name.removesuffix("_dev")))
            count += bool(made)
            yield from made if count <= most else ()


def _split(item: dict[str, Any], source: str) -> Iterator[Written]:
    steps = [cleaned(re.sub(r"^return\s+", "", step["question"])) for step in item["decomposition"]["steps"]]
    operators = item["decomposition"].get("operators") or [""] * len(steps)
    question = cleaned(item["question"])
    if not 4 <= len(question.split()) <= 45:
        return
    if pair := contrasted(question, steps, operators):
        yield two(question, pair[1], pair[2], source, fold(question), pair[0])
        return
    yield from _nested(question, steps, operators, source, fold(question))


def cleaned(question: str) -> str:
    """Put signs where they belong."""
    text = re.sub(r"\s+", " ", question)
    text = re.sub(r"\s+([?.,!;:'’)])", r"\1", re.sub(r"\(\s+", "(", text))
    return re.sub(r"\b(ca|do|does|did|was|is) n't", r"\1n't", text).strip()


def _nested(question: str, steps: list[str], operators: list[str], source: str, group: str) -> Iterator[Written]:
    """Split off the last step, then go on with what it rests on."""
    last, operator = steps[-1], operators[-1]
    named = [int(number) for number in _REFERENCE.findall(last)]
    if len(steps) == 1 or (all(_bare(step) or step == last for step in steps) and operator == "project"):
        if plainly_single(question):
            yield one(ask(question), source, group)
        return
    if operator == "project" and len(set(named)) == 1 and named[0] == len(steps) - 1:
        rest = set(words(_REFERENCE.sub("", last))) - set(words("the a an of in is was are were return"))
        if rest <= _DULL:
            yield from _nested(question, steps[:-1], operators[:-1], source, group)
            return
        yield from _bridge(question, named[0], steps, operators, source, group)
    elif operator == "filter" and len(set(named)) == 2 and _bare(steps[named[0] - 1]) is False:
        yield from _bridge(question, named[1], steps, operators, source, group)
    elif operator == "filter" and len(steps) == 2 and (pair := filtered(question, steps)):
        yield two(question, pair[0], pair[1], source, group, "agree")


def _bridge(question: str, number: int, steps: list[str], operators: list[str], source: str, group: str) -> Iterator[Written]:
    inner = expanded(steps[number - 1], steps)
    span = place(inner, question)
    if _bare(inner):
        if _bare(steps[number - 1]) and plainly_single(question) and len(steps) <= 3:
            yield one(ask(question), source, group)
        return
    if not span:
        return
    begin, end = quoted(question, *span)
    if not _RELATES.search(question[begin:end]) or source.startswith("break_dev_lowlevel"):
        return
    first, second = first_of(question[begin:end], inner), question[:begin] + "{1}" + question[end:]
    second = second.replace("{1},", "{1}") if "," in question[begin:end] else second
    if not first or not asks(second):
        return
    yield two(question, first, second, source, group)
    yield from _nested(first, steps[:number], operators[:number], source + "_inner", group)


def expanded(step: str, steps: list[str]) -> str:
    """Write out what a step refers to."""
    for _ in range(6):
        step = _REFERENCE.sub(lambda match: steps[int(match[1]) - 1] if int(match[1]) <= len(steps) else "", step)
    return step


def quoted(question: str, begin: int, end: int) -> tuple[int, int]:
    """Take in the sign that closes what a phrase opens."""
    phrase, after = question[begin:end], question[end : end + 1]
    closes = {
        '"': phrase.count('"') % 2 == 1,
        ")": phrase.count("(") > phrase.count(")"),
        ".": bool(re.search(r"\b(?:[A-Z]|Jr|Sr)$", phrase)),
    }
    hanging = re.match(rf",? (?P<word>\w+)(?=,|[?.]|$| (?:{'|'.join(sorted(AUXILIARIES))}|\w+ed|\w+s)\b)", question[end:])
    if hanging and hanging["word"] in PREPOSITIONS and re.search(r"\b(?:who|that|which|[A-Z]\w+ \w+)\b", phrase):
        return begin, end + hanging.end()
    return begin, end + (1 if closes.get(after) else 0)


def first_of(phrase: str, step: str) -> str | None:
    """Ask for a noun phrase out of a question; None where it does not read as one."""
    bare = phrase.strip(" ,'")
    if bare.count('"') % 2 or bare.count("(") != bare.count(")") or len(heavy(bare)) < 2:
        return None
    if re.match(r"(?:who|what|which|when|where|whose|how|that)\b", bare, re.IGNORECASE):
        return None
    genitive = re.search(r"['’]s [\w\s-]+$", bare)
    if not genitive and heavy(bare)[0] != heavy(step)[0]:
        return None
    if not re.match(r"(?:the|a|an)\b", bare, re.IGNORECASE) and not genitive:
        bare = "the " + bare
    opening = re.split(r"\b(?:who|that|which|whose|where|whom)\b", bare)[0]
    if re.search(r" and \w+ed\b", opening) or any(word in AUXILIARIES or word in PRESENT for word in words(opening)[2:]):
        return None
    return asked(bare[0].casefold() + bare[1:] if re.match("(?:The|An?) ", bare) else bare)


def asks(second: str) -> bool:
    """Tell whether what is left of a question still asks for something about the thing."""
    left = second.replace("{1}", "")
    match = re.search(r"(?:^|(?P<before>[\w,]+)\s+)\{1\}(?P<own>['’]s)?(?:\s+(?P<after>[\w]+))?", second)
    if not match or not _WH.search(left) or not heavy(left) or ";" in second:
        return False
    before, after = (match["before"] or "").casefold(), (match["after"] or "").casefold()
    light = PREPOSITIONS | AUXILIARIES | {"and", "or", "than", "that", "which", "who", "what", "where", "when", ""}
    bound = before in AUXILIARIES and before not in BE
    ready = before in light or opens(before) or base(before) or before.endswith(("ing", ","))
    return ready and (bool(match["own"]) or after in light or opens(after) or bound or base(after) or (before in BE and bool(past(after))))


def _bare(step: str) -> bool:
    """Tell whether a step merely names something or a class of things."""
    return len(heavy(step)) <= 4 and not re.search(r"\b(?:of|that|who|which|whose|where|in|by|from|for|with|on|at|to)\b|'s\b|#", step)
