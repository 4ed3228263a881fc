"""Generate questions by rules from definitions, records, instructions and headings.

Simpler than those of a model: each asks for the content of one sentence, mostly in its own words.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import PurePath
from typing import Any

from ramify.tools.english import MIN_PERSON_PROBABILITY, fold, person_probabilities, strip_disambiguation
from ramify.tools.passage import Passage
from ramify.tools.supporting_sentence import split_statements

RuleQuestion = dict[str, Any]
"""A question with its answer, the quote that answers it, and the rule; of a definition also its parts."""
_CONTINUATION = "which|who|whose|where|born|with|but|so|because|although|while|known|named|published|directed|based|founded|located"
_DEFINITION = re.compile(
    r"((?:An? )?[\w'’.-]+(?: [\w'’.-]+){0,4}?) (is|are|was|were) "
    r"((?:an?|the|one of) [^,;:()]{8,110}(?:, [A-Z]\w*(?: [A-Z]\w*)*)?)"
    rf"(?=\.$|, (?:{_CONTINUATION})\b)"
)
"""A definition: the defined term, the verb and the definition."""
_NON_NAME = (
    r"(?:this|that|these|those|it|its|there|here|he|she|they|we|you|i|his|her|their|our|your|which|what|who|how|when|where|if|as|to|in|on|at|by|"
    r"for|from|with|of|then|thus|also|and|or|but|so|such|any|some|each|every|all|both|other|one|another|return|returns|true|false|note|only|"
    r"most|more|first|second|third|next|last|see|use|following|unless|until|since)"
)
"""Initial words of sentences that define no named thing: pronouns, conjunctions, adverbs and the like."""
_PRONOUNS = frozenset({"it", "they", "them", "this", "that", "these", "those", "such", "which", "who", "there"})
_RECORD = re.compile(r"([A-Z][a-z]\w*(?: [\w/-]+){0,2}): ([\w\"'][^:|\n]{0,60}[^\s.:|;,])")
_NON_FIELDS = frozenset({"see also", "see", "note", "notes", "next", "previous", "up", "example", "examples", "warning", "for example"})
_IMPERATIVES = "use|call|type|press|set|run|enter|choose|select|click|add|write|put|specify|start|open|turn|hold|check|install|remove|edit"
_INSTRUCTION = re.compile(rf"To ([a-z]+ [^,.;:()]{{8,90}}?),? ((?:{_IMPERATIVES}) [^.;]{{3,160}})\.")
_HOW_TO_HEADING = re.compile(r"(?:[\d.]+ )?How [Tt]o (\w.{4,80})")


def find_definitions(passage: Passage) -> Iterator[tuple[str, str, str, str]]:
    """Yield the defined term, verb, definition and sentence of each definition; terms that title several documents are skipped."""
    for sentence in split_statements(passage.text):
        if not (definition := _DEFINITION.match(sentence)):
            continue
        first, *words = fold(definition[1]).split()
        ambiguous = passage.title != strip_disambiguation(passage.title) and fold(definition[1]) == fold(
            strip_disambiguation(passage.title)
        )
        of_name = first == "the" and not definition[1].split()[1:2][0][:1].isupper() if words else first in ("a", "an", "the")
        begins = words[0] if first in ("a", "an", "the") and words else first
        if definition[1][0].isupper() and not (
            ambiguous or of_name or re.fullmatch(_NON_NAME, begins) or _PRONOUNS & {*words, *fold(definition[3]).split()[-3:]}
        ):
            name = (
                definition[1]
                if passage.title.startswith(definition[1])
                else re.sub(r"^(The|An?) ", lambda match: match[0].lower(), definition[1])
            )
            yield name, definition[2], definition[3].strip(), sentence


def fact_questions(passage: Passage) -> Iterator[RuleQuestion]:
    """Yield questions about definitions and about the values of records."""
    for name, verb, definition, sentence in find_definitions(passage):
        asks = "Who" if person_probabilities([name])[0] >= MIN_PERSON_PROBABILITY else "What"
        yield {"question": f"{asks} {verb} {name}?", "answer": definition, "quote": sentence, "rule": "a definition"}
    about = "" if passage.title == PurePath(passage.source.partition("#")[0]).stem else passage.title.partition(" (")[0]  # a file's name
    lines = [_RECORD.fullmatch(line.strip()) for line in passage.text.splitlines() if line.strip()]
    for before, record, after in zip([None, *lines], lines, [*lines[1:], None], strict=False):
        if not about or record is None or (before is None and after is None) or fold(record[1]) in _NON_FIELDS:
            continue  # a record has several fields; a single line is not one
        question = f"What is the {record[1][0].lower()}{record[1][1:]} of {about}?"
        yield {"question": question, "answer": record[2].strip(), "quote": record[0], "rule": "a record"}


def yes_no_questions(passage: Passage) -> Iterator[RuleQuestion]:
    """Yield yes/no questions about definitions; the answer is Yes."""
    for name, verb, definition, sentence in find_definitions(passage):
        question = f"{verb.capitalize()} {name} {definition}?"
        yield {
            "question": question,
            "answer": "Yes",
            "quote": sentence,
            "rule": "a definition",
            "name": name,
            "verb": verb,
            "definition": definition,
        }


def how_to_questions(passage: Passage) -> Iterator[RuleQuestion]:
    """Yield questions about instructions ("To …, use …") and about headings that begin with "How to"."""
    sentences = split_statements(passage.text)
    for sentence in sentences:
        if (
            (match := _INSTRUCTION.match(sentence))
            and match[2].count("(") == match[2].count(")")
            and not _PRONOUNS & {*fold(match[1]).split()}
        ):
            yield {"question": f"How do you {match[1]}?", "answer": match[2], "quote": sentence, "rule": "an instruction"}
    heading = str(passage.metadata.get("heading") or passage.title).split(" > ")[-1].strip()
    if (match := _HOW_TO_HEADING.fullmatch(heading)) and sentences:
        words = match[1].split()
        in_title_case = 2 * sum(word[0].isupper() for word in words) > len(words)
        task = " ".join(word.lower() if in_title_case and not word.isupper() else word for word in words)
        yield {
            "question": f"How do you {task[0].lower()}{task[1:].rstrip('?')}?",
            "answer": sentences[0],
            "quote": sentences[0],
            "rule": "a heading",
        }


RULES: dict[str, Callable[[Passage], Iterator[RuleQuestion]]] = {
    "fact": fact_questions,
    "yes-no": yes_no_questions,
    "how-to": how_to_questions,
}
"""The rule of each kind of question."""


def negate_question(question: RuleQuestion, other: RuleQuestion) -> RuleQuestion:
    """Return a yes/no question about one term with the definition of another; the answer is No."""
    return {**question, "question": f"{question['verb'].capitalize()} {question['name']} {other['definition']}?", "answer": "No"}


MAX_SUGGESTED_CHARS = 90
"""Longer questions are not suggested."""


def suggest_questions(passages: Sequence[Passage], most: int) -> list[str]:
    """Return at most so many questions that the passages answer, of facts and instructions in turn: one of each source, then others."""
    in_turn = zip_longest(_candidates(passages, "fact"), _candidates(passages, "how-to"))
    candidates = [candidate for both in in_turn for candidate in both if candidate is not None]
    of_sources: dict[str, str] = {}
    for source, text in candidates:
        of_sources.setdefault(source, text)
    return list(dict.fromkeys([*of_sources.values(), *(text for _, text in candidates)]))[:most]


def _candidates(passages: Sequence[Passage], kind: str) -> Iterator[tuple[str, str]]:
    """Yield the source and the text of each short question of a kind; a definition has to be of what its section is about."""
    for passage in passages:
        above = {*fold(f"{passage.title} {passage.metadata.get('heading', '')}").split()}
        for asked in RULES[kind](passage):
            term = re.sub(r"^\w+ \w+ (the |an? )?|\?$", "", asked["question"])
            of_its_section = asked["rule"] != "a definition" or {*fold(term).split()} <= above
            if of_its_section and len(asked["question"]) <= MAX_SUGGESTED_CHARS:
                yield passage.source, asked["question"]
