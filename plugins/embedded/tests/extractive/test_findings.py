"""How findings come to an answer: brought together along the tree, conflicts settled, guesses given up for what passages say."""

from typing import Any

import pytest

from ramify.embedded.extractive._findings import aggregate, finalize
from ramify.embedded.reader.reading import PassageText
from tests.tools.fake_reader import give_mind

MILL = PassageText(title="Elk Mill", source="mill.md", text="Elk Mill is a water mill in Oregon. It was built by Amos Reed in 1871.")
FERRY = PassageText(title="Gull Ferry", source="ferry.md", text="Gull Ferry is a ferry in Maine. It has run since 1902.")
REED = PassageText(title="Amos Reed", source="reed.md", text="Amos Reed, a carpenter, was born in Salem in 1840.")
BUILT, OLDER = "When was Elk Mill built?", "Which is older, Elk Mill or Gull Ferry?"
RUNS = "When was Gull Ferry built?"
BUILDER, BRIDGE, BORN = "Who built Elk Mill?", "Where was the builder of Elk Mill born?", "Where was Amos Reed born?"
Above = tuple[str, str, str]


@pytest.fixture(autouse=True)
def _mind(monkeypatch: pytest.MonkeyPatch) -> None:
    give_mind(monkeypatch, facts={BUILDER: "Amos Reed", BUILT: "1871", RUNS: "1902"})


def found(path: str, question: str, answer: str, confidence: float = 0.9, *above: Above, status: str = "leaf") -> dict[str, Any]:
    higher = [{"path": entry[0], "question": entry[1], "together": entry[2]} for entry in above]
    fields = {"path": path, "kind": "question", "question": question, "answer": answer, "confidence": confidence, "status": status}
    return {**fields, "sources": [], "together": "", "above": higher}


def final(question: str, *findings: dict[str, Any], passages: tuple[PassageText, ...] = ()) -> dict[str, Any]:
    return finalize({"question": question, "findings": list(findings), "passages": list(passages)})


def pair(how: str, first: tuple[str, str, float], second: tuple[str, str, float], question: str = OLDER) -> dict[str, Any]:
    root = ("0", question, how)
    return final(question, found("0.0", *first, root), found("0.1", *second, root), passages=(MILL, FERRY))


def test_the_second_answer_of_a_bridge_is_the_answer() -> None:
    root = ("0", BRIDGE, "bridge")
    reply = final(BRIDGE, found("0.0", BUILDER, "Amos Reed", 0.9, root), found("0.1", BORN, "Salem", 0.8, root), passages=(MILL, REED))
    assert (reply["answer"], reply["citations"], reply["settled_by"]) == ("Salem", [2, 1], "agreement")
    assert reply["confidence"] == pytest.approx(0.72)


def test_without_the_second_answer_a_bridge_leads_nowhere() -> None:
    root = ("0", BRIDGE, "bridge")
    first = found("0.0", BUILDER, "Amos Reed", 0.9, root)
    for second in ("Unknown", "Salem"):
        reply = final(BRIDGE, first, found("0.1", BORN, second, 0.1, root), passages=(MILL,))
        assert (reply["answer"], reply["settled_by"], reply["citations"]) == ("Unknown", "unsettled", [])
    assert final(BRIDGE, first, found("0.1", "Where was {1} born?", "", 0.0, root, status="pruned"))["answer"] == "Unknown"


def test_what_is_older_is_named_with_both_passages() -> None:
    reply = pair("earlier", (BUILT, "1871", 0.9), (RUNS, "1902", 0.8))
    assert (reply["answer"], sorted(reply["citations"])) == ("Elk Mill", [1, 2])
    assert reply["confidence"] == pytest.approx(0.72)
    assert pair("later", (BUILT, "1871", 0.9), (RUNS, "1902", 0.8))["answer"] == "Gull Ferry"


@pytest.mark.parametrize("second", [("Unknown", 0.9), ("1902", 0.1), ("long ago", 0.9)])
def test_a_comparison_lacks_an_answer_where_one_half_does(second: tuple[str, float]) -> None:
    assert pair("earlier", (BUILT, "1871", 0.9), (RUNS, *second))["answer"] == "Unknown"


