"""Results made by hand, for the pictures."""

from typing import Any

from ramify.graphs.run import Result, ResultUsage
from ramify.nodes.tree import Branch, Passage, merge_branches
from ramify.nodes.tree.citation import cite

CURIE = (
    "Marie Curie, born Maria Skłodowska, was a Polish-born French physicist and chemist who pioneered the study of radioactivity. "
    "She was born in Warsaw on 7 November 1867 and studied at the Sorbonne in Paris. In 1895 she married the physicist Pierre Curie."
)
WARSAW = "Warsaw is the capital of Poland.\n\nIt lies on the Vistula, the longest river of the country."
QUOTES = ["It lies on the Vistula, the longest river of the country.", "She was born in Warsaw on 7 November 1867."]
PARIS = "Paris is the capital of France. <script>alert('read me')</script> The Seine flows through it & on to the sea."


def passage(name: str, title: str, text: str, score: float, **metadata: Any) -> Passage:
    return Passage(id=name, text=text, source=f"corpus.jsonl#{name}", score=score, metadata={"title": title, **metadata})


PASSAGES = {
    p.id: p
    for p in (
        passage("curie", "Marie Curie", CURIE, 0.71),
        passage("warsaw", "Warsaw", WARSAW, 0.64, heading="Geography"),
        passage("paris", "Paris", PARIS, 0.41, page=3),
    )
}


def branch(path: str, question: str, **rest: Any) -> Branch:
    return Branch(path=path, question=question, **rest)


QUESTION = 'Which river flows through the city in which the "mother of radioactivity" <Marie Curie> was born?'
TREE = merge_branches(
    {},
    {
        b.path: b
        for b in (
            branch("0", QUESTION, status="inner", score=0.85, attempts=2, confidence_source=None),
            branch(
                "0.0",
                "Which rivers flow through Paris?",
                status="pruned",
                answer="The Seine",
                confidence=0.97,
                evidence=("paris",),
                note="fork scored 0.20, below theta 0.4; the weaker of the two",
            ),
            branch(
                "0.1",
                "Who was born in Paris?",
                status="pruned",
                answer="Unknown",
                confidence=0.31,
                note="fork scored 0.20, below theta 0.4",
            ),
            branch(
                "0.2",
                "In which city was Marie Curie born?",
                status="inner",
                answer="Warsaw",
                confidence=0.93,
                score=0.62,
                evidence=("curie", "warsaw", "paris"),
                cited=("curie",),
                attempts=1,
            ),
            branch(
                "0.2.0",
                "Marie Curie",
                kind="entity",
                status="leaf",
                answer="A physicist, born in Warsaw in 1867.",
                confidence=0.88,
                evidence=("curie",),
            ),
            branch(
                "0.2.1",
                "Where did her parents live when she was born?",
                status="failed",
                note="the model's reply to 'answer' is malformed, also when asked again",
            ),
            branch(
                "0.3",
                "Which river flows through Warsaw?",
                status="leaf",
                answer="the Vistula",
                confidence=0.995,
                evidence=("warsaw", "paris"),
                cited=("warsaw",),
                note="filled with 'Warsaw' from 0.2, confidence 0.93",
            ),
        )
    },
)


def result(**changes: Any) -> Result:
    plain: dict[str, Any] = {
        "question": QUESTION,
        "strategy": "tor",
        "model": "ollama:llama3.1:8b",
        "answer": "the Vistula",
        "confidence": 0.91,
        "confidence_source": "logprobs",
        "citations": cite([PASSAGES["warsaw"], PASSAGES["curie"]], QUOTES, cited=True),
        "tree": TREE,
        "usage": ResultUsage(llm_calls=13, prompt_tokens=9210, completion_tokens=431, retrievals=6, critical_path_calls=9, wall_s=8.42),
        "stopped_by": "finished",
        "settled_by": "majority",
        "passages": PASSAGES,
    }
    return Result(**{**plain, **changes})
