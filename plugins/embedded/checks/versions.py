"""Versions of passages: which one a question asks for, and what another one says in place of an answer."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from ramify.embedded.checks.contradiction import contradicts
from ramify.tools.english import NUMBER_WORDS, WORD, content_stems, fold
from ramify.tools.supporting_sentence import QuestionAnswer, contains_answer, split_statements, supporting_lines
from ramify.tools.versions import OtherVersion, Version, VersionedText, are_versions, parse_version, shared_words, versions_among

_MIN_SHARED_IN_SENTENCE = 0.5
_LAST_DAY = (9999, 12, 31)
_MAX_VALUE_WORDS = 12


def superseded(question: str, passages: Sequence[VersionedText]) -> frozenset[int]:
    """Return the passages, by index, of which another one is the version that a question asks for, or the newest.

    A passage stays if it has a word of the question that the other one lacks, as then they are about different things.
    """
    asked, words, dropped = parse_version(question), content_stems(question), set()
    for pair in versions_among(passages):
        versions = [parse_version(passages[place].version) for place in pair]
        wanted = _preferred(asked, *versions)
        loser, winner = (passages[pair[1 - wanted]], passages[pair[wanted]])
        own, other = (content_stems(f"{text.title} {text.heading} {text.text}") for text in (loser, winner))
        if not {word for word in words & own - other if not word.isdecimal()}:
            dropped.add(pair[1 - wanted])
    return frozenset(dropped)


def _preferred(asked: Version, first: Version, second: Version) -> int:
    """Return which of two versions is asked for, else the newer one: 0 or 1."""
    pair = (first, second)
    if asked.number and first.number and second.number:
        fitting = [version.number[: len(asked.number)] == asked.number for version in pair]
        if fitting[0] != fitting[1]:
            return fitting.index(True)
    if first.date and second.date and first.date != second.date:
        until = asked.date + _LAST_DAY[len(asked.date) :]
        in_force = [not asked.date or version.date <= until for version in pair]
        return in_force.index(True) if in_force[0] != in_force[1] else int(second.date > first.date)
    return int(second.number > first.number)


def contradictions(question: str, answer: str, cited: VersionedText, passages: Sequence[VersionedText]) -> list[OtherVersion]:
    """Return the other versions of a cited passage that say something else than the answer."""
    others = [passage for passage in passages if cited.version and passage.version and are_versions(cited, passage)]
    values = ((other, _other_value(question, answer, cited.text, other.text)) for other in others)
    return [OtherVersion(other, value) for other, value in values if value]


def _numbers(text: str) -> set[str]:
    """Return the numbers of a text, in digits and in words."""
    words = WORD.findall(text.casefold())
    return {str(NUMBER_WORDS.get(word, word)) for word in words if word in NUMBER_WORDS or word[0].isdigit()}


def _other_value(question: str, answer: str, text: str, other: str) -> str:
    """Return what another version says in place of an answer; empty if it says the same, or nothing of it."""
    lines, units = supporting_lines(text, QuestionAnswer(question, answer)), split_statements(other)
    unit = " ".join(lines)
    windows = (" ".join(units[place : place + len(lines)]) for place in range(max(1, len(units) - len(lines) + 1)))
    near = max(windows, key=lambda window: shared_words(unit, window), default="")
    if shared_words(unit, near) < _MIN_SHARED_IN_SENTENCE or fold(unit) == fold(near) or contains_answer(near, answer):
        return ""
    words, others, wanted = unit.split(), near.split(), answer.split()
    starts = [at for at in range(len(words)) if fold(" ".join(words[at : at + len(wanted)])) == fold(answer)]
    if fold(answer) in ("yes", "no"):  # only another number or a denial turns it round
        return near if _numbers(unit) != _numbers(near) or contradicts(near, unit) else ""
    if not starts:
        return near
    first, last = starts[0], starts[0] + len(wanted)
    matcher = SequenceMatcher(None, [fold(word) for word in words], [fold(word) for word in others], autojunk=False)
    spans = [(low, high) for tag, start, end, low, high in matcher.get_opcodes() for _ in [tag] if start < last and end > first]
    equal = {start + at: low + at for tag, start, end, low, _ in matcher.get_opcodes() if tag == "equal" for at in range(end - start)}
    low = equal.get(first, min((span[0] for span in spans), default=0))
    high = equal[last - 1] + 1 if last - 1 in equal else max((span[1] for span in spans), default=0)
    value = " ".join(others[low:high]).strip(" ,;.")
    return value if value and len(others[low:high]) <= len(wanted) + _MAX_VALUE_WORDS else near