def test_of_two_claims_one_may_settle_both() -> None:
    first, second = "Is Elk Mill a museum?", "Is Gull Ferry a museum?"
    assert pair("both", (first, "No", 0.8), (second, "Unknown", 0.1))["answer"] == "No"
    assert pair("both", (first, "Yes", 0.8), (second, "Yes", 0.8))["answer"] == "Yes"
    assert pair("both", (first, "Yes", 0.8), (second, "Unknown", 0.1))["answer"] == "Unknown"
    assert pair("either", (first, "Unknown", 0.1), (second, "Yes", 0.8))["answer"] == "Yes"


@pytest.mark.parametrize(
    ("first", "second", "answer"),
    [
        (("Norfly", 0.6), ("Norfly", 0.5), "Norfly"),
        (("Norfly", 0.3), ("Norfly", 0.3), "Norfly"),
        (("Norfly", 0.8), ("Unknown", 0.1), "Norfly"),
        (("Norfly", 0.8), ("Alpair", 0.5), "Norfly"),
        (("Norfly", 0.6), ("Alpair", 0.55), "Unknown"),
    ],
)
def test_two_halves_that_lead_to_one_thing_support_each_other(first: tuple[str, float], second: tuple[str, float], answer: str) -> None:
    assert pair("agree", ("Which airline was fined?", *first), ("Which airline overbooks?", *second))["answer"] == answer


def test_two_questions_in_one_sentence_have_two_answers() -> None:
    reply = pair("each", (BUILDER, "Amos Reed", 0.9), (RUNS, "1902", 0.8))
    assert (reply["answer"], sorted(reply["citations"])) == ("Amos Reed; 1902", [1, 2])
    assert reply["confidence"] == pytest.approx(0.72)
    assert pair("each", (BUILDER, "Amos Reed", 0.9), (RUNS, "Unknown", 0.8))["answer"] == "Unknown"


def test_branches_are_brought_together_from_below() -> None:
    question, halves = "Whose builder is older?", ("When was the builder of Elk Mill born?", "When was the builder of Gull Ferry born?")
    root, left = ("0", question, "earlier"), ("0.0", halves[0], "bridge")
    reply = final(
        question,
        found("0.0.0", BUILDER, "Amos Reed", 0.9, root, left),
        found("0.0.1", "When was Amos Reed born?", "1840", 0.9, root, left),
        found("0.1", halves[1], "1902", 0.9, root),
        passages=(MILL, FERRY, REED),
    )
    assert (reply["answer"], sorted(reply["citations"])) == ("Elk Mill", [1, 2, 3])


def test_a_pair_that_was_pruned_does_not_count() -> None:
    root = ("0", OLDER, "earlier")
    old = [
        found(f"0.{n}", question, "1999", 0.9, root, status="pruned")
        for n, question in enumerate(("When did it open?", "When did it close?"))
    ]
    reply = final(OLDER, *old, found("0.2", BUILT, "1871", 0.9, root), found("0.3", RUNS, "1902", 0.9, root))
    assert reply["answer"] == "Elk Mill"


def test_a_branch_that_asks_again_answers_for_the_one_above() -> None:
    unsure = {**found("0", OLDER, "Maine", 0.3, status="split")}
    asked_again = {**found("0.0", OLDER, "", 0.0, ("0", OLDER, ""), status="split"), "together": "earlier"}
    above = (("0", OLDER, ""), ("0.0", OLDER, "earlier"))
    reply = final(OLDER, unsure, asked_again, found("0.0.0", BUILT, "1871", 0.9, *above), found("0.0.1", RUNS, "1902", 0.9, *above))
    assert reply["answer"] == "Elk Mill"


def test_what_was_only_searched_is_read_at_the_end() -> None:
    root = ("0", OLDER, "earlier")
    reply = final(OLDER, found("0.0", BUILT, "", 0.0, root), found("0.1", RUNS, "", 0.0, root), passages=(FERRY, MILL))
    assert (reply["answer"], sorted(reply["citations"])) == ("Elk Mill", [1, 2])


