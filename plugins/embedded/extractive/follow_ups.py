"""The embedded model's handling of follow-ups: complete a question that lacks what it asks about, and leave any other unchanged."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ramify.embedded.encoders.packaged import similarities
from ramify.embedded.extractive import ReplyFields, Slots
from ramify.embedded.extractive.references import (
    ARTICLES,
    SINGULAR,
    add_circumstance,
    agrees,
    ask_again,
    has_preposition,
    has_subject_before,
    is_about_event,
    is_question_word_alone,
    named_by_fragment,
    replace_reference,
    with_article,
    with_singular_verb,
    writer_form,
)
from ramify.embedded.splitting import Rewriting, log_probabilities, rewrite_follow_up
from ramify.tools.anaphora import PERSONAL, PLACES, POSSESSIVES, is_fragment, referring_words, without_lead_in
from ramify.tools.english import (
    ENGLISH_STOP_WORDS,
    WORD,
    are_persons,
    content_stems,
    descriptions,
    find_names,
    fold,
    has_pronoun,
    person_asked_for,
    person_named_by,
    person_probabilities,
    same_question,
)
from ramify.tools.languages import is_english_question
from ramify.tools.names import contains_name
from ramify.tools.no_answer import is_unknown

_MIN_FLUENCY: Final = -0.25
"""Least mean log probability of a rewritten question's words."""
_COMPLETE: Final = -2.0
"""A question is complete if the writer finds it at least this likely as it is: log probability."""
_COMPLETE_WITH_NOUN: Final = -5.0
"""The same for a fragment, and for a possessive behind a noun that it may refer to: "How do companies hire their employees?"."""
_COMPLETE_WITH_REPEATED_NOUN: Final = -0.7
_MAX_LOSS: Final = 12.0
_MIN_PERSON: Final = 0.8
"""From this probability on, "it" does not mean a phrase, and "the inventor" means a person."""
_MAX_ANSWER_CHARS: Final = 300
_MAX_SUBSTITUTE_WORDS: Final = 6
"""Longer answers are sentences."""
_MIN_MARGIN: Final = 0.1
"""A new name replaces the name of a question that is more like it than any other by this difference of similarity."""
_HOW_BE: Final = re.compile(r"^How (is|are|was|were) (the|an?)\b")
"""What the writer makes of "How heavy is it?" and "And the price?"."""


def contextualize(slots: Slots) -> ReplyFields:
    """Rewrite a follow-up question to be self-contained, from the last turn that completes it; a complete question is unchanged."""
    question = str(slots["question"])
    if not is_english_question(question):
        return {"question": question}
    completed = (_complete(question, turn) for turn in reversed(slots["turns"]))
    return {"question": next(filter(None, completed), question)}


def _complete(question: str, turn: Mapping[str, Any]) -> str | None:
    """Return the question completed from one turn; None if it lacks nothing, or the turn has nothing that fits."""
    asked, answer = _with_chosen(str(turn["asked"]), str(turn["answer"])), str(turn["answer"])
    refers = has_pronoun(question) or any(_repeats_noun(noun, asked) for noun in descriptions(question))
    is_meant = turn["sure"] or (refers and person_asked_for(asked) == "")
    lines = [asked, answer[:_MAX_ANSWER_CHARS]] if is_meant and not is_unknown(answer) else [asked]
    referring = next(iter(referring_words(question)), None)
    if referring is None and not is_fragment(question):
        return _extend_noun(question, lines)
    if referring is None and is_question_word_alone(question):
        return ask_again(question, asked) or None
    rewritings = [rewrite_follow_up(form, "\n".join(lines)) for form in dict.fromkeys((writer_form(question), without_lead_in(question)))]
    rewriting = next((rewriting for rewriting in rewritings if rewriting.fluency >= _MIN_FLUENCY), rewritings[0])
    noun = referring is None or (referring[0].casefold() in POSSESSIVES and has_subject_before(question, referring))
    if rewriting.unchanged > (_COMPLETE_WITH_NOUN if noun else _COMPLETE):
        return None
    if referring is None:
        return _complete_fragment(question, rewriting, lines)
    if rewriting.fluency >= _MIN_FLUENCY and _means(question, referring, rewriting.question, lines):
        meant = added_phrase(question, rewriting.question)
        rewritten = with_article(rewriting.question, meant, asked)
        return with_singular_verb(rewritten, meant) if referring[0].casefold() == "they" else rewritten
    if is_about_event(question, referring):
        return ask_again(question, asked) or None
    return _substitute(question, referring, rewriting.question, lines)


