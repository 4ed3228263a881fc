"""Which words open a predicate: just enough English to turn questions into noun phrases and back."""

# ruff: noqa: E501  # tables

import re
from typing import Final

from training.writing.question_words import several

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
