"""What a step is: a verb over the tree that declares which statuses it takes and gives.

`@each(selection, gives=…)` makes a step over single branches: an async function runs as one LangGraph task a branch (parallel, retried,
checkpointed one by one), a plain function runs at once. `@whole(takes=…, gives=…)` makes a step over the whole state. An edge asks
`step.wanted(…)` whether the step has anything to do, so the condition by which a step selects and an edge routes is one.

To read in order: `step` (what a step is), `task` (one piece of its work), `selection` (what it is given), `conditions` (what decides),
`shared_answers` (whose answer serves a branch), `findings` (what is shown of branches), `last_step` (how a question ends).
"""

from ramify.nodes.step.step import Each, Step, Update, Whole, each, whole
from ramify.nodes.step.task import UNSPLIT, Growth, despite, grow, model_call

__all__ = ["UNSPLIT", "Each", "Growth", "Step", "Update", "Whole", "despite", "each", "grow", "model_call", "whole"]