def _with_chosen(asked: str, answer: str) -> str:
    """Return a question for one of several named things with the one that the answer names in their place: only that is meant by "it"."""
    names = find_names(asked)
    chosen = [name for name in names if contains_name(answer, name)]
    if len(names) < 2 or len(chosen) != 1 or " or " not in asked:
        return asked
    start, end = asked.find(names[0]), asked.rfind(names[-1]) + len(names[-1])
    return f"{asked[:start]}{chosen[0]}{asked[end:]}" if " or " in asked[start:end] else asked


def _complete_fragment(question: str, rewriting: Rewriting, lines: Sequence[str]) -> str | None:
    """Return a question without a clause as that of the turn, asked of something else, or with other question words."""
    if with_circumstance := add_circumstance(question, lines[0]):
        return with_circumstance
    if find_names(without_lead_in(question)) and not find_names(lines[0]):
        return None
    if replaced := _replace_name_of_its_kind(question, lines[0]):
        return replaced
    rewritten = _HOW_BE.sub(r"What \1 \2", rewriting.question)
    for name in find_names(lines[0]):
        rewritten = rewritten if contains_name(question, name) else with_article(rewritten, name, lines[0])
    return rewritten if rewriting.fluency >= _MIN_FLUENCY and _is_sound(question, rewritten, lines) else None


def _replace_name_of_its_kind(question: str, asked: str) -> str:
    """Return the earlier question with a new name for that of its kind ("macOS" for "Windows"); empty if it is not clear which that is."""
    new, preposition = named_by_fragment(question)
    if not new or contains_name(asked, new):
        return ""
    names = [name for name in find_names(asked) if not preposition or f" {preposition} {name}" in asked]
    noun = new.split()[-1]
    with_noun = [f"{name} {noun}" for name in names if noun.islower() and contains_name(asked, f"{name} {noun}")]  # "the Basic plan"
    is_sure = bool(preposition or with_noun)
    ranked = sorted(zip(similarities(new, with_noun or names), with_noun or names, strict=True), reverse=True)
    if not ranked or (len(ranked) == 1 and not is_sure) or (len(ranked) > 1 and ranked[0][0] - ranked[1][0] < _MIN_MARGIN):
        return ""
    article = r"(?:\bthe )?" if new.startswith("the ") else ""
    return re.sub(rf"{article}\b{re.escape(ranked[0][1])}\b", lambda _: new, asked, count=1)


def _repeats_noun(noun: str, asked: str) -> bool:
    """Return whether "the" and a noun repeat a word of the turn's question: "the inventor" after "Who invented …?"."""
    return noun.casefold().startswith("the ") and len(noun.split()) == 2 and content_stems(noun) <= content_stems(asked)


def _extend_noun(question: str, lines: Sequence[str]) -> str | None:
    """Return a question whose noun repeats one of the turn with that turn's words for it: "the inventor", "the warranty of the drill"."""
    if find_names(question):
        return None
    for noun in descriptions(question):
        if not _repeats_noun(noun, lines[0]):
            continue
        longer = [phrase for phrase in descriptions(lines[0]) if phrase.casefold().startswith(f"{noun.casefold()} ")]
        is_person = person_probabilities([noun])[0] >= _MIN_PERSON and person_asked_for(lines[0]) is not None
        phrases = longer[-1:] or ([name for name in map(person_named_by, lines[1:]) if name] if is_person else [])
        candidates = [question.replace(noun, phrase) for phrase in phrases]
        likely = log_probabilities(question, "\n".join(lines), [question, *candidates])
        if candidates and likely[0] < _COMPLETE_WITH_REPEATED_NOUN and likely[1] > likely[0] - _MAX_LOSS:
            return candidates[0]
    return None


