"""Questions on relations that encyclopedic paragraphs state: found by patterns, asked in many wordings, and as yes/no questions.

A paragraph without any of the words for a relation gives a question without an answer. Yes/no questions claim a relation of one paragraph,
or that two paragraphs agree.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from plugins.embedded.training.cloze import DATE, NAME, PLACE, YEAR
from plugins.embedded.training.countries import country_pattern, find_country
from plugins.embedded.training.example import CharSpan, Example, occurrences, seeded_random
from plugins.embedded.training.source import Document
from ramify.embedded.reader.reading import add_title
from ramify.tools.english import fold, strip_disambiguation

WORDINGS: dict[str, tuple[str, ...]] = {
    "director": ("Who directed {s}?", "Who is the director of {s}?", "Who is the director of the film {s}?", "Who directed the film {s}?",
                 "Who was {s} directed by?", "{s} >> director"),
    "date of birth": ("When was {s} born?", "What is the date of birth of {s}?", "When is {s}'s birthday?", "On what date was {s} born?",
                      "What is {s}'s date of birth?", "{s} >> date of birth"),
    "year of birth": ("In which year was {s} born?", "What year was {s} born?", "In what year was {s} born?", "What is the year of birth of {s}?"),
    "date of death": ("When did {s} die?", "What is the date of death of {s}?", "On what date did {s} die?", "What is {s}'s date of death?",
                      "{s} >> date of death"),
    "year of death": ("In which year did {s} die?", "What year did {s} die?", "In what year did {s} die?"),
    "place of birth": ("Where was {s} born?", "What is the place of birth of {s}?", "In which city was {s} born?", "What is the birthplace of {s}?",
                       "In what place was {s} born?", "{s} >> place of birth"),
    "place of death": ("Where did {s} die?", "What is the place of death of {s}?", "In which city did {s} die?", "{s} >> place of death"),
    "country of citizenship": ("What is the nationality of {s}?", "Which country is {s} from?", "What nationality is {s}?",
                               "What is the country of citizenship of {s}?", "What country does {s} come from?",
                               "In which country was {s} a citizen?", "{s} >> country of citizenship"),
    "country": ("In which country is {s}?", "Which country is {s} located in?", "What country is {s} in?", "In which country is {s} located?",
                "{s} >> country"),
    "country of origin": ("What is the country of origin of {s}?", "Which country is {s} from?", "Which country is the film {s} from?",
                          "Where is the film {s} from?", "{s} >> country of origin"),
    "father": ("Who is the father of {s}?", "Who was the father of {s}?", "Who is {s}'s father?", "Who was {s}'s father?",
               "{s} >> father"),
    "mother": ("Who is the mother of {s}?", "Who was the mother of {s}?", "Who is {s}'s mother?", "Who was {s}'s mother?",
               "{s} >> mother"),
    "spouse": ("Who is the spouse of {s}?", "Who was {s} married to?", "Who did {s} marry?", "Who is {s}'s spouse?",
               "Who is {s} married to?", "{s} >> spouse"),
    "child": ("Who is the child of {s}?", "Who was the child of {s}?", "{s} >> child"),
    "sibling": ("Who is the sibling of {s}?", "{s} >> sibling"),
    "composer": ("Who composed {s}?", "Who is the composer of {s}?", "Who composed the music of {s}?", "Who wrote the music for {s}?",
                 "Who is the composer of the film {s}?", "{s} >> composer"),
    "performer": ("Who is the performer of {s}?", "Who performed {s}?", "Who is the performer of the song {s}?", "Who sang {s}?",
                  "Which artist released {s}?", "Who recorded {s}?", "{s} >> performer"),
    "author": ("Who wrote {s}?", "Who is the author of {s}?", "Who was {s} written by?", "{s} >> author"),
    "screenwriter": ("Who wrote the screenplay of {s}?", "Who is the screenwriter of {s}?", "{s} >> screenwriter"),
    "producer": ("Who produced {s}?", "Who is the producer of {s}?", "{s} >> producer"),
    "cast member": ("Who stars in {s}?", "Who starred in {s}?", "Who is the star of {s}?", "{s} >> cast member"),
    "publication date": ("When was {s} released?", "What is the publication date of {s}?", "When did {s} come out?", "When was {s} published?",
                         "In which year was {s} released?", "{s} >> publication date"),
    "inception": ("When was {s} founded?", "When was {s} established?", "In which year was {s} founded?", "When was {s} formed?",
                  "{s} >> inception"),
    "founded by": ("Who founded {s}?", "Who is the founder of {s}?", "By whom was {s} founded?", "{s} >> founded by"),
    "publisher": ("Who published {s}?", "Who is the publisher of {s}?", "What company published {s}?", "{s} >> publisher"),
    "record label": ("What is the record label of {s}?", "Which label released {s}?", "{s} >> record label"),
    "developer": ("Who developed {s}?", "Which company developed {s}?", "{s} >> developer"),
    "educated at": ("Where did {s} study?", "Which university did {s} attend?", "Where was {s} educated?", "Where did {s} graduate from?",
                    "What university did {s} go to?", "{s} >> educated at"),
    "employer": ("Who is the employer of {s}?", "Where did {s} work?", "Who did {s} work for?", "{s} >> employer"),
    "award received": ("What award did {s} receive?", "Which award did {s} win?", "{s} >> award received"),
    "cause of death": ("What is the cause of death of {s}?", "What did {s} die of?", "Why did {s} die?", "How did {s} die?",
                       "{s} >> cause of death"),
    "occupation": ("What is the occupation of {s}?", "What was {s}'s profession?", "What does {s} do for a living?", "{s} >> occupation"),
    "location": ("Where is {s}?", "Where is {s} located?", "{s} >> located in the administrative territorial entity"),
    "population": ("What is the population of {s}?", "How many people live in {s}?", "How many inhabitants does {s} have?"),
    "architect": ("Who designed {s}?", "Who built {s}?", "Who is the architect of {s}?", "{s} >> architect"),
    "inventor": ("Who invented {s}?", "Who is the inventor of {s}?", "Who discovered {s}?"),
    "namesake": ("Who is {s} named after?", "What is {s} named after?", "{s} >> named after"),
    "member of": ("Which team did {s} play for?", "What team does {s} play for?", "{s} >> member of sports team"),
}  # fmt: skip
"""By Wikidata's name of the relation; `{s}` is the subject."""

