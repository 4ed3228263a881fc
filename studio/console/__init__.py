"""Terminal input and output.

* command-line input: `options` that several commands share
* output: `progress`
* long-running work with its output: `building` an index, `evaluating` a run, a `talk` (the chat)
"""

__all__: list[str] = []
