"""Name the users that a collection of documents may have (GraphRAG, questions that need the whole corpus)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts._worked_examples import example
from ramify.prompts.lenient_types import AtMost, ModelReply, Texts
from ramify.prompts.prompt import Prompt

MAX_ITEMS, MAX_ITEM_CHARS = 5, 160
COLLECTION = "Collection of documents:\n<passage>\n{text}\n</passage>"
VALLEY = "The bridges, mills and weirs of the Oskel valley.\nHollin Bridge\nVane Bridge\nThe mill at Vane\nWeirs of the Oskel"


class Users(ModelReply):
    """Users of a collection."""

    users: Annotated[Texts, AtMost(MAX_ITEMS, each=MAX_ITEM_CHARS)] = Field(
        description="who they are and what they want of the collection, one each, in a few words"
    )


USERS = Prompt(
    name="users",
    task=(
        "You see what a collection of documents is about, and titles from it. Name five different users who would ask about the whole "
        "collection. Write in its language."
    ),
    template=COLLECTION,
    reply=Users,
    examples=(
        example(
            {"users": ["a historian who writes about the valley's trade", "an engineer who surveys old bridges", "a teacher on an outing"]},
            text=VALLEY,
        ),
    ),
)
