"""Training examples for a language model, in the toolkit's own prompts.

* command: `examples` (makes them all and writes them)
* material: `hops` (questions with their steps), `shown` (passages as a search returns them)
* prompts: `answers` (answer), `decisions` (decide, decompose after a search), `splits` (decompose, next_question), `finals` (finalize),
  `follow_ups` (contextualize), `rendered` (their messages)
"""
