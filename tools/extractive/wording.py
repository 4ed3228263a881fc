"""Put a description as a question of its own."""

import re

from ramify.tools.extractive.grammar import VERBS, base_form, is_person_noun
from ramify.tools.extractive.text import word_set

_NO_VERB = word_set("the a an he she it they his her its their there this")
_IRREGULAR = "won|wrote|made|took|led|left|built|came|went|got|taught|grew"
_PAST = re.compile(rf"\b(?:{VERBS}|[a-z]{{2,}}ed|{_IRREGULAR}|became|ran|stood|[a-z]{{2,}}[^s\W]s)\b")
_BE = re.compile(rf"^(?P<who>.+?) (?P<be>was|were|is|are) (?P<verb>(?:{VERBS}|[a-z]+ed|buried|held|built|made)\b.*)$")
_DID = re.compile(rf"^(?P<who>(?:(?:the|a|an) )?\S.*?) (?P<verb>[a-z]+ed|{_IRREGULAR})\b(?P<rest>.*)$")


def ask_for(head: str, marker: str, complement: str) -> str:
    """Put `the city where X died` as `In which city did X die`, any other description as `Who is …` or `What is …`."""
    word = complement.split()[0] if complement.split() else ""
    if marker in ("that", "who", "which") and word[:1].islower() and word not in _NO_VERB:
        return f"Which {head} {complement}"
    if head == "birthplace" or (marker == "of" and head.startswith("native ")):
        return f"Where was {complement} born"
    if head == "deathplace":
        return f"Where did {complement} die"
    preposition = "in" if marker == "where" else marker.split()[0] if marker.endswith((" which", " whom")) else ""
    return (_situated(head, preposition, complement) if preposition else "") or (
        f"{'Who' if is_person_noun(head) else 'What'} is the {head} {marker} {complement}"
    )


def _situated(head: str, preposition: str, complement: str) -> str:
    """Ask where something was or happened; empty where the clause has no plain verb."""
    asked = f"{preposition.capitalize()} which {head}"
    if found := _BE.match(complement):
        return f"{asked} {found['be']} {found['who']} {found['verb']}"
    if found := _DID.match(complement):
        return f"{asked} did {found['who']} {base_form(found['verb'])}{found['rest']}"
    return ""


def has_verb(clause: str) -> bool:
    """Tell whether a clause says something, be it of what stands before it."""
    return _PAST.search(clause) is not None


def ask_owned(owner: str, thing: str) -> str:
    """Put a possession as a question."""
    if thing == "birthplace":
        return f"Where was {owner} born"
    return f"{'Who' if is_person_noun(thing) else 'What'} is {owner}'s {thing}"
