"""What the embedded model replies to the prompts that ask on, plan and weigh."""

import subprocess
import sys
from typing import Any

import pytest

import ramify.prompts as prompts
from plugins.embedded.tests.extractive.test_extractive import (
    BORN,
    BRIDGE,
    CURIE,
    CURIE_BORN,
    DIRECTOR,
    FACTS,
    FIRST,
    PASSAGES,
    SOLARIS,
    SPLITS,
    TARKOVSKY,
    TARKOVSKY_BORN,
    reply,
)
from ramify.embedded.extractive import follow_ups
from ramify.embedded.extractive.follow_ups import contextualize
from ramify.embedded.extractive.model import reply_to
from ramify.embedded.splitting import Rewriting
from ramify.prompts import (
    ANSWER,
    COMPRESS,
    DECIDE,
    DECOMPOSE,
    ENTITIES,
    FILTER,
    FINALIZE,
    JUDGE,
    NEXT_QUESTION,
    PLAN,
    RUBRIC,
    SUMMARIZE,
)
from ramify.tools.errors import UsageError
from tests.tools.fake_reader import give_mind, split

pytestmark = pytest.mark.usefixtures("mind")


def finding(path: str, question: str, answer: str) -> dict[str, Any]:
    fields = {"path": path, "kind": "question", "question": question, "answer": answer, "confidence": 0.9, "status": "leaf"}
    return {**fields, "sources": [], "together": "", "above": []}


def test_a_pair_that_was_rejected_is_not_proposed_again() -> None:
    tried = [f"{CURIE_BORN} (fork scored 0.2, below theta 0.4)", f"{TARKOVSKY_BORN} (fork scored 0.2, below theta 0.4)"]
    assert reply(DECOMPOSE, question=FIRST, rejected=tried).simple
    assert not reply(DECOMPOSE, question=FIRST, rejected=tried[:1]).simple
    filled = [f"{DIRECTOR} (weak)", f"{BORN} (weak; {{1}} filled with 'Andrei Tarkovsky')"]
    assert reply(DECOMPOSE, rejected=filled).simple


def test_a_better_half_that_is_kept_is_one_of_the_next_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    other = split("bridge", "What is Solaris?", "Who made {1}?", sure=0.5)
    anew = split("bridge", DIRECTOR, "In which village was {1} born?", sure=0.3)
    give_mind(monkeypatch, {BRIDGE: (*SPLITS[BRIDGE], other, anew)}, FACTS)
    pair = reply(DECOMPOSE, rejected=[DIRECTOR, BORN], kept=prompts.decompose.keeping(DIRECTOR, "Andrei Tarkovsky"))
    assert (pair.first, pair.second) == (DIRECTOR, "In which village was {1} born?")


def test_the_chain_asks_one_question_after_another_and_stops() -> None:
    first = reply(NEXT_QUESTION)
    second = reply(NEXT_QUESTION, history=[finding("0.0", first.question, "Andrei Tarkovsky")])
    done = reply(
        NEXT_QUESTION, history=[finding("0.0", first.question, "Andrei Tarkovsky"), finding("0.0.0", second.question, "Zavrazhye")]
    )
    assert (first.question, first.together, second.question, done.done) == (DIRECTOR, "bridge", BORN, True)
    assert reply(NEXT_QUESTION, history=[finding("0.0", DIRECTOR, "Unknown")]).done
    assert reply(NEXT_QUESTION, question=BORN).question == BORN


def test_a_chain_goes_down_into_parts_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = "Where was the elder of Marie Curie and Andrei Tarkovsky buried?"
    give_mind(monkeypatch, {**SPLITS, whole: (split("bridge", FIRST, "Where was {1} buried?"),)}, FACTS)
    history = [finding("0.0", CURIE_BORN, "7 November 1867"), finding("0.0.0", TARKOVSKY_BORN, "4 April 1932")]
    asked = [reply(NEXT_QUESTION, question=whole, history=history[:count]).question for count in range(3)]
    assert asked == [CURIE_BORN, TARKOVSKY_BORN, "Where was Marie Curie buried?"]


