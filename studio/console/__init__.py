"""Terminal input and output.

* command-line input: `options` that several commands share
* output: `streams`, `progress_bar`
* `answering` a question: its growing tree, and what a person decides on what is proposed
* long-running work with its output: `building` an index, `evaluating` a run or a paper, a `talk` (the chat)
"""

__all__: list[str] = []
