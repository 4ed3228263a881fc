"""Questions as noun phrases ("the person who wrote X") and noun phrases as questions, by the form of their words; and the verbs for that."""

# ruff: noqa: E501  # tables

import re
from typing import Final

from plugins.embedded.training.writing.written import ask, several

_PAST = (
    "wrote sang won led made became began beat broke built bought came chose drew drove fell fought found gave got grew held hit kept "
    "knew left lost met paid ran rose said sank saw sent set shot spoke stood stole swam taught threw told took wore went cut put "
    "taken written sung drawn driven given grown known seen shown spoken stolen thrown worn broken chosen fallen flown hidden born "
    "forgotten done gone spent brought caught read laid lent meant sold sought struck understood slept bore shut overcame undertook"
)
_PRESENT = (
    "plays sings owns leads holds makes hosts lives runs produces directs voices wins contains borders governs includes uses wrote "
    "provides controls stores manages supplies handles belongs covers connects carries replaces requires supports maintains "
    "publishes writes serves represents works speaks starts ends lies stands flows sits depends defines sets processes monitors "
    "signs approves delivers manufactures develops sells means comes goes gets gives takes says shows appears features stars "
    "narrates created teaches coaches commands presides sponsors funds operates hosted acts performs composes"
)
PAST: Final = frozenset(_PAST.split())
PRESENT: Final = frozenset(_PRESENT.split()) - PAST
VERBS: Final = PAST | frozenset(_PRESENT.split())
BE: Final = frozenset(several("is was are were"))
AUXILIARIES: Final = BE | frozenset(several("has had have can could will would must should does did do may might"))
PREPOSITIONS: Final = frozenset(
    several("in on at of to from by for with about after against under over into near through as between during off up down out")
)
_BASE = frozenset(
    several(
        "have get use play win make take move live begin start end become say think give go come see know find leave put mean keep let seem help show hear run "
        "bring happen write provide sit stand lose pay meet include continue set learn change lead understand watch follow stop create speak read allow add "
        "spend grow open walk offer remember love consider appear buy wait serve die send expect build stay fall cut reach kill remain suggest raise pass sell "
        "require report decide pull attend study work sign join form publish release perform produce develop invent discover design own rule govern conquer "
        "defeat fight attack invade colonize settle marry divorce teach train coach support oppose believe claim argue propose receive earn borrow rank border "
        "export import belong contain consist represent replace succeed resign retire return arrive travel visit host hold compete score hit throw catch sing "
        "record act star direct appoint elect vote ban adopt abolish introduce launch found establish acquire merge want need like prefer refuse agree accept "
        "call name describe define refer compare cause affect influence inspire employ hire fire operate manage control handle store need measure weigh cost "
        "gain declare sponsor bury flow rise separate divide connect join suffer ally trade enter exit ask answer tell call convert translate print sue"
    )
)
_NOT_VERBS = frozenset(several("red bed need speed seed feed united weed hundred led sacred kindred naked limited alfred"))


def past(word: str) -> bool:
    """Tell whether a word looks like a past form of a verb."""
    return word in PAST or bool(re.fullmatch(r"[a-z]{2,}ed", word) and word not in _NOT_VERBS)


def opens(word: str) -> bool:
    """Tell whether a word opens a predicate."""
    return word in VERBS or word in AUXILIARIES or past(word)


def base(word: str) -> bool:
    """Tell whether a word is a verb in its plain form."""
    return word in _BASE


