"""Pick what is relevant from a batch of passages (Iterative RAG, step 3)."""

from pydantic import BaseModel, Field

from ramify.prompts.prompt import Prompt


class Filtered(BaseModel):
    """The relevant passages of a batch, the facts in them, and where to look next."""

    relevant: list[int] = Field(description="the numbers of the passages that help; an empty list if none does")
    facts: list[str] = Field(description="new facts from these passages that help to answer, one sentence each")
    topics: list[str] = Field(description="topics worth following")
    files: list[str] = Field(description="sources that look promising, as written in the source attribute")
    pages: list[str] = Field(description="promising pages, written source:page")
    is_sufficient: bool = Field(description="true if the facts so far and these suffice to answer")
    relevance: float = Field(ge=0, le=1, description="how relevant this batch was as a whole")
    suggested: str = Field(description="a better search query if this batch was poor; otherwise empty")


FILTER = Prompt(
    name="filter",
    task="Read a batch of passages and pick what helps to answer the question.",
    template="Facts so far:\n{facts}\n\nLooked for: {expected}\n\nPassages:\n{passages}\n\nQuestion: {question}",
    reply=Filtered,
)
