"""Say which sentences of an answer the passages do not support (`check=model`)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts._worked_examples import OSKEL, example, passage
from ramify.prompts.lenient_types import AtMost, ModelReply, Numbers
from ramify.prompts.prompt import Prompt


class Checked(ModelReply):
    """The sentences that are not supported."""

    unsupported: Annotated[Numbers, AtMost(16)] = Field(
        description="the numbers of the sentences that the passages do not say; an empty list if they say all of them"
    )


CHECK = Prompt(
    name="check",
    task="Say which sentences are not supported: a sentence is supported if the passages that it cites in brackets say all that it says.",
    template="Passages:\n{passages}\n\nSentences:\n{sentences}",
    reply=Checked,
    examples=(
        example(
            {"unsupported": [2]},
            passages=[passage("Hollin Bridge", "Hollin Bridge was designed by Edda Rask and opened in 1852."), OSKEL],
            sentences=["Edda Rask designed Hollin Bridge [1].", "She was born near the Oskel [2]."],
        ),
    ),
)