PEOPLE: Final = frozenset(
    several(
        "person man woman people men women one director author writer composer performer singer actor actress producer screenwriter "
        "father mother wife husband spouse son daughter child children brother sister sibling siblings parent parents grandfather "
        "grandmother uncle aunt founder founders inventor architect designer creator owner ceo president minister king queen emperor "
        "leader mayor governor manager coach captain player players chairman chairwoman head chief scientist engineer artist painter "
        "sculptor poet novelist musician songwriter drummer guitarist bassist vocalist rapper lyricist editor publisher journalist host "
        "presenter narrator politician senator congressman secretary general commander admiral officer soldier astronaut explorer "
        "philosopher professor teacher student doctor physicist chemist mathematician biologist economist lawyer judge bishop pope saint "
        "priest athlete footballer boxer wrestler driver winner successor predecessor partner fiancé wife girlfriend boyfriend lover "
        "developer maintainer administrator supervisor technician contact buyer seller customer employee colleague boss assistant "
        "auditor inspector planner organiser organizer chair rector dean patron monarch ruler sovereign duke prince princess countess "
        "comedian dancer choreographer cinematographer animator filmmaker model magician chef member members star stars narrator "
        "sponsor killer assassin murderer victim protagonist character friend mentor rival opponent nephew niece cousin stepfather "
        "stepmother grandson granddaughter ancestor heir pilot sailor nurse surgeon botanist historian archaeologist critic nobody "
        "ambassador chancellor premier consul pharaoh sultan shah caliph khan dictator revolutionary activist reformer "
        "librarian speaker father-in-law mother-in-law illustrator translator discoverer reviewer scorer deputy engineer lead "
        "operator holder grandparents"
    )
)
_RELATIVE = re.compile(r"\b(?:who|that|which|whose|where|whom|in which)\b")
_WHO = re.compile(r"(?:the|a|an) (?:person|man|woman|one|people) (?:who|that) (?P<rest>\S+ .+)", re.IGNORECASE)
_WHICH = re.compile(r"(?:the|an?) (?P<noun>(?:[\w-]+ ){1,3}?)(?:who|that|which) (?P<rest>(?P<verb>\w+) .+)", re.IGNORECASE)
_WHERE = re.compile(
    r"the (?P<noun>(?:\w+ ){1,2}?)(?:where|in which) (?P<who>.+) (?P<be>is|was|are|were)(?P<rest> \w+(?: .+)?)?", re.IGNORECASE
)
_FROM = re.compile(r"the (?P<noun>(?:\w+ ){1,2}?)(?:that )?(?P<who>\{s\}) (?P<be>is|was|are|were) (?P<rest>.+)")
_ADVERB = re.compile(r"(.+) (no longer|mainly|originally|also|first|now|currently|usually|often|still|later|primarily|initially|mostly)")
_OWN = re.compile(r"(?P<who>\{s\})'s (?P<noun>[\w -]+)")


def head(phrase: str) -> str:
    """Give the noun that a noun phrase is about: the last word before what follows it."""
    cut = re.split(
        r"\s(?:of|in|who|that|which|whose|where|for|with|from|by|at|on|behind|to|under|starring|featuring|directed|written|"
        r"founded|known|called|named|produced|made|led|located|born|released|composed|played|owned|established|\{s\})\b|,|\s\{s\}",
        phrase,
        maxsplit=1,
    )[0]
    tokens = re.findall(r"[\w-]+", re.split(r"(?<=\w )(?<!the )\w{3,}ing\b", cut, maxsplit=1)[0] if " " in cut else cut)
    return tokens[-1].casefold() if tokens else ""


def asked(phrase: str) -> str:
    """Write a noun phrase as the question for it; `{s}` may stand for a name in it."""
    if match := _OWN.fullmatch(phrase):
        return ask(f"{_who(match['noun'])} {_is(match['noun'])} the {match['noun']} of {match['who']}")
    if (match := _WHERE.fullmatch(phrase)) and (
        not match["rest"] or past(match["rest"].split()[0]) or match["rest"].split()[0] in ("based", "a")
    ):
        if match["noun"].strip() == "place":
            return ask(f"Where {match['be']} {match['who']}{match['rest'] or ''}")
        return ask(f"In which {match['noun']}{match['be']} {match['who']}{match['rest'] or ''}")
    if match := _FROM.fullmatch(phrase):
        return ask(f"Which {match['noun']}{match['be']} {match['who']} {match['rest']}")
    if (match := _WHO.fullmatch(phrase)) and opens(match["rest"].split()[0]):
        return ask(f"Who {match['rest']}")
    if (match := _WHICH.fullmatch(phrase)) and opens(match["verb"]) and match["verb"] not in ("did", "does", "do"):
        return ask(f"Which {match['noun']}{match['rest']}")
    return ask(f"{_who(phrase)} {_is(phrase)} {phrase}")


def _who(phrase: str) -> str:
    return "Who" if head(phrase) in PEOPLE else "What"


def _is(phrase: str) -> str:
    noun = head(phrase)
    plural = noun in ("people", "men", "women", "children") or (
        noun.endswith("s") and not noun.endswith(("ss", "us", "is", "ies", "address"))
    )
    return "are" if plural or (noun.endswith("ies") and noun not in ("series", "species")) else "is"


