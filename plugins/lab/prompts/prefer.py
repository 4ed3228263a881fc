"""Compare two answers to a question by each of four criteria (GraphRAG)."""

from typing import Annotated, Any, Literal

from pydantic import Field

from ramify.prompts.lenient_types import ModelReply, Sentence, one_of_words
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example, passage

CRITERIA = ("comprehensiveness", "diversity", "empowerment", "directness")
Better = Literal["1", "2", "TIE"]
Choice = Annotated[Better, one_of_words(Better)]


class Preference(ModelReply):
    """The better of two answers by each criterion, and why."""

    reasons: Sentence = Field(default="", description="one sentence on what sets them apart")
    comprehensiveness: Choice = Field(description="which covers more of what is asked, in more detail")
    diversity: Choice = Field(description="which is richer in different views and insights")
    empowerment: Choice = Field(description="which helps a reader more to understand and judge, as with sources")
    directness: Choice = Field(description="which answers the question more specifically and clearly")


_ASKED: dict[str, Any] = {"question": "What was built in the valley, and when?"}
_FULL = "Vane Bridge opened in 1847, Hollin Bridge in 1852; it was widened in 1904."
_BRIEF = "Two bridges, in 1847 and 1852."
_NOTHING = "Unknown"
PREFER = Prompt(
    name="prefer",
    purpose="Compare two answers to a question by each of four criteria (GraphRAG)",
    task=(
        "Compare two answers to a question, criterion by criterion: name the better, or TIE where they do not differ. "
        "Which of them stands first means nothing, nor does length by itself."
    ),
    template="Question: {question}\n\nAnswers:\n{passages}",
    reply=Preference,
    examples=(
        example(
            Preference(
                reasons="The first names more; the second is brief.", comprehensiveness="1", diversity="1", empowerment="1", directness="2"
            ),
            **_ASKED,
            passages=[passage("Answer 1", _FULL), passage("Answer 2", _BRIEF)],
        ),
        example(
            Preference(reasons="The first says nothing.", comprehensiveness="2", diversity="2", empowerment="2", directness="2"),
            **_ASKED,
            passages=[passage("Answer 1", _NOTHING), passage("Answer 2", _BRIEF)],
        ),
        example(
            Preference(
                reasons="Both say the same in other words.", comprehensiveness="TIE", diversity="TIE", empowerment="TIE", directness="TIE"
            ),
            **_ASKED,
            passages=[passage("Answer 1", _BRIEF), passage("Answer 2", "In 1847 a bridge was built, and in 1852 another.")],
        ),
    ),
)
