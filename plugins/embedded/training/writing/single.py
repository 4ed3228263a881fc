"""Questions that people asked of one passage, which are not to be split."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from plugins.embedded.training.example import seeded_random
from plugins.embedded.training.relations import WORDINGS
from plugins.embedded.training.source import Folder, load_data_folder
from plugins.embedded.training.writing.names import drawn_part, key, pool
from plugins.embedded.training.writing.written import Written, ask, fold, one, typed

_FOLDERS: Final = {
    "squad_dev": 4200,
    "squadshifts": 2400,
    "nq_oracle_dev": 1500,
    "qed_dev": 600,
    "boolq_train": 1100,
    "fairytaleqa": 900,
    "tatqa_text": 400,
    "techdocs_faq": 1700,
    "covidqa_200423": 400,
    "pubmedqa_labelled": 300,
    "qamr_dev_test": 250,
    "clapnq_dev": 250,
    "selqa_ass": 400,
    "boolq_dev": 300,
}
_LEANS = re.compile(r"\b(?:he|she|they|his|her|their|them|him|it|its|this|that one|these|those)\b", re.IGNORECASE)
_SPLITS = re.compile(
    r"\b(?:both|either|or|older|younger|earlier|longer|larger|more .* than|same|which of|compare\w*|difference\w* between|"
    r"differ|versus|vs)\b"
    r"|\b(?:who|what|which|when|where|why|how)\b.* and (?:who|what|which|when|where|why|how)\b"
    r"|\b(?:of|in|by|from|for|with|to) (?:the|a) (?:\w+ ){1,3}(?:who|that|which|whose|where)\b|\bwhose\b|\bthe (?:\w+ "
    r"){1,2}(?:who|that|which|whose) ",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?:who|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|should|has|have|in|on|at|for|by|to|under|from)\b",
    re.IGNORECASE,
)
_KINDS: Final = {
    "director": "film",
    "composer": "film",
    "publication date": "film",
    "performer": "song",
    "author": "book",
    "inception": "company",
    "founded by": "company",
    "population": "city",
    "country": "city",
    "location": "building",
    "architect": "building",
    "inventor": "invention",
    "developer": "game",
    "publisher": "magazine",
    "record label": "album",
    "screenwriter": "film",
    "producer": "film",
    "cast member": "film",
    "country of origin": "film",
    "member of": "person",
}


def asked_of_one(data: Path) -> Iterator[Written]:
    """Give questions that were asked of one passage: each folder up to a share of its own."""
    for name, most in _FOLDERS.items():
        folder = load_data_folder(data / name)
        plain = [item for item in folder.questions if plainly_single(item["question"])]
        for item in seeded_random("single", name).sample(plain, min(most, len(plain))):
            text = re.sub(r"\s+", " ", item["question"]).strip()
            yield one(text, f"single_{name}", group_of(folder, item))


def plainly_single(question: str) -> bool:
    """Tell whether a question is one by itself, and has none of the looks of one to be split."""
    count = len(question.split())
    return 3 <= count <= 45 and bool(_OPENS.match(question)) and not _SPLITS.search(question)


def group_of(folder: Folder, item: dict[str, Any]) -> str:
    """Name what a question is dealt by: the article that it was asked of."""
    for support in item["supporting"]:
        document = folder.documents.get(support["doc_id"])
        if document:
            return fold(document.title or "") or document.id
        if support.get("title"):
            return fold(support["title"])
    return fold(item["question"])


def worded(data: Path, count: int) -> Iterator[Written]:
    """Ask plainly for relations of names, in many wordings."""
    names = pool(data)
    for number in range(count):
        rng = seeded_random("worded", number)
        relation = rng.choice(list(WORDINGS))
        name = names.draw(_KINDS.get(relation, "person"), drawn_part(rng), rng)
        wording = rng.choice([wording for wording in WORDINGS[relation] if ">>" not in wording])
        yield typed(one(ask(wording.format(s=name)), "single_worded", key(name)), rng)


def leans(question: str) -> bool:
    """Tell whether a question refers to something outside it."""
    return bool(_LEANS.search(question))