REVERSED: dict[str, tuple[str, ...]] = {
    "director": ("Which film was directed by {o}?", "What did {o} direct?"),
    "author": ("What did {o} write?", "Which book was written by {o}?"),
    "performer": ("Which song was performed by {o}?", "What was recorded by {o}?"),
    "composer": ("What did {o} compose?",),
    "founded by": ("What did {o} found?", "Which company was founded by {o}?"),
    "father": ("Who is the child of {o}?", "Whose father is {o}?"),
    "spouse": ("Who was married to {o}?",),
    "cast member": ("In which film does {o} star?", "Which film stars {o}?"),
    "architect": ("What did {o} design?", "Which building was designed by {o}?"),
    "inventor": ("What did {o} invent?", "What was invented by {o}?"),
}
"""Questions for the subject of a relation, which is the article's title; `{o}` is the object."""


_HEAD = 700
_AN = r"(?:is|was|are|were) (?:an?|the) "
_THING = r"[^.()]{0,60}?"
_NEXT_SENTENCE = re.compile(r"(?<=[^\W\d_]{2})\. (?=[A-Z])")
_NO_ANSWER = re.compile(r"(?:The|A|An|He|She|It|His|Her|In|On|At|They)\b")


@dataclass(frozen=True)
class Relation:
    """Patterns that state a relation, and words whose absence shows that it is not stated; None if that cannot be decided."""

    name: str
    patterns: tuple[re.Pattern[str], ...]
    untold: re.Pattern[str] | None = None


def _relation(name: str, *patterns: str, untold: str = "") -> Relation:
    made = tuple(re.compile(pattern) for pattern in patterns)
    return Relation(name, made, re.compile(untold, re.IGNORECASE) if untold else None)