def test_a_chain_comes_to_its_last_answer_or_compares_its_ends() -> None:
    def chain(question: str, how: str, *steps: tuple[str, str]) -> dict[str, Any]:
        above: list[Above] = [("0", question, how)]
        findings = []
        for asked, answer in steps:
            path = f"{above[-1][0]}.0"
            findings.append(found(path, asked, answer, 0.9, *above, status="inner"))
            above.append((path, asked, ""))
        return final(question, *findings, passages=(MILL, FERRY, REED))

    assert chain(BRIDGE, "bridge", (BUILDER, "Amos Reed"), (BORN, "Salem"))["answer"] == "Salem"
    assert chain(BRIDGE, "bridge", (BUILDER, "Amos Reed"))["answer"] == "Unknown"
    assert chain(BRIDGE, "bridge", (BUILDER, "Amos Reed"), (BORN, "Unknown"))["answer"] == "Unknown"
    assert chain(OLDER, "earlier", (BUILT, "1871"), (RUNS, "1902"))["answer"] == "Elk Mill"
    runner = ("Who runs Gull Ferry?", "Ann Gull")
    born = (("When was Amos Reed born?", "1840"), ("When was Ann Gull born?", "1835"))
    by_way = chain("Whose maker is older?", "earlier", ("Who runs Elk Mill?", "Amos Reed"), born[0], runner, born[1])
    assert (by_way["answer"], sorted(by_way["citations"])) == ("Gull Ferry", [1, 3])
    assert chain(BUILT, "", (BUILT, "1871"))["answer"] == "1871"


def test_a_branch_is_aggregated_from_its_children_alone() -> None:
    above = (("0", BRIDGE, "bridge"), ("0.1", OLDER, "earlier"))
    findings = [found("0.1.0", BUILT, "1871", 0.9, *above), found("0.1.1", RUNS, "1902", 0.9, *above)]
    reply = aggregate({"question": OLDER, "findings": findings, "passages": [MILL, FERRY]})
    assert reply["answer"] == "Elk Mill"
    assert "settled_by" not in reply


def test_a_guess_gives_way_to_what_passages_say() -> None:
    assert final(BUILDER, found("0", BUILDER, "Oregon", 0.07), passages=(MILL,))["answer"] == "Amos Reed"
    assert final(BUILDER, passages=(FERRY, MILL))["citations"] == [2]
    assert final(BUILDER, passages=(FERRY,))["answer"] == "Unknown"


def test_what_was_found_of_a_name_is_no_answer() -> None:
    entity = {**found("0.0", "Elk Mill", "Elk Mill is a water mill in Oregon.", 0.9, ("0", BUILDER, "")), "kind": "entity"}
    assert final(BUILDER, entity, passages=(FERRY,))["answer"] == "Unknown"


def test_conflicts_are_settled_by_trust_majority_and_fit_or_left_open() -> None:
    question = "Where was Jan Novak born?"

    def settle(*answers: tuple[str, float], passages: tuple[PassageText, ...] = ()) -> tuple[str, str]:
        reply = final(question, *(found(f"0.{number}", question, *answer) for number, answer in enumerate(answers)), passages=passages)
        return reply["answer"], reply["settled_by"]

    repeated = tuple(
        PassageText(title="", source=name, text=f"Novak comes from {city}.")
        for name, city in (("a", "Brno"), ("b", "Brno"), ("c", "Praha"))
    )
    assert settle(("Brno", 0.7), ("Praha", 0.7), passages=repeated) == ("Brno", "trust")
    assert settle(("Brno", 0.7), ("Praha", 0.9), ("Brno", 0.6)) == ("Brno", "majority")
    assert settle(("Brno", 0.95), ("Praha", 0.6)) == ("Brno", "fit")
    assert settle(("Brno", 0.7), ("Praha", 0.7)) == ("Unknown", "unsettled")
    assert settle(("Brno", 0.7), ("Brno", 0.9)) == ("Brno", "agreement")
