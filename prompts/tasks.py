"""Name the tasks for which a user needs a collection of documents as a whole (GraphRAG, questions that need the whole corpus)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts._worked_examples import example
from ramify.prompts.lenient_types import AtMost, ModelReply, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.users import COLLECTION, MAX_ITEM_CHARS, MAX_ITEMS, VALLEY

ENGINEER = "an engineer who surveys old bridges"


class Tasks(ModelReply):
    """Tasks of a user."""

    tasks: Annotated[Texts, AtMost(MAX_ITEMS, each=MAX_ITEM_CHARS)] = Field(
        description="what the user wants to do, one each, in a few words"
    )


TASKS = Prompt(
    name="tasks",
    task=(
        "You see what a collection of documents is about, titles from it, and one of its users. Name five different tasks for which this user "
        "needs to understand the collection as a whole. Write in its language."
    ),
    template=f"{COLLECTION}\n\nUser: {{user}}",
    reply=Tasks,
    examples=(example({"tasks": ["decide which bridges to survey first", "compare how bridges were built"]}, text=VALLEY, user=ENGINEER),),
)
