"""Write open questions about a whole collection of documents, for a user's task (GraphRAG, questions that need the whole corpus)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts._worked_examples import example
from ramify.prompts.lenient_types import AtMost, ModelReply, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.tasks import ENGINEER
from ramify.prompts.users import COLLECTION, MAX_ITEMS, VALLEY


class Overview(ModelReply):
    """Open questions."""

    asked: Annotated[Texts, AtMost(MAX_ITEMS, each=200)] = Field(
        description="questions about the collection as a whole, which no single document answers"
    )


OVERVIEW = Prompt(
    name="overview",
    task=(
        "You see what a collection of documents is about, titles from it, one of its users and a task. Write five different questions that the "
        "user would ask for this task: each takes an understanding of the whole collection, and none asks for a single fact. Write in its "
        "language."
    ),
    template=f"{COLLECTION}\n\nUser: {{user}}\nTask: {{task}}",
    reply=Overview,
    examples=(
        example(
            {"asked": ["Which ways of building recur among the valley's bridges?", "How did floods change what was built?"]},
            text=VALLEY,
            user=ENGINEER,
            task="compare how bridges were built",
        ),
    ),
)
