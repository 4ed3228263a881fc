"""Words that stand for each other in questions and texts."""

from functools import lru_cache

from ramify.tools.extractive.text import stem

_GROUPS = (
    "born birth birthplace native",
    "die died death deathplace dead killed",
    "write wrote written author writer novelist book novel",
    "music compose composer composed score",
    "wife husband spouse married marry marriage wed widow",
    "win won receive received award awarded prize recipient get got honoured",
    "film movie feature",
    "flow flows run runs pass passes",
    ("found founded founder establish established set started formed create created co-founder co-founded began"),
    "invent invented inventor devised developed patent patented",
    "play plays played portray portrayed star stars starred cast role part performed performs",
    "own owns owner owned holds held belongs",
    "study studied educated graduate graduated degree doctorate doctoral attended student",
    "work worked works employed employer employee job",
    "rise rises source spring springs",
    "released release out premiere premiered appeared",
    "child children son daughter",
    "sibling brother sister",
    "discover discovered discoverer isolated detected announced found",
    "leave left quit",
    "build built constructed construction",
    "located situated lies lie stands location",
    "make made manufacture manufactured manufacturer produce produced produces producer product",
    "sing sang sung singer song performer",
    "direct directed director filmmaker filmmaking",
    "father son daughter parent",
    "mother son daughter parent",
    "name named called title",
    "begin began start started",
    "end ended closed",
    "near beside below under past along",
    "design designed designer architect",
    "buy bought acquire acquired purchased",
    "lead led leader head headed",
    "teach taught teacher professor",
    "king queen monarch emperor",
    "capital seat",
    "doctorate phd ph",
    "open opened opening inaugurated",
    "nationality country",
    "publish published publisher",
    "long longer longest length kilometres",
    "high higher highest tall taller tallest height metres",
    "supervise supervised supervisor advise advised adviser advisor doctorate thesis",
    "subway metro underground railway",
)


@lru_cache(maxsize=8192)
def alike(word: str) -> frozenset[str]:
    """Give the stems that say the same as a stem, itself among them."""
    return frozenset({word}).union(*(group for group in _stems() if word in group))


@lru_cache(maxsize=1)
def _stems() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(map(stem, group.split())) for group in _GROUPS)


def covered(words: frozenset[str], text: frozenset[str]) -> frozenset[str]:
    """Give the words that a text holds, itself or a word that says the same."""
    return frozenset(word for word in words if alike(word) & text)