_A_NAME, _A_DATE, _A_PLACE = rf"(?P<answer>{NAME})", rf"(?P<answer>{DATE})", rf"(?P<answer>{PLACE})"
_WITH_YEAR = rf"(?:[^()]*? )?{YEAR}"
RELATIONS = (
    _relation("date of birth", rf"\(\s*(?:[^()]*?[;,] )?(?:born|b\.) (?:on )?{_A_DATE}", rf"\(\s*{_A_DATE} ?[-–—] ?{_WITH_YEAR}\s*\)",
              rf"was born (?:on |in )?{_A_DATE}",
              untold=r"born|birth|\d ?[-–—] ?"),
    _relation("year of birth", rf"\(\s*(?:[^()]*?[;,] )?(?:born|b\.) [^()]*?(?P<answer>{YEAR})", rf"\([^()–—]*?(?P<answer>{YEAR}) ?[-–—] ?{_WITH_YEAR}\s*\)",
              untold=r"born|birth|\d ?[-–—] ?"),
    _relation("date of death", rf"\([^()–—]*?{YEAR} ?[-–—] ?{_A_DATE}\s*\)", rf"\bdied (?:[^.]{{0,20}} )?(?:on|in) {_A_DATE}",
              untold=r"die[ds]|death|dead|kill|\d ?[-–—] ?"),
    _relation("year of death", rf"\([^()–—]*?{YEAR} ?[-–—] ?[^()]*?(?P<answer>{YEAR})\s*\)", untold=r"die[ds]|death|dead|kill|\d ?[-–—] ?"),
    _relation("place of birth", rf"\bborn [^.()]{{0,40}}?(?:in|at|near) {_A_PLACE}", untold=r"born|birth|native|from|grew"),
    _relation("place of death", rf"\bdied [^.()]{{0,40}}?(?:in|at|near) {_A_PLACE}", untold=r"die[ds]|death|dead|kill"),
    _relation("director", rf"directed(?:,? (?:and|produced|written|co-written|edited)){{0,4}} by {_A_NAME}", rf"film by (?:director )?{_A_NAME}",
              rf"directed by (?:[a-z-]+ ){{1,4}}{_A_NAME}", untold=r"direct"),
    _relation("composer", rf"(?:composed|music|score|scored)(?: (?:was|is|are|were))?(?: (?:composed|written|provided))? by {_A_NAME}", untold=r"compos|music|score"),
    _relation("performer", rf"{_AN}{_THING}(?:song|single|album|EP|track){_THING} by (?:the )?(?:[\w-]+ ){{0,5}}?{_A_NAME}",
              rf"(?:recorded|performed|sung|released) by (?:the )?(?:[\w-]+ ){{0,5}}?{_A_NAME}", untold=r"song|sing|sung|record|perform|album|by"),
    _relation("author", rf"written(?: and [a-z]+)? by {_A_NAME}", rf"(?:novel|book|play|poem|story|comic|memoir) by (?:[a-z-]+ ){{0,4}}{_A_NAME}",
              untold=r"writ|wrote|author|book|novel|poem"),
    _relation("screenwriter", rf"screenplay (?:was )?(?:written )?by {_A_NAME}"),
    _relation("producer", rf"produced by {_A_NAME}", untold=r"produc"),
    _relation("cast member", rf"(?:starring|stars|featuring) {_A_NAME}", untold=r"star|cast|actor|play|featur|role"),
    _relation("publication date", rf"{_AN}(?P<answer>{YEAR}) {_THING}(?:film|album|song|novel|book|game|single)", rf"(?:released|published|premiered) (?:[^.]{{0,25}} )?(?:on|in) {_A_DATE}",
              untold=r"releas|publish|premier|\d{4}"),
    _relation("inception", rf"(?:founded|established|formed|created|opened|built|constructed) (?:[^.]{{0,25}} )?(?:on|in) {_A_DATE}", untold=r"found|establish|form|creat|since|open|\d{4}"),
    _relation("founded by", rf"(?:founded|established|co-founded|created|formed) (?:in {YEAR} )?by {_A_NAME}", untold=r"found|establish|creat|start"),
    _relation("publisher", rf"published (?:in {YEAR} )?by (?:the )?{_A_NAME}", untold=r"publish"),
    _relation("record label", rf"(?:released|issued) (?:[^.]{{0,40}} )?(?:on|by|through|via) {_A_NAME}(?:(?<=Records)|(?<=Music))", untold=r"label|record|releas"),
    _relation("developer", rf"developed (?:and published )?by {_A_NAME}", untold=r"develop"),
    _relation("father", rf"\b(?:son|daughter) of (?:[a-z]+ ){{0,3}}{_A_NAME}", rf"(?:his|her|whose) father,? (?:was )?(?:[a-z]+ ){{0,2}}{_A_NAME}", untold=r"father|son\b|daughter|child|parent"),
    _relation("mother", rf"\b(?:son|daughter|child) of {NAME} and (?:(?:his|the) )?(?:[a-z]+ ){{0,3}}{_A_NAME}", rf"(?:his|her|whose) mother,? (?:was )?(?:[a-z]+ ){{0,2}}{_A_NAME}",
              untold=r"mother|son\b|daughter|child|parent"),
    _relation("spouse", rf"\bmarried (?:to )?(?:[a-z]+ ){{0,3}}{_A_NAME}", rf"\b(?:wife|husband|widow|spouse|consort) of (?:[a-z]+ ){{0,2}}{_A_NAME}",
              rf"(?:his|her) (?:first |second |third )?(?:wife|husband),? (?:was )?{_A_NAME}", untold=r"marr|wife|husband|spouse|widow|consort|couple"),
    _relation("educated at", rf"(?:studied|educated|graduated|attended|degree)(?: (?!born)[a-z]+){{0,6}}? (?:at|from|attended) (?:the )?{_A_NAME}", rf"attended (?:the )?{_A_NAME}",
              untold=r"stud|educat|graduat|attend|school|universit|college|degree"),
    _relation("employer", rf"(?:worked|works|professor|employed) (?:[a-z ]{{0,30}} )?(?:for|at|by) (?:the )?{_A_NAME}", untold=r"work|employ|professor|join|serv"),
    _relation("award received", rf"(?:won|received|awarded|recipient of) the {_A_NAME}(?:(?<=Award)|(?<=Prize)|(?<=Medal))", untold=r"award|prize|medal|won|win|honou?r"),
    _relation("cause of death", r"\bdied (?:\w+ )?(?:of|from) (?P<answer>(?:an? )?[a-z]+(?: [a-z]+){0,2})(?=[.,]| (?:in|on|at)\b)", untold=r"die[ds]|death|kill|murder|suicide"),
    _relation("occupation", r"(?:is|was) an? (?:(?:former|[A-Z][\w-]+) )*(?P<answer>[a-z]+(?: [a-z]+)?(?:er|or|ist|ian|cian|man|eur|ess|poet|king|general)(?:(?:,| and|, and) [a-z]+(?: [a-z]+)?(?:er|or|ist|ian|poet))*)(?=[.,;]| (?:who|from|and|best|known|for|in|of))"),
    _relation("location", rf"{_AN}(?:[a-z-]+ ){{1,5}}(?:located )?(?:in|near) (?:the )?{_A_PLACE}"),
    _relation("population", r"population (?:of|was|is)(?: [a-z]+){0,3} (?P<answer>\d[\d,]*)", untold=r"population|inhabitant|people|resident"),
    _relation("architect", rf"(?:designed|built|constructed) by (?:the )?(?:[a-z]+ ){{0,3}}{_A_NAME}", untold=r"design|buil|construct|architect"),
    _relation("inventor", rf"(?:invented|discovered|devised) (?:in {YEAR} )?by (?:the )?(?:[a-z]+ ){{0,3}}{_A_NAME}", untold=r"invent|discover|devis|creat"),
    _relation("namesake", rf"named (?:after|for|in honou?r of) (?:the )?(?:[a-z]+ ){{0,3}}{_A_NAME}", untold=r"named|name"),
    _relation("member of", rf"(?:plays|played|playing) (?:[a-z ]{{0,30}} )?for (?:the )?{_A_NAME}", untold=r"play|team|club|sign"),
)  # fmt: skip
_BY_COUNTRY = re.compile(rf"{_AN}(?:\d{{4}} )?(?:[\w-]+ ){{0,2}}?(?=[A-Z])")
_PERSON = re.compile(r"\(\s*(?:[^()]*?[;,] )?born|\(\s*[^()]*\d{3,4} ?[-–—] ?|\bwas born\b|\bdied\b")
_FILM = re.compile(r"\b(?:film|series|album|song|novel|book|movie|drama|band)\b")