def test_a_plan_searches_for_names_and_the_parts_that_can_be_asked() -> None:
    plan = reply(PLAN)
    assert plan.primary == BRIDGE
    assert plan.sub_queries == [DIRECTOR, "Solaris"]
    assert "Solaris" in plan.keywords
    assert reply(PLAN, question=FIRST).sub_queries[:2] == [CURIE_BORN, TARKOVSKY_BORN]


def test_the_filter_returns_relevant_passages_with_a_sentence() -> None:
    others = [{"title": f"Pier {number}", "source": f"{number}.md", "text": "Pier is a pier."} for number in range(14)]
    filtered = reply(FILTER, question=BORN, passages=[*others, *PASSAGES], expected="a place")
    assert filtered.relevant == [16]
    assert filtered.facts == [TARKOVSKY["text"].split(". ")[0].removesuffix(".") + "."]
    assert (filtered.sources, filtered.is_sufficient, filtered.suggested) == (["tarkovsky.md"], True, "")
    poor = reply(FILTER, passages=others, expected="a place")
    assert (poor.relevant, poor.is_sufficient, poor.suggested) == ([], False, DIRECTOR)


def test_the_filter_suggests_the_first_part_that_is_not_told_with_the_names_that_are() -> None:
    others = [{"title": f"Pier {number}", "source": f"{number}.md", "text": "Pier is a pier."} for number in range(3)]
    expected = {"expected": "a place"}
    assert reply(FILTER, passages=PASSAGES[:1], **expected).suggested == BORN, "the director stands in a passage"
    assert reply(FILTER, passages=others, facts=["Solaris was directed by Andrei Tarkovsky."], **expected).suggested == BORN
    assert reply(FILTER, passages=PASSAGES, **expected).suggested == "", "both parts are told"
    assert reply(FILTER, question=FIRST, passages=[*others, PASSAGES[2]], **expected).suggested == TARKOVSKY_BORN
    assert reply(FILTER, question=FIRST, passages=others, **expected).suggested == CURIE_BORN
    assert reply(FILTER, question=BORN, passages=others, **expected).suggested == "Andrei Tarkovsky", "a single fact: its names"


def test_the_filter_keeps_the_passage_of_each_part_and_has_enough_when_all_are_read() -> None:
    director = "Solaris is a Soviet science-fiction film of 1972, directed by Andrei Tarkovsky and based on the novel by Stanisław Lem."
    first = reply(FILTER, passages=[CURIE, SOLARIS], expected="a place")
    assert (2 in first.relevant, first.facts[0], first.is_sufficient, first.suggested) == (True, director, False, BORN)
    second = reply(FILTER, passages=[CURIE, TARKOVSKY], facts=[director], expected="a place")
    assert (2 in second.relevant, "Zavrazhye" in second.facts[0], second.is_sufficient, second.suggested) == (True, True, True, "")


def test_a_summary_is_of_what_was_asked_for() -> None:
    summary = reply(SUMMARIZE)
    assert summary.citations == [2]
    assert "Zavrazhye" in summary.answer
    assert reply(SUMMARIZE, entity="Lise Meitner").answer == "Unknown"


def test_entities_are_names_that_no_passage_speaks_of() -> None:
    assert reply(ENTITIES, question="Did Lise Meitner know Marie Curie?").entities == ["Lise Meitner"]
    assert reply(ENTITIES, question="Did Eduard Artemyev know Marie Curie?").entities == ["Eduard Artemyev", "Marie Curie"]


def test_a_pair_without_an_answer_or_that_repeats_itself_scores_lower() -> None:
    good, unanswered, repeated = reply(JUDGE), reply(JUDGE, second_answer="Unknown"), reply(JUDGE, second=DIRECTOR)
    assert good.score > unanswered.score
    assert (good.score > repeated.score, repeated.non_redundancy, unanswered.weaker) == (True, 0, "2")
    assert reply(RUBRIC).verdict == "VALID"
    assert reply(RUBRIC, first=BRIDGE, second=BRIDGE).score < reply(RUBRIC).score


