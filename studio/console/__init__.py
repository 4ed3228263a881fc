"""Terminal input and output.

* command-line input: `options` that several commands share
* output: `streams`, `progress_bar`; errors `out_of_memory`
* `answering` a question: the growing tree, and a person's decisions on proposed actions
* long-running work with its output: `building` an index, also in the `background`, the `reading_check` of files,
  `evaluating` a run or a paper, the `terminal_chat`
"""

__all__: list[str] = []