def _substitute(question: str, referring: re.Match[str], rewritten: str, lines: Sequence[str]) -> str | None:
    """Return the question with its pronoun replaced by what the writer put for it, or by what else the turn names; None if nothing fits."""
    word = referring[0].casefold()
    if word not in PERSONAL | POSSESSIVES | PLACES:
        return None
    short = [line.rstrip(" .") for line in lines[1:] if len(line.split()) <= _MAX_SUBSTITUTE_WORDS and _is_name(line)]
    phrases = [added_phrase(question, rewritten), *short, *find_names(lines[0]), *descriptions(lines[0])]
    replaced = {phrase: replace_reference(question, referring, phrase) for phrase in phrases if phrase}
    candidates = [with_article(candidate, phrase, lines[0]) for phrase, candidate in replaced.items()]
    fitting = [candidate for candidate in candidates if _means(question, referring, candidate, lines)]
    likely = log_probabilities(question, "\n".join(lines), fitting)
    return max(zip(likely, fitting, strict=True))[1] if fitting else None


def _is_name(answer: str) -> bool:
    """Return whether an answer is a name: neither yes or no, nor a number or a date."""
    return answer[:1].isupper() and fold(answer) not in ("yes", "no") and not any(sign.isdigit() for sign in answer)


def _is_sound(question: str, rewritten: str, lines: Sequence[str]) -> bool:
    """Return whether a rewritten question has all words of the question, none that was not said, and lacks nothing itself."""
    said, stems = content_stems(" ".join((question, *lines))), content_stems(rewritten)
    asked = without_lead_in(question)
    names = all(any(contains_name(line, name) for line in (question, *lines)) for name in find_names(rewritten))
    return names and content_stems(asked) <= stems <= said and not same_question(rewritten, asked) and not referring_words(rewritten)


def _means(question: str, referring: re.Match[str], rewritten: str, lines: Sequence[str]) -> bool:
    """Return whether a rewritten question is sound, with something in place of the pronoun that it can mean: a person for "she"."""
    if not _is_sound(question, rewritten, lines):
        return False
    meant = added_phrase(question, rewritten)
    if not meant or not agrees(referring[0], meant):
        return False
    if has_pronoun(question):
        is_answer = len(lines) > 1 and person_asked_for(lines[0]) is not None and contains_name(lines[1], meant)
        return is_answer or are_persons([meant])[0]
    if referring[0].casefold() in PLACES and (not has_preposition(rewritten, meant) or are_persons([meant])[0]):
        return False
    if is_about_event(question, referring):
        return len(lines) > 1 and contains_name(lines[1], meant) and not are_persons([meant])[0]
    return referring[0].casefold() not in SINGULAR or person_probabilities([meant])[0] < _MIN_PERSON


def added_phrase(question: str, rewritten: str) -> str:
    """Return the longest run of words that a rewritten question has in addition, without the preposition before it."""
    asked = {fold(word) for word in WORD.findall(question)}
    runs: list[list[str]] = [[]]
    for word in rewritten.rstrip(" ?.!").split():
        if fold(word) in asked and fold(word) not in ARTICLES:
            runs.append([])
        else:
            runs[-1].append(word.strip(",;:"))
    best = max(runs, key=lambda run: len(content_stems(" ".join(run))))
    while best and fold(best[0]) in ENGLISH_STOP_WORDS - ARTICLES:
        best = best[1:]
    return re.sub(r"['’]s?$", "", " ".join(best))
