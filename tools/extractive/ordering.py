"""Split questions that order two things: which came first, who is older, which is longer."""

import re

from ramify.tools.extractive.grammar import ROLES, base_form, is_person_noun
from ramify.tools.extractive.split import How, Split

_WORDS: dict[str, How] = {
    **dict.fromkeys(("first", "earlier", "earliest", "older", "oldest", "elder", "eldest", "sooner"), "earlier"),
    **dict.fromkeys(
        ("later", "last", "latest", "younger", "youngest", "newer", "newest", "more recently", "most recently", "more recent"), "later"
    ),
    **dict.fromkeys(
        ("longer", "longest", "larger", "largest", "bigger", "biggest", "taller", "tallest", "higher", "highest", "deeper"), "more"
    ),
    **dict.fromkeys(("greater", "more", "most", "heavier", "wider", "farther", "faster", "richer", "more populous"), "more"),
    **dict.fromkeys(("shorter", "shortest", "smaller", "smallest", "lower", "lowest", "fewer", "fewest", "less", "lighter"), "less"),
}
_COMPARATOR = "|".join(sorted(_WORDS, key=len, reverse=True))
_ORDER = re.compile(
    rf"^(?P<head>(?i:who|which|what|whose)\b.*?\b(?P<word>{_COMPARATOR})\b(?P<more>[^,:?]*?))"
    r"(?:(?<=\w)[,:;]\s*(?:between |out of )?|\s+(?:out of|between|among|of)\s+|\s+(?=[A-Z\"']))(?P<one>.+?),?\s+(?:or|"
    r"and)\s+(?P<other>.+?)\s*\?*$"
)
_INVERTED = re.compile(
    rf"^(?i:was|is|did|were|are)\s+(?P<one>.+?),?\s+or\s+(?P<other>.+?)\s+(?P<head>[a-z ]*?\b(?P<word>{_COMPARATOR})\b(?P<more>[a-z ]*))"
    r"\?*$"
)
_FRONTED = re.compile(
    r"^(?:between|of|out of) (?P<one>.+?) (?:and|or) (?P<other>[^,]+), (?P<ask>(?:who|which|what|whose)\b[^,?]*)\?*$", re.I
)
_ROLE = re.compile(rf"\b({ROLES})s?\b")
_NOUN = re.compile(
    r"^(?:which|what|whose)\s+(?:of the (?:two )?)?((?:[a-z-]+\s)*?[a-z-]+)\s+(?:has|have|had|whose|was|is|"
    r"were|are|came|did|who|that|lived|died|opened)\b",
    re.I,
)
_LABEL = re.compile(r"^(?:the )?(?:films?|movies?|songs?|albums?|books?|novels?|bands?|magazines?)\s+(?=[\"'A-Z0-9])|[\s\"“”]+$|^[\s\"“”]+")
ADJECTIVES = {
    "larger": "large",
    "bigger": "big",
    "deeper": "deep",
    "wider": "wide",
    "heavier": "heavy",
    "faster": "fast",
    "smaller": "large",
    "smallest": "large",
    "shorter": "long",
    "shortest": "long",
    "lower": "high",
    "lowest": "high",
    "largest": "large",
    "biggest": "big",
}
_COUNTS = frozenset(("more", "most", "fewer", "fewest", "less", "greater"))
_PEOPLE = frozenset(
    {"who", "person", "man", "woman", "actor", "actress", "director", "author", "poet", "composer", "singer", "player", "king"}
)