def test_compress_explains_with_its_sources() -> None:
    compressed = reply(COMPRESS, question=BORN)
    assert compressed.answer == "Zavrazhye"
    assert "[tarkovsky.md]" in compressed.explanation
    assert reply(COMPRESS, question="Where was Lise Meitner born?").answer == "Unknown"


def test_compress_answers_part_by_part_and_cites_all_of_them() -> None:
    bridge = reply(COMPRESS)
    assert (bridge.answer, bridge.citations) == ("Zavrazhye", [2, 1])
    assert bridge.explanation == f"{DIRECTOR} Andrei Tarkovsky [solaris.md:1] {BORN} Zavrazhye [tarkovsky.md]"
    assert reply(COMPRESS, passages=[SOLARIS]).answer == "Unknown", "the second part is missing"
    assert reply(COMPRESS, question=FIRST).answer == "Marie Curie"
    assert bridge.confidence < reply(COMPRESS, question=BORN).confidence, "both parts have to be right"


def test_a_question_in_another_alphabet_is_rejected_with_the_reason() -> None:
    compressed = reply(COMPRESS, question="마리 퀴리는 어디에서 태어났습니까?")
    assert (compressed.answer, compressed.confidence) == ("Unknown", 0)
    assert "English" in compressed.explanation


@pytest.mark.parametrize("question", ["How do I find the river on which Zavrazhye lies?", "List all films of Andrei Tarkovsky.", "When?"])
def test_open_questions_are_answered_unknown(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    give_mind(monkeypatch, facts={question: "Zavrazhye"})
    for prompt in (ANSWER, DECIDE, FINALIZE):
        answer = reply(prompt, question=question)
        assert (answer.answer, answer.confidence) == ("Unknown", 0)


def test_a_prompt_of_someone_else_is_an_error_with_its_remedy() -> None:
    with pytest.raises(UsageError, match="name a language model"):
        reply_to("sonnet", {})


def test_importing_it_does_not_load_torch() -> None:
    code = "import sys, ramify.embedded.extractive.model; sys.exit('torch' in sys.modules or 'sentence_transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


PAINTER = {"asked": "Who painted Guernica?", "answer": "Pablo Picasso", "sure": True}
UNSURE = {"asked": "Where was the painter of Guernica born?", "answer": "Lyon", "sure": False}
UNKNOWN = {"asked": "Who is his best friend?", "answer": "Unknown", "sure": True}


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What the writer was given."""
    given: list[tuple[str, str]] = []

    def rewrite(question: str, before: str) -> Rewriting:
        given.append((question, before))
        return Rewriting("", 0.0, -20.0)

    monkeypatch.setattr(follow_ups, "rewrite_follow_up", rewrite)
    monkeypatch.setattr(follow_ups, "log_probabilities", lambda question, before, texts: [0.0 for _ in texts])
    return given


def test_the_last_turn_is_tried_first_with_its_answer_if_that_is_sure(given: list[tuple[str, str]]) -> None:
    question = "How heavy is it?"
    assert contextualize({"question": question, "turns": [UNKNOWN, PAINTER, UNSURE]}) == {
        "question": "How heavy is the painter of Guernica?"
    }
    assert given == [(question, UNSURE["asked"])]
    given.clear()
    assert contextualize({"question": question, "turns": [UNSURE, PAINTER]}) == {"question": "How heavy is Guernica?"}
    assert given == [(question, "Who painted Guernica?\nPablo Picasso")]


def test_what_follows_nothing_or_is_not_english_stays_as_it_is(given: list[tuple[str, str]]) -> None:
    for question, turns in (("And when?", []), ("Wo wurde ihr Vater geboren?", [PAINTER]), ("어디에서?", [PAINTER])):
        assert contextualize({"question": question, "turns": turns}) == {"question": question}
    assert given == []
