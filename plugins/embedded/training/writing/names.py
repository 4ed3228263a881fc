"""Names of every kind to fill frames with: titles of articles, terms of technical documentation, and made ones."""

# ruff: noqa: E501  # tables

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Final

from plugins.embedded.training.example import Part, assign_part
from plugins.embedded.training.source import Document, load_data_folder
from plugins.embedded.training.writing.written import fold, several

Names = dict[tuple[str, Part], list[str]]

_KINDS: Final = {
    "person": r"footballer|politician|actor|actress|singer|writer|poet|player|director|composer|musician|king|queen|duke|princess|prince|painter|"
              r"engineer|scientist|bishop|officer|author|journalist|businessman|lawyer|architect|swimmer|cyclist|wrestler|nobleman|screenwriter|"
              r"mathematician|physicist|physician|cricketer|chemist|philosopher|historian|sculptor|model|boxer|economist|rapper|songwriter|professor",
    "film": r"film|movie", "song": r"song|single", "album": r"album", "book": r"novel|book|play|poem|memoir|novella",
    "series": r"television series|sitcom|tv series|drama series|soap opera|television show", "band": r"band|duo|musical group|rock group",
    "company": r"company|corporation|manufacturer|airline|bank|publisher|retailer|record label|chain", "university": r"university|college|school",
    "city": r"village|town|city|municipality|commune|settlement|suburb|hamlet|township", "river": r"river|creek|stream|tributary",
    "magazine": r"magazine|newspaper|journal", "building": r"airport|station|building|museum|church|stadium|bridge|castle|palace|hotel|tower|cathedral",
    "battle": r"battle|siege|war", "game": r"video game|board game|role-playing game", "state": r"county|province|district|u\.s\. state|region",
    "country": r"sovereign state|country", "team": r"football club|football team|baseball team|basketball team|hockey team|club",
    "party": r"political party", "invention": r"device|material|drug|disease|technique|machine|chemical|substance|dish|drink|tool|instrument|breed|plant|element",
}  # fmt: skip
_PATTERN = {kind: re.compile(rf"\b(?:{words})s?\b", re.IGNORECASE) for kind, words in _KINDS.items()}
_IS = re.compile(r"\b(?:is|was|are|were) (?:an?|the|one of)\b(?P<what>[^,.;]{3,110})")
_TITLED: Final = {
    "battle": r"battle|war\b|siege|campaign|raid", "party": r"party|union|league|congress|front", "university": r"university|school|college|institute|academy",
    "river": r"river|creek|brook|stream", "country": r"(?!)", "magazine": r"^(?!\w+ [A-Z]\w+$).+|journal|magazine|times", "state": r"(?!)",
    "building": r"airport|station|bridge|church|castle|museum|hotel|hall|tower|house|cathedral|stadium|palace|center|centre|theatre|park|arena|field",
}  # fmt: skip
"""What the titles of some kinds hold: the first sentence alone takes too much for one."""


def kind_of(document: Document) -> str | None:
    """Guess the kind of thing that an article is about, from the noun its first sentence calls it by."""
    return _kind(document.title or "", document.text[:300])


@lru_cache(maxsize=65536)
def _kind(title: str, text: str) -> str | None:
    match = _IS.search(text)
    if not match:
        return None
    phrase = re.split(r"\b(?:by|in|on|of the|that|which|who|from|for|located|directed|starring|written|released)\b", match["what"])[0]
    spots = {kind: list(pattern.finditer(phrase)) for kind, pattern in _PATTERN.items()}
    last = {kind: matches[-1].end() for kind, matches in spots.items() if matches}
    kind = max(last, key=lambda kind: last[kind]) if last else None
    return kind if kind and re.search(_TITLED.get(kind, ""), title, re.IGNORECASE) else None


def bare(title: str) -> str:
    """Give a title without what tells it from others of the same name."""
    return re.sub(r"\s*\(.*?\)\s*$|,.*$", "", title).strip()


def key(name: str) -> str:
    """Give what a name is dealt by: its words without an article and what tells it from others."""
    return fold(re.sub(r"^the ", "", bare(name), flags=re.IGNORECASE)) or fold(name)


def names(documents: Iterable[Document]) -> Names:
    """Sort the titles of articles by kind and by what they are for."""
    grouped: dict[tuple[str, Part], dict[str, None]] = {}
    for document in documents:
        title = bare(document.title or "")
        kind = kind_of(document)
        if (
            not kind
            or not 2 <= len(title) <= 45
            or "|" in title
            or '"' in title
            or " - " in title
            or re.search(r"\blist of\b", title, re.IGNORECASE)
        ):
            continue
        whole = (document.title or "").strip()
        if whole != title and len(whole) <= 60 and kind in ("film", "song", "person", "city", "album", "band"):
            grouped.setdefault((kind, assign_part(key(title))), {})[whole] = None
        name = _article(title, document.text) if kind in ("river", "battle", "building", "team", "band", "invention") else title
        grouped.setdefault((kind, assign_part(key(title))), {})[name] = None
    return {key: list(titles) for key, titles in grouped.items()}


