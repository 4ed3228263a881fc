"""What a step is made of.

A step is a verb over what its edges hand it, an async function in a file of its own:

* `@branch_step`: of one branch and a `Context`; a LangGraph task a branch, side by side, retried and checkpointed one by one
* `@level_step`: of all branches handed to it, in one go (a search for all of them)
* `@state_step`: of the whole state

It gives a `StepResult` (`result`, `with_warning`), or the state's update. Where its branches go next is said by edges alone (`graphs/`).

To read in order: `step` (the three decorators, the context of a step, how a question ends), `task` (one piece of work, and whose answer
serves a branch), `findings` (what is shown of branches), `text` (the answer in sentences, and whether they are supported), `review` (what
a person is asked before it counts), `profiled` (which answers are withheld).
"""

from ramify.nodes.step.step import Context, Step, Update, branch_step, level_step, state_step
from ramify.nodes.step.task import UNSPLIT, StepResult, call_model, result, with_warning

__all__ = [
    "UNSPLIT",
    "Context",
    "Step",
    "StepResult",
    "Update",
    "branch_step",
    "call_model",
    "level_step",
    "result",
    "state_step",
    "with_warning",
]
