"""Questions to ask of a collection: what its passages answer; its users, their tasks, and open questions about the whole (GraphRAG)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import AtMost, ModelReply, Sentence, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example

MAX_ITEMS, MAX_ITEM_CHARS = 5, 160
COLLECTION = "Collection of documents:\n<passage>\n{text}\n</passage>"
VALLEY = "The bridges, mills and weirs of the Oskel valley.\nHollin Bridge\nVane Bridge\nThe mill at Vane\nWeirs of the Oskel"


class Suggested(ModelReply):
    """A short question, after the fact that answers it."""

    fact: Sentence = Field(description="the most important fact that the passage tells, in one sentence")
    question: Sentence = Field(description="the short question that this fact answers")


SUGGEST = Prompt(
    name="suggest",
    purpose="Suggest a question that a document of a collection answers (the page of `ramify serve`)",
    task=(
        "Say the most important fact that the passage tells, then the question that it answers. The question names what it is about. "
        "Write in the language of the passage."
    ),
    template="Passages:\n{passages}",
    reply=Suggested,
)
"""Asked for a question alone, or for several at once, a small model asks for the passage's title."""


class Users(ModelReply):
    """Users of a collection."""

    users: Annotated[Texts, AtMost(MAX_ITEMS, each=MAX_ITEM_CHARS)] = Field(
        description="who they are and what they want of the collection, one each, in a few words"
    )


USERS = Prompt(
    name="users",
    purpose="Name the users that a collection of documents may have (GraphRAG, questions that need the whole corpus)",
    task=(
        "You see what a collection of documents is about, and titles from it. Name five different users who would ask about the whole "
        "collection. Write in its language."
    ),
    template=COLLECTION,
    reply=Users,
    examples=(
        example(
            Users(
                users=["a historian who writes about the valley's trade", "an engineer who surveys old bridges", "a teacher on an outing"]
            ),
            text=VALLEY,
        ),
    ),
)


ENGINEER = "an engineer who surveys old bridges"


class Tasks(ModelReply):
    """Tasks of a user."""

    tasks: Annotated[Texts, AtMost(MAX_ITEMS, each=MAX_ITEM_CHARS)] = Field(
        description="what the user wants to do, one each, in a few words"
    )


TASKS = Prompt(
    name="tasks",
    purpose="Name the tasks for which a user needs a collection of documents as a whole (GraphRAG, questions that need the whole corpus)",
    task=(
        "You see what a collection of documents is about, titles from it, and one of its users. Name five different tasks for which this user "
        "needs to understand the collection as a whole. Write in its language."
    ),
    template=f"{COLLECTION}\n\nUser: {{user}}",
    reply=Tasks,
    examples=(
        example(Tasks(tasks=["decide which bridges to survey first", "compare how bridges were built"]), text=VALLEY, user=ENGINEER),
    ),
)


class Overview(ModelReply):
    """Open questions."""

    asked: Annotated[Texts, AtMost(MAX_ITEMS, each=200)] = Field(
        description="questions about the collection as a whole, which no single document answers"
    )


OVERVIEW = Prompt(
    name="overview",
    purpose="Write open questions about a whole collection of documents, for a user's task (GraphRAG, questions that need the whole corpus)",
    task=(
        "You see what a collection of documents is about, titles from it, one of its users and a task. Write five different questions that the "
        "user would ask for this task: each takes an understanding of the whole collection, and none asks for a single fact. Write in its "
        "language."
    ),
    template=f"{COLLECTION}\n\nUser: {{user}}\nTask: {{task}}",
    reply=Overview,
    examples=(
        example(
            Overview(asked=["Which ways of building recur among the valley's bridges?", "How did floods change what was built?"]),
            text=VALLEY,
            user=ENGINEER,
            task="compare how bridges were built",
        ),
    ),
)