def _article(title: str, text: str) -> str:
    start = re.match(r"(the|a|an) ", text, re.IGNORECASE)
    if title.casefold().startswith(("the ", "a ")) or not start or title.casefold() not in text[:80].casefold():
        return title
    return f"the {title}"


STATES: Final = several(
    "Texas Ohio Bavaria California Saxony Nevada Florida Quebec Punjab Queensland Ontario Kerala Tyrol Iowa Oregon Alaska Brandenburg Utah Kent Devon Virginia Georgia Arizona Maine Kansas Idaho Vermont Hesse Tuscany Sicily Andalusia Normandy Brittany Alberta Gujarat Tasmania Cornwall"
)
COUNTRIES: Final = several(
    "France Germany Italy Spain Portugal Norway Sweden Finland Denmark Poland Austria Hungary Greece Turkey Egypt Kenya Ghana Nigeria Ethiopia Morocco "
    "India China Japan Vietnam Thailand Indonesia Australia Canada Mexico Brazil Argentina Chile Peru Cuba Iran Iraq Israel Jordan Ukraine Russia Belgium Switzerland Ireland Iceland Romania Bulgaria Serbia Croatia Algeria Tunisia Senegal Uganda Tanzania Zambia Pakistan Nepal Malaysia Colombia Bolivia Venezuela"
)
_WORDS = several(
    "Falcon Aurora Delta Harbor Nimbus Orion Pioneer Quartz Summit Titan Vector Willow Zenith Atlas Beacon Cobalt Ember Granite Horizon Juniper Lantern "
    "Meridian Nova Onyx Phoenix River Sierra Tundra Umbra Vertex Cedar Dolphin Glacier Maple Neptune Saffron Tempest Bluebird Copper Evergreen"
)
_UNITS = several(
    "the sales department; Human Resources; the finance department; the purchasing department; Customer Support; the legal department; Quality Assurance; "
    "the IT department; Research and Development; the Hamburg office; the marketing team; the warehouse in Leeds; the Berlin branch; Facility Management; "
    "the security team; the payroll office; Internal Audit; the training department; the data protection office; the dispatch team; Logistics; Accounting",
    sign="; ",
)
_MACHINES = several(
    "pump compressor boiler conveyor generator crane press lathe chiller turbine printer scanner forklift oven mixer robot transformer router"
)
_PARTS = several(
    "bearing; gasket; fuse; drive belt; relief valve; oil filter; seal; gear; sensor; brake pad; control board; hydraulic hose; spark plug",
    sign="; ",
)
_PAPERS = several(
    "contract; invoice; report; offer; protocol; certificate; purchase order; work order; manual; agreement; service report; memo; policy",
    sign="; ",
)
_RULES = several(
    "travel expenses; remote work; overtime; data retention; fire drills; visitor access; password changes; annual leave; parental leave; waste disposal; "
    "torque limits; lockout procedures; welding repairs; corrosion treatment; backup schedules; incident escalation; the use of company cars; petty cash; "
    "export controls; warranty claims; returns; the probation period; sick leave; home office equipment; business gifts; mobile phones; ladder inspections",
    sign="; ",
)


def made(kind: str, rng: Random) -> str | None:
    """Make a name of a kind that no article is about."""
    word, number = rng.choice(_WORDS), rng.randint(2, 9999)
    choices: dict[str, tuple[str, ...]] = {
        "state": (rng.choice(STATES),), "country": (rng.choice(COUNTRIES),), "department": (rng.choice(_UNITS),),
        "project": (f"Project {word}", f"the {word} project", f"project {word}", f"the {word} rollout", f"project {number}"),
        "device": (f"the {rng.choice(_MACHINES)} {word[0]}-{number}", f"{rng.choice(_MACHINES)} {number}", f"machine {word[0]}{number}",
                   f"the {word} {number}", f"the {word} {rng.choice(_MACHINES)}"),
        "part": (f"the {rng.choice(_PARTS)}", f"part {number}", f"the {rng.choice(_PARTS)} of the {word} {number}", f"item {word[:2].upper()}-{number}"),
        "document": (f"{rng.choice(_PAPERS)} {number}", f"the {word} {rng.choice(_PAPERS)}", f"the {rng.choice(_PAPERS)} {word[:2].upper()}-{number}",
                     f"{word}_{number}.docx", f"the {rng.choice(_PAPERS)} for {word}"),
        "order": (f"order {number}", f"purchase order {number}", f"ticket {number}", f"order {word[0]}-{number}", f"the order of {word} Ltd"),
        "rule": (rng.choice(_RULES),),
        "server": (f"{word.casefold()}-{number % 40}", f"the server {word.casefold()}{number % 12}", f"the {word} cluster"),
        "software": (word, f"{word} {number % 12}", f"{word}Sync", f"the {word} app"),
    }  # fmt: skip
    return rng.choice(choices[kind]) if kind in choices else None


