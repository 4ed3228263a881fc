"""Pick what is relevant from a batch of passages (Iterative RAG, step 3)."""

from pydantic import Field

from ramify.prompts.lenient import Flag, Numbers, Said, Share, Text, Texts
from ramify.prompts.prompt import Prompt


class Filtered(Said):
    """The relevant passages of a batch, the facts in them, and where to look next."""

    relevant: Numbers = Field(description="the numbers of the passages that help; an empty list if none does")
    facts: Texts = Field(description="at most five new facts from these passages that help to answer, one short sentence each")
    files: Texts = Field(description="at most three sources that look promising, as written in the source attribute")
    pages: Texts = Field(description="at most three promising pages, as written in the source attribute: source:page")
    is_sufficient: Flag = Field(description="true if the facts so far and these suffice to answer")
    relevance: Share = Field(description="how relevant this batch was as a whole")
    suggested: Text = Field(default="", description="a better search query if this batch was poor; otherwise empty")


FILTER = Prompt(
    name="filter",
    task="Read a batch of passages and pick what helps to answer the question.",
    template="Facts so far:\n{facts}\n\nLooked for: {expected}\n\nPassages:\n{passages}\n\nQuestion: {question}",
    reply=Filtered,
)
