"""Decomposed questions that compare two things, and those for what two conditions hold of: each asked for by itself."""

import re
from typing import Final

from plugins.embedded.training.writing.aligned import heavy, place
from plugins.embedded.training.writing.phrases import AUXILIARIES, PEOPLE, PRESENT, asked, head, opens
from plugins.embedded.training.writing.written import ask, words

_LATER = r"younger|youngest|later|latest|last|newer|newest|most recently|more recently|more recent|more currently"
_EARLIER = r"first|earlier|earliest|older|oldest|before|prior|elder"
_LESS = r"fewer|fewest|less|least|smaller|smallest|shorter|shortest|lower|lowest|closer|nearer"
_MORE = (
    r"more|most|larger|largest|bigger|biggest|longer|longest|higher|highest|taller|tallest|greater|greatest|farther|"
    r"further|older|oldest|heavier|deeper"
)
_DATE: Final = re.compile(r"(?:when|what year|which year|in what year|on what date|what date|the year|the date)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(?:how|what is the (?:number|size|height|length|population|area)|the number)\b", re.IGNORECASE)
_POLAR: Final = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will)\b", re.IGNORECASE)

_BORN: Final = {"more": "earlier", "less": "later"}
"""Who is older was born earlier: a year of birth stands in more texts than an age."""
_FINITE = re.compile(r"\b(?:is|are|was|were|do|does|did|has|have)\b")


def contrasted(question: str, steps: list[str], operators: list[str]) -> tuple[str, str, str] | None:
    """Give how two things are compared and the two questions, identical but for the things."""
    branches = _branches(steps, operators)
    if not branches:
        return None
    pair = _questions(branches[0], branches[1], question)
    if not pair:
        return None
    how = _how(question, pair[0], operators, steps[-1])
    if how in _BORN and all(step.startswith("How old is ") for step in pair):
        first, second = (ask(f"When was {step[11:].rstrip('?')} born") for step in pair)
        return _BORN[how], first, second
    return (how, *pair) if how else None


def _branches(steps: list[str], operators: list[str]) -> tuple[str, str] | None:
    if len(steps) == 3 and not any("#" in step for step in steps[:2]) and steps[2].count("#") == 2:
        return steps[0], steps[1]
    if (
        len(steps) == 5
        and operators[2:4] == ["aggregate", "aggregate"]
        and "number" in steps[2]
        and not any("#" in step for step in steps[:2])
    ):
        return f"how many {steps[0]}", f"how many {steps[1]}"
    return None


def _questions(one: str, other: str, question: str) -> tuple[str, str] | None:
    left, right = one.split(), other.split()
    lead = next(
        (at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a.casefold() != b.casefold()), min(len(left), len(right))
    )
    tail = 0
    while tail < min(len(left), len(right)) - lead and left[-1 - tail].casefold() == right[-1 - tail].casefold():
        tail += 1
    names = [_name(" ".join(side[lead : len(side) - tail]), question) for side in (left, right)]
    if not names[0] or not names[1] or names[0].casefold() == names[1].casefold():
        return None
    frame = _frame(" ".join(left[:lead]), " ".join(left[len(left) - tail :] if tail else []))
    if not frame or _broken(frame, question):
        return None
    first, second = (ask(re.sub(r"\bthe the\b", "the", frame.replace("{s}", name), flags=re.IGNORECASE)) for name in names)
    return first, second


def _broken(frame: str, question: str) -> bool:
    """Tell whether a frame has an auxiliary with a form of the verb that it does not take."""
    if re.search(
        r"\bwas\b.*\bwas\b|\bis\b.*\bis\b|^how (?:farther|more|longer|older|further)\b|^when (?:the|\{s\})|\ba [aeiou]",
        frame,
        re.IGNORECASE,
    ):
        return True
    if not frame.endswith("{s}") and not any(word in AUXILIARIES for word in words(frame)):
        return True
    if re.fullmatch(r"(?:when|what|where|who) (?:is|was|were|are)(?: the)?(?: \w+)? \{s\}", frame):
        return True
    if re.search(r"\bdid \{s\}.* (?:came|went|was|were|\w+ed)\b", frame):
        return True
    asked = set(words(question))
    return bool(re.match(r"(?:is|was|are|were)\b", frame)) and any(
        word + "s" in asked and not word.endswith("s") for word in words(frame.split("{s}")[-1])[:3]
    )


def _name(text: str, question: str) -> str:
    """Give a name as the question writes it."""
    span = place(text, question)
    if not span:
        return ""
    name = question[span[0] : span[1]]
    ending = re.match(r"[!?.)]", question[span[1] : span[1] + 1])
    return name + (")" if ending and ending[0] == ")" and "(" in name else "")


