"""Edges decide: who uses which step, what an edge asks, and that whatever a step leaves is taken up or settled."""

import ast
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import ramify.graphs as graphs
from ramify.graphs.conditions import above_tau, known, within_depth
from ramify.nodes.init_tree import init_tree
from ramify.nodes.settings import Settings
from ramify.nodes.tree import WORKING
from ramify.tools.errors import UsageError
from tests.graphs.wirings import WIRINGS, Wiring, cases
from tests.river import QUESTION, but, model, river

NODES = Path(__file__).parents[2] / "nodes"
USED_BY: dict[str, set[str]] = {
    "aggregate": {"mcts", "prune", "tor"},
    "answer": {"chain", "closed-book", "mcts", "naive", "prune", "self-ask", "tor"},
    "assign_evidence": {"iterative"},
    "compress": {"iterative"},
    "condense": {"react"},
    "decide": {"prune"},
    "decompose": {"mcts", "prune", "tor"},
    "expand": {"tor"},
    "extract_entities": {"prune"},
    "fill": {"mcts", "prune", "tor"},
    "filter": {"iterative"},
    "finalize": {"chain", "closed-book", "ircot", "naive", "prune", "react", "self-ask", "tor"},
    "follow_up": {"self-ask"},
    "judge": {"mcts", "tor"},
    "map_report": {"global"},
    "next_question": {"chain"},
    "next_thought": {"ircot"},
    "plan": {"iterative"},
    "init_tree": {"chain", "closed-book", "global", "ircot", "iterative", "naive", "prune", "react", "self-ask", "tor"},
    "prune": {"global", "prune", "tor"},
    "reduce": {"global"},
    "retrieve": {"chain", "ircot", "iterative", "naive", "prune", "react", "self-ask", "tor"},
    "retrieve_reports": {"global"},
    "score_pair": {"tor"},
    "search_or_answer": {"react"},
    "search_suggested": {"iterative"},
}
THRESHOLDS = {"theta", "tau", "threshold", "max_depth", "redecompositions", "rounds", "patience", "enough_facts", "low_relevance"}
THRESHOLDS |= {"simulations"}


def test_a_verb_is_one_object_whoever_uses_it() -> None:
    used: dict[str, set[str]] = {}
    objects: dict[str, set[int]] = {}
    for name, arguments in WIRINGS:
        for step in graphs.build(name, **arguments).steps.values():
            used.setdefault(step.name, set()).add(name)
            objects.setdefault(step.name, set()).add(id(step))
    assert {name: users & used.get(name, set()) for name, users in USED_BY.items()} == USED_BY, "others may use them, too"
    assert {name for name, ids in objects.items() if len(ids) > 1} == set()


def test_no_step_compares_anything_with_a_threshold() -> None:
    found = []
    for path in NODES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                sides = (node.left, *node.comparators)
                names = {part.attr for side in sides for part in ast.walk(side) if isinstance(part, ast.Attribute)}
                if names & THRESHOLDS and not all(isinstance(op, ast.Is | ast.IsNot | ast.Eq) for op in node.ops):
                    found.append((path.name, ast.unparse(node)))
    assert found == []


@pytest.mark.parametrize(
    ("strategy", "options", "told"),
    [
        ("tor", {}, ["score ≥ θ (0.4)", "score < θ (0.4)", "depth < 3", "attempts left"]),
        ("tor", {"theta": 0.55, "max_depth": 2}, ["score ≥ θ (0.55)", "depth < 2"]),
        ("tor", {"expand_sure": True}, ["any answer"]),
        ("prune", {}, ["confidence > τ (0.95)", "depth < 2"]),
        ("prune", {"tau": 0.8}, ["confidence > τ (0.8)"]),
        ("chain", {"max_depth": 6}, ["depth < L (6)"]),
        ("ircot", {"max_depth": 3}, ["depth < 3", '"answer is"']),
        ("self-ask", {"max_depth": 6}, ["depth < L (6)", "final answer"]),
        ("react", {}, ["depth < L (7)", "answers"]),
        ("iterative", {"rounds": 3}, ["rounds = 3", "facts ≥ 5"]),
    ],
)
def test_edges_show_the_settings_values(strategy: str, options: dict[str, Any], told: list[str]) -> None:
    wiring, settings = graphs.configure(strategy, options)
    labels = [str(edge.data) for edge in wiring.compile(settings).get_graph().edges if edge.conditional]
    assert [wanted for wanted in told if not any(wanted in label for label in labels)] == []


@pytest.mark.parametrize(
    ("strategy", "arguments", "gone"),
    [("tor", {"judged": False}, "θ"), ("prune", {"confidence": False}, "τ"), ("prune", {"entities": False}, "extract_entities")],
)
def test_an_ablation_is_seen_in_the_drawing(strategy: str, arguments: dict[str, Any], gone: str) -> None:
    def drawn(**given: Any) -> str:
        edges = graphs.build(strategy, **given).compile().get_graph().edges
        return " ".join(f"{edge.source} {edge.target} {edge.data}" for edge in edges if edge.source != "aggregate")

    assert gone in drawn()
    if gone == "τ":
        assert "confidence > τ" not in drawn(**arguments)
    else:
        assert gone not in drawn(**arguments)