def find_stated(document: Document) -> dict[str, CharSpan]:
    """Return the relations that a paragraph states, each with the span of the answer."""
    stated = {}
    head = document.text[:_HEAD]
    for relation in RELATIONS:
        for pattern in relation.patterns:
            match = pattern.search(head)
            if match and (span := _trimmed(head, match.span("answer"))):
                stated[relation.name] = span
                break
    if "occupation" in stated and not _PERSON.search(head):
        del stated["occupation"]
    if nation := _nation(head):
        stated[_kind_of_country(head)] = nation
    return stated


def _nation(head: str) -> CharSpan | None:
    """Return the span of the country or nationality that follows `is a`."""
    opening = _BY_COUNTRY.search(head)
    return country.span() if opening and (country := country_pattern().match(head, opening.end())) else None


def _kind_of_country(head: str) -> str:
    return "country of citizenship" if _PERSON.search(head[:300]) else "country of origin" if _FILM.search(head[:200]) else "country"


def _trimmed(text: str, span: CharSpan) -> CharSpan | None:
    start, end = span
    if _NO_ANSWER.match(text, start):
        return None
    if over := _NEXT_SENTENCE.search(text, start, end):
        end = over.start()
    while end > start and text[end - 1] in " ,.;:":
        end -= 1
    return (start, end) if end > start else None


