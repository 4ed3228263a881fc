"""The embedded model's readers of passages and its checks take any text, as those of the core do."""

from hypothesis import given

from ramify.embedded.checks.claims import find_fault
from ramify.embedded.checks.contradiction import contradicts, misplaces_number
from ramify.embedded.checks.statements import read_clauses
from ramify.embedded.checks.versions import contradictions, superseded
from ramify.embedded.extractive.references import (
    add_circumstance,
    ask_again,
    named_by_fragment,
    replace_reference,
    unclear_reference,
    with_article,
    with_singular_verb,
)
from ramify.embedded.reader.listed_items import find_lists, listed_answer
from ramify.embedded.reader.selection import passage_about, select_passages
from ramify.tools.anaphora import referring_words
from ramify.tools.identifiers import find_identifiers
from ramify.tools.reader import Material
from ramify.tools.supporting_sentence import QuestionAnswer
from ramify.tools.versions import VersionedText
from tests.tools.test_any_text import texts


@given(texts, texts)
def test_selection_and_lists(question: str, text: str) -> None:
    passage_about(find_identifiers(question), text, [question])
    select_passages(question, [{"title": question, "source": "a.md", "text": text}])
    find_lists(text)
    listed_answer(question, text, question, 0, len(text))


@given(texts, texts, texts)
def test_claims_and_versions(sentence: str, text: str, answer: str) -> None:
    asked = [QuestionAnswer(sentence, answer)]
    read_clauses(Material(sentence, text))
    find_fault(sentence, [Material(answer, text)], asked)
    assert contradicts(sentence, text) in (True, False)
    assert misplaces_number(sentence, [text]) in (True, False)
    versions = [VersionedText(f"a_{year}.md", "", "", part, year) for year, part in (("2020", text), ("2021", sentence))]
    assert superseded(answer, versions) <= {0, 1}
    contradictions(sentence, answer, versions[0], versions[1:])


@given(texts, texts)
def test_follow_ups(question: str, earlier: str) -> None:
    for word in referring_words(question):
        assert isinstance(replace_reference(question, word, earlier), str)
    for value in (add_circumstance(question, earlier), ask_again(question, earlier), unclear_reference(question)):
        assert isinstance(value, str)
    named_by_fragment(question)
    with_article(question, earlier, question)
    with_singular_verb(question, earlier)
