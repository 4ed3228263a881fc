"""Between a command and the terminal.

* read from the command line: `options` that several commands share, `index_options`
* said there: `streams`, `progress_bar`, `live_tree`
* long-running work, led and told: `building` of an index, `evaluating` a run, a `talk`
"""