@pytest.mark.parametrize("wiring", cases(*graphs.STRATEGIES))
def test_a_run_ends_with_every_branch_settled(wiring: Wiring) -> None:
    result = graphs.ask(QUESTION, wiring[0], model=model(), index=river(), **wiring[1])
    assert {branch.status for branch in result.tree.values()} & WORKING == set()
    assert {branch.next for branch in result.tree.values()} == {""}
    assert result.stopped_by == "finished"


def test_a_branch_that_no_edge_leads_on_is_an_error_and_not_an_answer() -> None:
    wiring, settings = graphs.configure("prune", {"model": model(), "index": river()})
    state = {"tree": {"0": {"question": QUESTION, "status": "waiting", "awaits": "0.0"}, "0.0": {"question": QUESTION, "status": "split"}}}
    with pytest.raises(UsageError, match="no step of this graph processes it"):
        graphs.run.blocking(_continue(wiring.compile(checkpointer=InMemorySaver()), settings, state))


async def _continue(graph: Any, settings: Any, state: Any) -> Any:
    config = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke({"question": QUESTION}, config, context=settings)
    await graph.aupdate_state(config, {"tree": state["tree"]}, as_node="answer")
    return await graph.ainvoke(None, config, context=settings)


@pytest.mark.parametrize("strategy", ["naive", "tor", "prune", "chain", "self-ask", "react"])
def test_a_branch_that_is_opened_by_hand_is_searched_and_answered_again(strategy: str) -> None:
    asked = model()
    wiring, settings = graphs.configure(strategy, {"model": asked, "index": river()})

    async def edited() -> Any:
        graph = wiring.compile(checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "1"}}
        first = await graph.ainvoke({"question": QUESTION}, config, context=settings)
        path = max(first["tree"], key=len)
        before = len(asked.calls)
        again = {"question": "What is the capital of Spain?", "status": "open"}
        await graph.aupdate_state(config, {"tree": {path: again}}, as_node="retrieve" if path != "0" else "init_tree")
        return path, before, await graph.ainvoke(None, config, context=settings)

    path, before, state = graphs.run.blocking(edited())
    assert len(asked.calls) > before
    assert state["tree"][path].answer is not None
    assert state["tree"][path].question == "What is the capital of Spain?"


def test_a_graph_without_a_last_step_is_refused() -> None:
    graph = graphs.wiring.Wiring(Settings)
    graph.path(graphs.wiring.START, init_tree, graphs.wiring.END)
    with pytest.raises(UsageError, match="no last step — end it with finalize"):
        graph.compile()


def test_a_failed_branch_fails_alone_with_the_reason() -> None:
    def capital_breaks(slots: Any) -> Any:
        return "no JSON at all" if "capital of France" in slots["question"] else {"answer": "Tiber", "confidence": 0.97, "citations": [1]}

    pair = {"simple": False, "first": "What is the capital of France?", "second": "Which river runs through Rome?"}
    broken = but(answer=capital_breaks, decompose=lambda s: pair if s["question"] == QUESTION else {**pair, "simple": True})
    result = graphs.ask(QUESTION, "tor", model=broken, index=river())
    assert result.tree["0.0"].status == "failed"
    assert "malformed" in result.tree["0.0"].note
    assert result.tree["0.1"].answer == "Tiber"
    assert len([call for call in broken.asked("answer") if "capital" in call["question"]]) == 2, "asked once, repaired once"


def test_a_preset_stands_for_its_options_and_what_is_said_beside_it_counts_before_it() -> None:
    wiring, settings = graphs.configure("tor", {"preset": "paper", "max_depth": 2, "hybrid": True})
    assert "score_pair" in wiring.steps
    assert (settings.dependent, settings.hybrid, settings.max_depth) == (False, True, 2)  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="no preset"):
        graphs.configure("ircot", {"preset": "paper"})


def test_the_paper_s_preset_costs_what_the_paper_s_tree_does() -> None:
    def halves(slots: Any) -> dict[str, Any]:
        return {"simple": False, "first": f"{slots['question']} / a", "second": f"{slots['question']} / b"}

    result = graphs.ask(QUESTION, "tor", model=but(decompose=halves), index=river(), preset="paper", redecompositions=0)
    assert (result.usage.llm_calls, result.usage.critical_path_calls) == (36, 13)


def test_a_condition_that_needs_a_confidence_above_tau_is_known_by_it() -> None:
    assert (within_depth & above_tau).above_tau
    assert above_tau.with_label("sure").above_tau
    assert not (above_tau | known).above_tau
    assert not (~above_tau).above_tau
