"""Answer one question: from its passages, from memory (closed book), or from the answers of its sub-questions (aggregate)."""

from pydantic import Field

from ramify.prompts.lenient_types import Citations, Fraction, ModelReply, Sentence, ShortAnswer
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import FIRST_OPENED, HOLLIN, VALLEY, example, finding, passage


class Answered(ModelReply):
    """A short answer, how sure the model is, and the passages it rests on."""

    answer: ShortAnswer = Field(
        description="the shortest exact answer: Yes or No, a number, a date, a name or a short phrase; otherwise Unknown"
    )
    confidence: Fraction = Field(description="how sure you are that it is right")
    citations: Citations = Field(description="the numbers of the passages that support it")


class AnsweredFromPassages(Answered):
    """An answer, and where there is none what the passages tell all the same."""

    missing: Sentence = Field(default="", description="if Unknown: what they tell of it and what not; otherwise empty")


ANSWER = Prompt(
    name="answer",
    purpose="Answer one question from its passages (ToR-RAG partial answers, PruneRAG staged answers, naive and chain)",
    task=(
        "Answer the question from the passages alone. Some may be about something else with a similar name. If none contains the answer, do not "
        "guess: say Unknown."
    ),
    template="Passages:\n{passages}\n\n{above}Question: {question}",
    reply=AnsweredFromPassages,
    thought="what the passages say of it",
    examples=(
        example(
            AnsweredFromPassages(answer="1852", confidence=0.98, citations=[2]),
            thought="Passage 2 says so; 1871 is the year of a fire.",
            passages=[VALLEY, passage("Hollin Bridge", "It opened in 1852.")],
            question="When did Hollin Bridge open?",
        ),
        example(
            AnsweredFromPassages(
                answer="Unknown", confidence=0.9, citations=[], missing="The designer is Edda Rask; her birthplace is not told."
            ),
            thought="The designer is named, her birthplace is not.",
            passages=[passage("Hollin Bridge", "It was designed by Edda Rask.")],
            question=HOLLIN,
        ),
        example(
            AnsweredFromPassages(answer="No", confidence=0.96, citations=[1, 2]),
            thought="One stands on Vane Head, the other on Crane Isle.",
            passages=[passage("Skerry Light", "It stands on Vane Head."), passage("Mirefell Light", "It stands on Crane Isle.")],
            question="Do Skerry Light and Mirefell Light stand in the same place?",
        ),
    ),
)


CLOSED_BOOK = Prompt(
    name="closed_book",
    purpose="Answer from the model's own memory, without retrieval (Non-RAG baseline)",
    task="Answer the question from what you know. No documents are given, so citations is an empty list. If you do not know, say Unknown.",
    template="Question: {question}",
    reply=Answered,
    examples=(
        example(Answered(answer="6", confidence=0.99, citations=[]), question="How many sides does a hexagon have?"),
        example(Answered(answer="Unknown", confidence=0.9, citations=[]), question="Who tuned the organ of Pellworth Chapel in 1871?"),
    ),
)


AGGREGATE = Prompt(
    name="aggregate",
    purpose="Answer a question from the answers of its sub-questions (PruneRAG, recursive backtrace)",
    task=(
        "Answer the question from the findings of its sub-questions; the passages behind them are for checking. If the findings contradict each "
        "other, trust the better supported. If they do not settle the question, say Unknown."
    ),
    template="Findings:\n{findings}\n\nPassages:\n{passages}\n\n{above}Question: {question}",
    reply=Answered,
    thought="what the findings come to, and where they conflict",
    examples=(
        example(
            Answered(answer="Vane Bridge", confidence=0.96, citations=[1, 2]),
            thought="1847 is before 1852.",
            findings=[
                finding("0.0", "When did Hollin Bridge open?", "1852", 0.97),
                finding("0.1", "When did Vane Bridge open?", "1847", 0.96),
            ],
            passages=[passage("Hollin Bridge", "It opened in 1852."), passage("Vane Bridge", "It opened in 1847.")],
            question=FIRST_OPENED,
        ),
        example(
            Answered(answer="Unknown", confidence=0.9, citations=[]),
            thought="Who designed it was not found, so there is no birthplace.",
            findings=[finding("0.0", "Who designed Hollin Bridge?", "Unknown", None)],
            passages=[passage("Hollin Bridge", "It spans the river Oskel.")],
            question=HOLLIN,
        ),
    ),
)
