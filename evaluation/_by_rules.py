"""Questions from what documents say in a fixed form: definitions, records, instructions and headings.

Weaker than a model's: they ask for what one sentence says, mostly in its own words.
"""

import re
from collections.abc import Callable, Iterator

from ramify.evaluation.question_file import Proposed
from ramify.nodes.tree import Passage
from ramify.tools.english import MIN_PERSON_PROBABILITY, fold, person_probabilities, strip_disambiguation
from ramify.tools.supporting_sentence import split_statements

_GOES_ON = "which|who|whose|where|born|with|but|so|because|although|while|known|named|published|directed|based|founded|located"
_DEFINED = re.compile(
    r"((?:An? )?[\w'’.-]+(?: [\w'’.-]+){0,4}?) (is|are|was|were) "
    r"((?:an?|the|one of) [^,;:()]{8,110}(?:, [A-Z]\w*(?: [A-Z]\w*)*)?)"
    rf"(?=\.$|, (?:{_GOES_ON})\b)"
)
"""A definition: what is defined, the verb, and what it is said to be."""
_NO_NAME = (
    r"(?:this|that|these|those|it|its|there|here|he|she|they|we|you|i|his|her|their|our|your|which|what|who|how|when|where|if|as|to|in|on|at|by|"
    r"for|from|with|of|then|thus|also|and|or|but|so|such|any|some|each|every|all|both|other|one|another|return|returns|true|false|note|only|"
    r"most|more|first|second|third|next|last|see|use|following|unless|until|since)"
)
"""Words with which a sentence begins that names nothing to ask for, and those that stand for something named before."""
_WITHIN = frozenset({"it", "they", "them", "this", "that", "these", "those", "such", "which", "who", "there"})
_RECORD = re.compile(r"([A-Z][a-z]\w*(?: [\w/-]+){0,2}): ([\w\"'][^:|\n]{0,60}[^\s.:|;,])")
_NO_FIELD = frozenset({"see also", "see", "note", "notes", "next", "previous", "up", "example", "examples", "warning", "for example"})
_DO = "use|call|type|press|set|run|enter|choose|select|click|add|write|put|specify|start|open|turn|hold|check|install|remove|edit"
_STEPS = re.compile(rf"To ([a-z]+ [^,.;:()]{{8,90}}?),? ((?:{_DO}) [^.;]{{3,160}})\.")
_HOW_TO = re.compile(r"(?:[\d.]+ )?How [Tt]o (\w.{4,80})")


def definitions(passage: Passage) -> Iterator[tuple[str, str, str, str]]:
    """Yield what is defined, the verb, the definition, and the sentence; nothing for a name that titles several documents."""
    for sentence in split_statements(passage.text):
        if not (found := _DEFINED.match(sentence)):
            continue
        first, *words = fold(found[1]).split()
        ambiguous = passage.title != strip_disambiguation(passage.title) and fold(found[1]) == fold(strip_disambiguation(passage.title))
        of_name = first == "the" and not found[1].split()[1:2][0][:1].isupper() if words else first in ("a", "an", "the")
        begins = words[0] if first in ("a", "an", "the") and words else first
        if found[1][0].isupper() and not (
            ambiguous or of_name or re.fullmatch(_NO_NAME, begins) or _WITHIN & {*words, *fold(found[3]).split()[-3:]}
        ):
            name = found[1] if passage.title.startswith(found[1]) else re.sub(r"^(The|An?) ", lambda match: match[0].lower(), found[1])
            yield name, found[2], found[3].strip(), sentence


def facts(passage: Passage) -> Iterator[Proposed]:
    """Yield questions for definitions, and for the values of records."""
    for name, verb, said, sentence in definitions(passage):
        asks = "Who" if person_probabilities([name])[0] >= MIN_PERSON_PROBABILITY else "What"
        yield {"question": f"{asks} {verb} {name}?", "answer": said, "quote": sentence, "rule": "a definition"}
    about = passage.title.partition(" (")[0]
    lines = [_RECORD.fullmatch(line.strip()) for line in passage.text.splitlines() if line.strip()]
    for before, found, after in zip([None, *lines], lines, [*lines[1:], None], strict=False):
        if not about or found is None or (before is None and after is None) or fold(found[1]) in _NO_FIELD:
            continue  # a record has several fields; one line alone is a remark
        asked = f"What is the {found[1][0].lower()}{found[1][1:]} of {about}?"
        yield {"question": asked, "answer": found[2].strip(), "quote": found[0], "rule": "a record"}


def yes_no(passage: Passage) -> Iterator[Proposed]:
    """Yield questions for a definition, to be answered with Yes."""
    for name, verb, said, sentence in definitions(passage):
        asked = f"{verb.capitalize()} {name} {said}?"
        yield {"question": asked, "answer": "Yes", "quote": sentence, "rule": "a definition", "name": name, "verb": verb, "said": said}


def how_to(passage: Passage) -> Iterator[Proposed]:
    """Yield questions for what a sentence tells to do for a purpose, and for a heading that says "How to"."""
    told = split_statements(passage.text)
    for sentence in told:
        if (found := _STEPS.match(sentence)) and found[2].count("(") == found[2].count(")") and not _WITHIN & {*fold(found[1]).split()}:
            yield {"question": f"How do you {found[1]}?", "answer": found[2], "quote": sentence, "rule": "an instruction"}
    heading = str(passage.metadata.get("heading") or passage.title).split(" > ")[-1].strip()
    if (found := _HOW_TO.fullmatch(heading)) and told:
        yield {"question": f"How do you {found[1].rstrip('?')}?", "answer": told[0], "quote": told[0], "rule": "a heading"}


RULES: dict[str, Callable[[Passage], Iterator[Proposed]]] = {"fact": facts, "yes-no": yes_no, "how-to": how_to}
"""The kinds of question that rules find."""


def negated(question: Proposed, other: Proposed) -> Proposed:
    """Return a yes/no question that asks whether something is what another thing is, to be answered with No."""
    return {**question, "question": f"{question['verb'].capitalize()} {question['name']} {other['said']}?", "answer": "No"}