def phrased(question: str) -> tuple[str, str] | None:
    """Turn a question into a noun phrase for its answer, and the question that the phrase answers; None if it has no plain form."""
    bare = re.sub(r"\s+", " ", question).strip().rstrip("?. ").strip()
    lowered = bare.casefold()
    if re.search(r"[;:]|, |\b(?:i|you|your|he|she|his|her|they|their|its|it|this|these|that time)\b", lowered):
        return None
    for way in (_named, _subject_who, _subject_which, _inside, _ending):
        if pair := way(bare):
            return pair[0], ask(pair[1])
    return None


def _named(bare: str) -> tuple[str, str] | None:
    match = re.fullmatch(r"(?:who|what|which) (?:is|was|are|were) ((?:the|\w+'s) .+)", bare, re.IGNORECASE)
    if not match:
        return None
    last = bare.split()[-1].casefold()
    if last in PREPOSITIONS or past(last) or last.endswith("ing") or last in ("called", "like", "based"):
        return None
    rest = re.sub(r"^the (?:full |first |last )?names? of (?=the |a )", "", match[1])
    return (rest, bare) if rest == match[1] else (rest, asked(rest))


def _subject_who(bare: str) -> tuple[str, str] | None:
    match = re.fullmatch(r"(who) (?P<verb>[a-z]+) (?P<rest>.+)", bare, re.IGNORECASE)
    if not match or not opens(match["verb"]) or match["verb"] in ("did", "do", "does", "can", "could", "should", "would", "is", "are"):
        return None
    if match["verb"] in AUXILIARIES and not re.match(r"(?:not |also |first )?[a-z]+(?:ed|en|wn|ought)\b", match["rest"]):
        return None
    return f"the person who {match['verb']} {match['rest']}", bare


def _subject_which(bare: str) -> tuple[str, str] | None:
    match = re.fullmatch(r"(?:which|what) (?P<noun>(?:[\w-]+ ){1,4}?)(?P<verb>[a-z]+) (?P<rest>.+)", bare, re.IGNORECASE)
    if (
        not match
        or not opens(match["verb"])
        or match["verb"] in ("did", "do", "does", "can", "could", "should", "would", "will", "has", "have", "had")
    ):
        return None
    nouns = match["noun"].casefold().split()
    if nouns[0] in AUXILIARIES | {"year", "day", "time", "date", "percentage", "kind", "type", "of", "else", "other"} | PREPOSITIONS:
        return None
    if match["verb"] in BE and not re.match(
        r"(?:the (?:capital|home|only|first|largest|birthplace)|also|not|once|originally|first|responsible|[a-z]+ed|[a-z]+en)\b",
        match["rest"],
    ):
        return None
    if match["rest"].split()[-1] in PREPOSITIONS:
        return None
    relative = "who" if nouns[-1] in PEOPLE else "that"
    return f"the {match['noun']}{relative} {match['verb']} {match['rest']}", bare


def _inside(bare: str) -> tuple[str, str] | None:
    opening = r"(?:in (?:which|what) (?P<noun>(?:[a-z]+ ){1,2}?)|(?P<where>where) )(?P<be>is|was|are|were) "
    match = re.fullmatch(opening + r"(?P<rest>.+)", bare, re.IGNORECASE)
    if not match:
        return None
    subject, did = _cut(match["rest"])
    if not did or (match["noun"] and match["noun"].split()[-1] in ("year", "month", "order")):
        return None
    noun = match["noun"] or "place "
    return f"the {noun}where {subject} {match['be']} {did}", bare


def _cut(clause: str) -> tuple[str, str]:
    """Cut a clause without its auxiliary into subject and predicate, which begins with a participle."""
    parts = clause.split()
    for at in range(1, len(parts)):
        if past(parts[at]) and parts[at - 1].casefold() not in ("the", "a", "an", "most"):
            match = _ADVERB.fullmatch(" ".join(parts[:at]))
            subject, adverb = (match[1], match[2] + " ") if match else (" ".join(parts[:at]), "")
            return subject, adverb + " ".join(parts[at:])
    return clause, ""


def _ending(bare: str) -> tuple[str, str] | None:
    pattern = r"(?:which|what) (?P<noun>(?:[a-z]+ ){1,2}?)(?P<be>is|was) (?P<rest>(?:[A-Z]|the ).+ (?P<last>\w+))"
    match = re.fullmatch(pattern, bare)
    if not match or match["last"] not in PREPOSITIONS:
        return None
    subject, did = _cut(match["rest"])
    if not did:
        subject, did = match["rest"].rsplit(" ", 1)
    return f"the {match['noun']}{subject} {match['be']} {did}", bare