def relation_examples(documents: list[Document], source: str, wordings: int = 1) -> Iterator[Example]:
    """Yield questions on what each paragraph states and does not state, also with other paragraphs."""
    known = {document.id: find_stated(document) for document in documents if document.title}
    holders = {name: [document for document in documents if name in known.get(document.id, ())] for name in WORDINGS}
    for document in documents:
        for name, span in known.get(document.id, {}).items():
            for turn in range(wordings):
                yield from _stated_and_not(source, document, name, span, holders[name], turn)
        if document.title:
            yield from _untold(source, document)


def _stated_and_not(source: str, document: Document, name: str, span: CharSpan, holders: list[Document], turn: int) -> Iterator[Example]:
    choose = seeded_random(document.id, name, turn)
    title, shift = document.title or "", len(document.title or "") + 2
    context = add_title(title, document.text)
    answer = document.text[span[0] : span[1]]
    question = choose.choice(WORDINGS[name]).format(s=strip_disambiguation(title) if choose.random() < 0.8 else title)
    yield Example(source, document.id, question, context, "span", ((span[0] + shift, span[1] + shift),))
    others = [other for other in choose.sample(holders, min(4, len(holders))) if not _may_be_about(title, other)]
    if others:
        yield Example(source + "_other", others[0].id, question, add_title(others[0].title, others[0].text), "none")
    if name in REVERSED and choose.random() < 0.5:
        question = choose.choice(REVERSED[name]).format(o=answer)
        yield Example(source + "_reversed", document.id, question, context, "span", ((0, len(strip_disambiguation(title))),))


def _may_be_about(title: str, other: Document) -> bool:
    return bool(list(occurrences(strip_disambiguation(title), add_title(other.title, other.text))))


def _untold(source: str, document: Document) -> Iterator[Example]:
    """Yield a question for a relation of whose words none occurs."""
    choose, text = seeded_random(document.id, "untold"), document.text
    missing = [relation.name for relation in RELATIONS if relation.untold and not relation.untold.search(text)]
    person = bool(_PERSON.search(text[:300]))
    fitting = [name for name in missing if (name in _OF_PERSONS) == person]
    if fitting:
        question = choose.choice(WORDINGS[choose.choice(fitting)]).format(s=strip_disambiguation(document.title or ""))
        yield Example(source + "_untold", document.id, question, add_title(document.title, text), "none")


