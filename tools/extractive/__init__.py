"""The embedded model, with no language model in it: an encoder, small trained networks and arithmetic.

* `model` finds the function that answers a prompt, filled with `slots`; `question_kinds` are told apart
* replies: `answering`, `asking`, `weighing`, `finalize` from `findings`, `overview`, `building`
* `closest` gives the sentences that come nearest, where there is no answer
"""
