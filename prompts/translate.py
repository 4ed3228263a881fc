"""Write search queries in the language of the documents, for questions in another language."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import SENTENCE_CHARS, AtMost, ModelReply, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example

MAX_QUESTIONS = 8


class Translated(ModelReply):
    """The questions in the language of the documents."""

    queries: Annotated[Texts, AtMost(MAX_QUESTIONS, each=SENTENCE_CHARS)] = Field(
        description=f"at most {MAX_QUESTIONS}: each question in the language of the documents, in the same order"
    )


TRANSLATE = Prompt(
    name="translate",
    purpose="Write search queries in the language of the documents, for questions in another language",
    task=(
        "Translate the questions into the language of the documents that are searched. Keep what is asked; write names as such documents write "
        "them. Do not answer."
    ),
    template="Language of the documents: {language}\nQuestions:\n{questions}",
    reply=Translated,
    examples=(
        example(
            Translated(queries=["Who designed Hollin Bridge?"]), language="English", questions=["Wer hat die Hollin Bridge entworfen?"]
        ),
    ),
)