def _frame(before: str, after: str) -> str | None:
    """Write what two branches have in common as a question about `{s}`."""
    frame = f"{before} {{s}} {after}".strip()
    frame = re.sub(r"^(?:if|whether)\s+", "", frame)
    match = re.fullmatch(r"when \{s\} (is|was|were) (.+)", frame)
    if match:
        return f"when {match[1]} {{s}} {match[2]}"
    frame = re.sub(r"^when (.*\{s\}) died$", r"when did \1 die", frame)
    frame = re.sub(r"^when (?!did)(.*\{s\}) came out$", r"when did \1 come out", frame)
    frame = re.sub(
        r"^(how many [\w ]+?) in (.*\{s\}.*)$", lambda many: frame if _FINITE.search(many[1]) else f"{many[1]} are in {many[2]}", frame
    )
    match = re.fullmatch(r"((?:the )?[\w\s]*)\{s\} (is|was|are|were|has|have|had|can|does|did) (.+)", frame)
    if match and not match[1].strip().startswith(("when", "how", "what", "who", "where", "which", "in")):
        return f"{match[2]} {match[1]}{{s}} {match[3]}" if match[2] in ("is", "was", "are", "were", "can") else None
    if re.match(r"(?:when|how|what|who|where|which|in|on|is|was|are|were|does|did|do|has|have|can)\b", frame):
        return (
            frame
            if not frame.startswith("how many")
            or (" that {s}" not in frame and re.search(r"\b(?:does|did|are|is|in|has|have|were)\b", frame))
            else None
        )
    match = re.fullmatch(r"(?:the )?([\w\s-]+) of \{s\}( .+)?", frame)
    return f"what {'are' if match[1].split()[-1].endswith('s') else 'is'} the {match[1]} of {{s}}{match[2] or ''}" if match else None


def _how(question: str, first: str, operators: list[str], last: str) -> str | None:
    lowered = question.casefold()
    polar = bool(_POLAR.match(question)) and " or " not in lowered
    if operators[-1] == "intersection":
        return None if _POLAR.match(first) else "agree"
    if _POLAR.match(first):
        if operators[-1] == "boolean" and "both" in last:
            return "both"
        if operators[-1] == "boolean" and ("either" in last or "one" in words(last)):
            return "either"
        return "which" if operators[-1] == "comparison" and "true" in last else None
    if operators[-1] == "boolean" and re.search(r"\bsame|equal\b", last):
        return "differ" if "different" in lowered else "same"
    if operators[-1] not in ("comparison", "boolean", "None", None):
        return None
    return _ordered(lowered, first, polar)


def _ordered(lowered: str, first: str, polar: bool) -> str | None:
    dated = bool(_DATE.match(first))
    if not dated and not _NUMBER.match(first):
        return None
    after, before = (_LATER, _EARLIER) if dated else (_MORE, _LESS)
    if "how old" in first.casefold():
        after, before = r"older|oldest|elder", r"younger|youngest"
    up, down = (bool(re.search(rf"\b(?:{pattern})\b", lowered)) for pattern in (after, before))
    if dated and up and down:
        up = bool(re.search(r"\b(?:younger|later|more recent\w*)\b", lowered))
        down = not up
    if up == down and not polar:
        return None
    if polar:
        return None if up == down else ("after" if up else "before") if dated else "exceeds" if up else None
    return ("later" if dated else "more") if up else ("earlier" if dated else "less")


_RELATES = re.compile(r"\b(?:of|who|that|which|where|by|from|in|with|on|\w{3,}ed|born)\b")
"""A bare class of things ("EU countries") is no question of its own."""
_NAMED = re.compile(r"(?<!^)\b(?:[A-Z][\w'-]+|\d{2,})")


def filtered(question: str, steps: list[str]) -> tuple[str, str] | None:
    """Give the questions for what is chosen from and for what it is chosen by, where both name something."""
    chosen, condition = steps
    match = re.fullmatch(r"#1 (?:that|who|which) (.+)", condition)
    if (
        not match
        or "#" in match[1]
        or not _NAMED.search(" " + chosen)
        or not _NAMED.search(" " + match[1])
        or not opens(match[1].split()[0].casefold())
    ):
        return None
    if not _RELATES.search(chosen):
        return None
    predicate = place(match[1], question)
    where = place(chosen, question)
    if not predicate or not where or (where[0] < predicate[1] and predicate[0] < where[1]):
        return None
    noun = head(chosen)
    named = question[where[0] : where[1]]
    if heavy(named)[0] != heavy(chosen)[0] or _finite(named):
        return None
    clause = question[predicate[0] : predicate[1]]
    verb = match[1].split()[0]
    if not clause.casefold().startswith(verb.casefold()):
        close = re.search(rf"\b{re.escape(verb)}\b[\w ]{{0,12}}$", question[: predicate[0]], re.IGNORECASE)
        clause = question[close.start() : predicate[1]] if close else clause
    clause = clause if clause.casefold().startswith(verb.casefold()) else f"{verb} {clause}"
    plural = verb in ("have", "are", "were", "do")
    if not opens(clause.split()[0].casefold()) or verb in clause.split()[1:]:
        return None
    second = f"Who {clause}" if noun in PEOPLE else f"Which {noun if plural else _singular(noun)} {clause}"
    return asked("the " + re.sub(r"^(?:the|an?) ", "", named)), ask(second)


def _finite(phrase: str) -> bool:
    opening = re.split(r"\b(?:who|that|which|where)\b", phrase)[0]
    tokens = words(opening)
    return opens(tokens[0]) or any(word in AUXILIARIES or word in PRESENT for word in tokens[1:])


def _singular(noun: str) -> str:
    return re.sub(r"(?<=[^s])s$", "", re.sub(r"ies$", "y", noun))
