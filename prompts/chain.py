"""Prompts of chains: the next sub-question (CoR-RAG), follow-up question (Self-Ask), search (ReAct, Search-o1) or thought (IRCoT)."""

from pydantic import Field

from ramify.prompts.lenient_types import EmbeddedText, Flag, Fraction, ModelReply, Sentence, ShortAnswer
from ramify.prompts.prompt import NO_ANSWER, Prompt
from ramify.prompts.worked_examples import FIRST_OPENED, HOLLIN, VALLEY, example, finding, passage


class Next(ModelReply):
    """The next sub-question of a chain, or the verdict that the history suffices."""

    done: Flag = Field(description="true if the history suffices to answer the main question")
    question: Sentence = Field(default="", description="the next simple, self-contained question to look up; empty if done")
    together: EmbeddedText = ""


DESIGNER = finding("0.0", "Who designed Hollin Bridge?", "Edda Rask", 0.97)

NEXT_QUESTION = Prompt(
    name="next_question",
    purpose="Ask the next sub-question, or stop (chain of retrieval, CoR-RAG)",
    task=(
        "You answer a main question by looking up one simple question after another. Given the history, say whether the main question can be "
        "answered now; if not, ask the next question. Use the answers so far in it; never repeat a question. If earlier answers do not help, "
        "ask in other words, or for a part of it."
    ),
    template="History:\n{history}\n\nMain question: {question}",
    plans=True,
    reply=Next,
    thought="what the history gives, and what is still missing",
    examples=(
        example(
            Next(done=False, question="Where was Edda Rask born?"),
            thought="The birthplace of the designer is still missing.",
            history=[DESIGNER],
            question=HOLLIN,
        ),
        example(
            Next(done=True),
            thought="The designer is Edda Rask, and the birthplace is Tarnholm.",
            history=[DESIGNER, finding("0.0.0", "Where was Edda Rask born?", "Tarnholm", 0.95)],
            question=HOLLIN,
        ),
        example(
            Next(done=False, question="When was Vane Bridge built?"),
            thought="The year of one is missing; asking when it was built may find it.",
            history=[
                finding("0.0", "When did Hollin Bridge open?", "1852", 0.97),
                finding("0.0.0", "When did Vane Bridge open?", NO_ANSWER, 0.9),
            ],
            question=FIRST_OPENED,
        ),
    ),
)


class Concluded(Next):
    """What a chain looks up next, or the answer to the main question."""

    answer: ShortAnswer = Field(
        default="", description="if done: Yes or No, a number, a date, a name or a short phrase, or Unknown; otherwise empty"
    )
    confidence: Fraction = Field(default=0.0, description="how sure you are of the answer; 0 if not done")


FOLLOW_UP = Prompt(
    name="follow_up",
    purpose="Ask a follow-up question, or give the final answer (Self-Ask)",
    task=(
        "Answer a main question by asking follow-up questions, each of them simple and self-contained. Their intermediate answers are looked up "
        "for you. Say whether a follow-up question is needed here; if not, give the final answer from the intermediate answers alone."
    ),
    template="Follow-up questions and intermediate answers:\n{history}\n\nMain question: {question}",
    plans=True,
    reply=Concluded,
    examples=(
        example(Concluded(done=False, question="Where was Edda Rask born?"), history=[DESIGNER], question=HOLLIN),
        example(
            Concluded(done=True, answer="Tarnholm", confidence=0.95),
            history=[DESIGNER, finding("0.0.0", "Where was Edda Rask born?", "Tarnholm", 0.95)],
            question=HOLLIN,
        ),
        example(
            Concluded(done=True, answer="Unknown", confidence=0.9),
            history=[
                finding("0.0", "When did Hollin Bridge open?", "1852", 0.97),
                finding("0.0.0", "When did Vane Bridge open?", NO_ANSWER, 0.9),
                finding("0.0.0.0", "When was Vane Bridge built?", NO_ANSWER, 0.9),
            ],
            question=FIRST_OPENED,
        ),
    ),
)


class NextSearch(Concluded):
    """The next search query, or the answer to the main question."""

    question: Sentence = Field(default="", description="the next search query, a few words; empty if done")


SEARCH_OR_ANSWER = Prompt(
    name="search_or_answer",
    purpose="Think, then search or answer (ReAct; Search-o1)",
    task=(
        "Answer a main question by searching documents step by step. Given the searches so far and what each gave, decide: search for what is "
        "missing, by a short query with the names as they were found, or answer from what was found. Never repeat a query; if one gave nothing, "
        "try other words."
    ),
    template="Searches:\n{history}\n\nMain question: {question}",
    plans=True,
    reply=NextSearch,
    thought="what the searches gave, and what is still missing",
    examples=(
        example(
            NextSearch(done=False, question="Edda Rask birthplace"),
            thought="The designer is Edda Rask; her birthplace is missing.",
            history=[finding("0.0", "Hollin Bridge designer", "Hollin Bridge was designed by Edda Rask.", 0.97)],
            question=HOLLIN,
        ),
        example(
            NextSearch(done=True, answer="Tarnholm", confidence=0.95),
            thought="Edda Rask designed it and was born in Tarnholm.",
            history=[
                finding("0.0", "Hollin Bridge designer", "Hollin Bridge was designed by Edda Rask.", 0.97),
                finding("0.0.0", "Edda Rask birthplace", "Edda Rask was born in Tarnholm, the town of weavers.", 0.95),
            ],
            question=HOLLIN,
        ),
        example(
            NextSearch(done=False, question="Vane Bridge built"),
            thought="The year of Vane Bridge is missing.",
            history=[
                finding("0.0", "Hollin Bridge opening", "Hollin Bridge opened in 1852.", 0.97),
                finding("0.0.0", "Vane Bridge opening", NO_ANSWER, 0.9),
            ],
            question=FIRST_OPENED,
        ),
    ),
)


class Thought(ModelReply):
    """One step of reasoning."""

    sentence: Sentence = Field(
        description="the next sentence: a fact that is needed, or what is still to be found; once all is known: So the answer is: …"
    )


DESIGNED, BORN = "Hollin Bridge was designed by Edda Rask.", "Edda Rask was born in Tarnholm."

NEXT_THOUGHT = Prompt(
    name="next_thought",
    purpose="Write the next sentence of a chain of thought (IRCoT)",
    task=(
        "Reason step by step towards the answer, one sentence at a time, from the passages. Write the next sentence alone; never repeat one. "
        "Passages for it are looked up after each. As soon as the sentences settle the question, write 'So the answer is:', in English, and the answer."
    ),
    template="Passages:\n{passages}\n\nQuestion: {question}\n\nSentences so far:\n{sentences}",
    reply=Thought,
    examples=(
        example(
            Thought(sentence=DESIGNED),
            passages=[VALLEY, passage("Hollin Bridge", "It was designed by Edda Rask.")],
            question=HOLLIN,
            sentences=[],
        ),
        example(
            Thought(sentence="So the answer is: Tarnholm."),
            passages=[passage("Edda Rask", "She was born in Tarnholm."), passage("Hollin Bridge", "It was designed by Edda Rask.")],
            question=HOLLIN,
            sentences=[DESIGNED, BORN],
        ),
    ),
)