_OF_PERSONS = frozenset(
    [
        *("date of birth", "year of birth", "date of death", "year of death", "place of birth", "place of death", "father", "mother"),
        *("spouse", "educated at", "employer", "award received", "cause of death", "occupation", "member of"),
    ]
)
"""Relations that apply to persons only."""


_CLAIMS = {
    "director": ("Was {s} directed by {o}?", "Is {o} the director of {s}?", "Did {o} direct {s}?"),
    "country of citizenship": ("Is {s} {o}?", "Is the nationality of {s} {o}?"),
    "occupation": ("Is {s} a {o}?", "Was {s} a {o}?"),
    "date of birth": ("Was {s} born on {o}?", "Was {s} born in {o}?"),
    "place of birth": ("Was {s} born in {o}?",),
    "author": ("Was {s} written by {o}?", "Did {o} write {s}?"),
    "cast member": ("Does {o} star in {s}?", "Is {o} in the cast of {s}?"),
    "founded by": ("Did {o} found {s}?", "Was {s} founded by {o}?"),
    "location": ("Is {s} in {o}?", "Is {s} located in {o}?"),
    "performer": ("Was {s} performed by {o}?",),
    "spouse": ("Was {s} married to {o}?",),
}
_SAME = {
    "country of citizenship": ("Do {a} and {b} have the same nationality?", "Are {a} and {b} of the same nationality?",
                               "Are {a} and {b} from the same country?"),
    "country": ("Are {a} and {b} located in the same country?", "Are {a} and {b} both located in the same country?"),
    "country of origin": ("Are {a} and {b} from the same country?", "Do both {a} and {b} originate from the same country?"),
    "occupation": ("Do {a} and {b} have the same occupation?", "Are {a} and {b} both known as a {o}?", "Are {a} and {b} both {o}s?"),
    "director": ("Were {a} and {b} directed by the same person?",),
}  # fmt: skip


def claim_examples(documents: list[Document], source: str) -> Iterator[Example]:
    """Yield yes/no questions with what a paragraph states, or with what another states."""
    known = [(document, find_stated(document)) for document in documents if document.title]
    for name in _CLAIMS:
        holders = [(document, document.text[slice(*stated[name])]) for document, stated in known if name in stated]
        for number, (document, answer) in enumerate(holders):
            choose = seeded_random(document.id, name, "claim")
            true = choose.random() < 0.5
            other = holders[(number + choose.randrange(1, 50)) % len(holders)][1]
            if not true and (fold(other) in fold(document.text) or (find_country(other) or other) == (find_country(answer) or answer)):
                continue
            question = choose.choice(_CLAIMS[name]).format(s=strip_disambiguation(document.title or ""), o=answer if true else other)
            yield Example(source, document.id, question, add_title(document.title, document.text), "yes" if true else "no")


def agreement_examples(documents: list[Document], source: str) -> Iterator[Example]:
    """Yield questions whether two paragraphs state the same value of a relation."""
    known = [(document, find_stated(document)) for document in documents if document.title]
    for name in _SAME:
        holders = [(document, document.text[slice(*stated[name])]) for document, stated in known if name in stated]
        holders.sort(key=lambda item: (fold(find_country(item[1]) or item[1]), item[0].id))
        for number, (document, answer) in enumerate(holders[:-1]):
            choose = seeded_random(document.id, name, "same")
            step = 1 if choose.random() < 0.6 else choose.randrange(1, len(holders))
            other, its = holders[(number + step) % len(holders)]
            question = choose.choice(_SAME[name]).format(
                a=strip_disambiguation(document.title or ""), b=strip_disambiguation(other.title or ""), o=answer
            )
            same = fold(find_country(answer) or answer) == fold(find_country(its) or its)
            context = " ".join(add_title(item.title, item.text) for item in (document, other))
            yield Example(source, document.id, question, context, "yes" if same else "no")