def ordering(question: str) -> Split | None:
    """Split a question that asks which of two comes first, or is more."""
    question = _FRONTED.sub(r"\g<ask>, \g<one> or \g<other>?", question.strip())
    found = _ORDER.match(question) or _INVERTED.match(question)
    if found is None:
        return None
    labels = (label(found["one"]), label(found["other"]))
    head = " ".join(found["head"].split())
    how = _WORDS[found["word"].casefold()]
    asked = _asked(head, found["word"].casefold(), found.groupdict().get("more") or "")
    if asked is None or not all(labels) or any(len(name.split()) > 14 for name in labels):
        return None
    role, noun = _ROLE.search(head.partition(" ")[2]), _thing(head)
    if role and text_asks_whose(head):
        subjects = [f"the {role[1]} of {name}" for name in labels]
    else:
        subjects = [_subject(name, role[1] if role and noun not in _PEOPLE else None, noun) for name in labels]
    wanted: How = ("more" if how in ("more", "later") else "less") if asked.startswith("How") else how
    return Split(asked.format(subjects[0]), asked.format(subjects[1]), wanted, (labels[0], labels[1]))


def text_asks_whose(head: str) -> bool:
    """Tell whether a question asks for that whose director, say, comes first."""
    return head.casefold().startswith("whose ")


def label(name: str) -> str:
    """Strip quotes and a leading `the film` from a name."""
    return _LABEL.sub("", _LABEL.sub("", name.strip(" ,;:")))


def _thing(head: str) -> str:
    match = _NOUN.match(head)
    noun = match[1].partition(" of ")[0].split()[-1].casefold() if match else head.split()[0].casefold()
    return noun.removesuffix("s") if is_person_noun(noun.removesuffix("s")) else noun


def _subject(name: str, role: str | None, noun: str) -> str:
    if role is None:
        return name
    return f"the {role} of {'' if name.casefold().startswith(noun) else f'the {noun} '}{name}"


def _asked(head: str, word: str, more: str) -> str | None:
    """Give the question to put about each of the two, with a slot for its name."""
    text, noun = head.casefold(), _thing(head)
    person = noun in _PEOPLE or is_person_noun(noun) or bool(_ROLE.search(text.partition(" ")[2]))
    if re.search(r"\blived (?:longer|shorter|to an older age)|\blonger li[fv]e", text):
        return "How long did {} live?"
    if re.search(r"\bborn\b", text) or (person and word in {"older", "younger", "oldest", "youngest", "elder", "eldest"}):
        return "When was {} born?"
    if re.search(r"\b(died|passed away|death)\b", text):
        return "When did {} die?"
    if _WORDS[word] in ("more", "less"):
        return _amount(text, word, more)
    return _event(head, noun, word)


def _amount(text: str, word: str, more: str) -> str | None:
    """Ask how much of something each has, or how long, high or large each is."""
    if re.search(rf"\b(?:has|have|had|with) (?:the |an? )?{word}\b", text) and more.strip() and word not in _COUNTS:
        return f"What is the {more.strip()} of {{}}?"
    if word in _COUNTS:
        counted = more.strip()
        return f"How many {counted} does {{}} have?" if re.search(r"\b(has|have|had|with)\b", text) and counted else None
    adjective = ADJECTIVES.get(word) or re.sub(r"(?:er|est)$", "", word)
    return f"How {adjective} is {{}}?" if "further" not in text else None


def _event(text: str, noun: str, word: str) -> str | None:
    if passive := re.search(
        r"\b(?:was|were|been) (?:first |most recently |more recently |originally )?(\w+ed|built|made|written|held|found|won|begun)\b", text
    ):
        return f"When was {{}} {passive[1]}?"
    if re.search(r"\b(?:came|come|comes) out\b", text):
        return "When did {} come out?"
    if word in {"older", "newer", "oldest", "newest", "younger", "youngest"}:
        released = noun in {"film", "movie", "song", "album", "game", "single"}
        return f"When was {{}} {'released' if released else 'established'}?"
    verb = re.match(
        (
            rf"^(?:who|which [a-z ]+?|what [a-z ]+?|which)\s+(?:first )?([a-z]+ed|won|came|began|took|became|got|wrote|"
            rf"left|made)\b\s*(.*?)\s*\b{word}\b"
        ),
        text,
        re.I,
    )
    return f"When did {{}} {_phrase(verb[1], verb[2])}?" if verb else None


def _phrase(verb: str, rest: str) -> str:
    return f"{base_form(verb)} {rest}".strip()