_TERMS: Final = {
    "setting": r"(?<![\w./$-])(?:[a-z]{3,}(?:[A-Z][a-z]+){1,3}|[a-z]{3,}(?:_[a-z]{2,}){1,3}|--[a-z]{3,}(?:-[a-z]+)*|[A-Z]{3,}(?:_[A-Z]{2,}){1,3})(?![\w./(-])",
    "command": r"(?<![\w./-])(?:(?:Get|Set|New|Add|Remove|Enable|Disable|Start|Stop|Import|Export|Invoke|Test)-[A-Z]\w+|az [a-z]+ [a-z]+|aws [a-z0-9]+ [a-z-]+"
               r"|kubectl [a-z]+|wsl --[a-z]+)(?![\w-])",
    "file": r"(?<![\w./\\-])[A-Za-z_][\w-]{2,}\.(?:conf|yaml|yml|ini|json|xml|config|exe|dll|cfg|log|inf|sys|h|cpp)(?!\w)",
    "software": r"(?<=[a-z,] )(?:Azure|Amazon|Windows|AWS|Microsoft|Visual|Exchange|Internet|Active|Power|SQL|Google|Red Hat)(?: [A-Z][\w+]*){1,3}(?= [a-z]|[,.])"
                r"|\b(?:Kubernetes|Prometheus|etcd|PowerShell|Docker|IIS|cert-manager|Grafana|PostgreSQL|MySQL|Nginx|OpenSSL|Helm|Cilium|Dapr|Hyper-V|WSL 2)\b",
    "service": r"(?<=the )(?:[A-Z][\w+]* ){1,2}(?:service|Service|agent|gateway|scheduler|controller|driver|endpoint)(?= [a-z]|[,.])",
}  # fmt: skip
_PATTERNS: Final = {kind: re.compile(pattern) for kind, pattern in _TERMS.items()}
_PLAIN: Final = ("command", "setting", "service", "file")


def terms(documents: Iterable[Document]) -> Names:
    """Collect the terms of documents by kind and by what they are for."""
    counts: Counter[tuple[str, str]] = Counter()
    for document in documents:
        for kind, pattern in _PATTERNS.items():
            counts.update({(kind, phrase): 1 for phrase in pattern.findall(document.text)})
    grouped: Names = {}
    for (kind, term), _ in sorted(counts.items()):
        if len(term) <= 40:
            name = f"the {term}" if kind == "service" else term
            grouped.setdefault((kind, assign_part(key(name))), []).append(name)
    return grouped


_ARTICLES: Final = ("2wikimultihopqa_train", "musique_train", "hotpotqa_train", "boolq_train", "squad_dev", "nq_oracle_dev")
_MADE: Final = frozenset(several("state country department project device part document order rule server"))


def texts(data: Path, *folders: str) -> Iterator[Document]:
    """Give the documents of folders."""
    for folder in folders:
        yield from load_data_folder(data / folder).documents.values()


class Pool:
    """Names by kind, drawn for one part at a time."""

    def __init__(self, found: Names) -> None:
        """Keep the names found."""
        self._found = found

    def draw(self, kind: str, part: Part, rng: Random) -> str:
        """Draw a name of a kind."""
        kind = "person" if kind == "employee" else kind
        known = self._found.get((kind, part), [])
        if known and kind not in _MADE and not (kind == "software" and rng.random() < 0.2):
            return rng.choice(known)
        return self._made(kind, part, rng) or rng.choice(self._found.get((kind, "train"), ["Quarry"]))

    def _made(self, kind: str, part: Part, rng: Random) -> str | None:
        """Make a name of a kind; of a few kinds there are too few for every part."""
        name = None
        for _ in range(200):
            name = made(kind, rng)
            if name is None or assign_part(key(name)) == part:
                break
        return name

    def all(self, kind: str) -> list[str]:
        """List the names of a kind, of all parts."""
        return [name for (of, _), names in self._found.items() if of == kind for name in names]

    def two(self, kind: str, part: Part, rng: Random) -> tuple[str, str]:
        """Draw two different names of a kind."""
        one = self.draw(kind, part, rng)
        for _ in range(20):
            other = self.draw(kind, part, rng)
            if fold(other) != fold(one):
                return one, other
        return one, made("project", rng) or one


@lru_cache(maxsize=2)
def pool(data: Path) -> Pool:
    """Collect the names of the folders under a path."""
    articles = names(texts(data, *_ARTICLES))
    return Pool({**articles, **terms(texts(data, "techdocs_faq"))})


def drawn_part(rng: Random) -> Part:
    """Draw what a made example is for."""
    share = rng.random()
    return "measure" if share < 0.1 else "choose" if share < 0.15 else "train"
